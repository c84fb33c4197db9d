"""Every example runs headless, prints its answer and leaves its figure; so does a bare demo."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

# A line that states the answer, and the figure; the numbers in the lines are checked below.
EXPECTED = {
    "drifting_stream.py": (
        r"^exact, forget=0.99 +(\S+) +(\S+)$",
        "drifting_stream.png",
    ),
    "restore_digits.py": (r"^reduced rank +(\d\.\d+) +(\d+) ", "isthmus-demo.png"),
    "spectra_components.py": (
        r"^one standard error rule: (\d+) components, best score: (\d+)$",
        "isthmus-spectra.png",
    ),
    "streaming_moments.py": (
        r"^largest difference from the fit to all rows at once: (\S+)$",
        "isthmus-streaming.png",
    ),
}
# What the numbers must be: the answer, not the digits of this machine.
ANSWERS = {
    "drifting_stream.py": lambda quiet, drifting: 0.03 < quiet < 0.1 < drifting < 0.2,
    "restore_digits.py": lambda error, components: error < 3.2 and 4 < components < 32,
    "spectra_components.py": lambda chosen, best: chosen == 5 and best >= 5,
    "streaming_moments.py": lambda difference: difference < 1e-10,
}


def run(example, cwd, *extra_path):
    """Run an example in a directory of its own, on one thread and without a display."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([*map(str, extra_path), str(ROOT)]),
        "MPLBACKEND": "Agg",
        "MPLCONFIGDIR": str(cwd / "matplotlib"),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }
    return subprocess.run(
        [sys.executable, str(ROOT / "examples" / example)],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_every_example_is_expected_to_say_something():
    assert {path.name for path in EXAMPLES} == set(EXPECTED) == set(ANSWERS)


@pytest.mark.parametrize("example", EXPECTED)
def test_example_runs_and_answers(example, tmp_path):
    pattern, figure = EXPECTED[example]
    done = run(example, tmp_path)
    assert done.returncode == 0, done.stderr
    found = re.search(pattern, done.stdout, flags=re.MULTILINE)
    assert found, done.stdout
    assert ANSWERS[example](*map(float, found.groups())), found.group()
    assert done.stdout.rstrip().splitlines()[-1].startswith(f"Open {figure} ")
    assert (tmp_path / figure).read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / figure).stat().st_size > 10_000


def test_demo_does_without_matplotlib(tmp_path):
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "matplotlib.py").write_text("raise ImportError('hidden by the test')\n")
    done = run("restore_digits.py", tmp_path, hidden)
    assert done.returncode == 0, done.stderr
    assert re.search(EXPECTED["restore_digits.py"][0], done.stdout, flags=re.MULTILINE)
    assert "matplotlib is not installed" in done.stdout
    assert not (tmp_path / "isthmus-demo.png").exists()
