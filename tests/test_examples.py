"""Every example runs headless, prints its answer and leaves its figure; so does a bare demo."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import matplotlib
import pytest
from matplotlib import pyplot as plt

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

# A line that states the answer, and the figure; the numbers in the lines are checked below.
EXPECTED = {
    "fill_a_table_of_ratings.py": (
        r"^error in the gaps: means (\S+), model (\S+)$",
        "isthmus-fill-a-table-of-ratings.png",
    ),
    "one_instrument_to_another.py": (
        r"^RMSEP: nothing done (\S+), spectra mapped (\S+)$",
        "isthmus-one-instrument-to-another.png",
    ),
    "two_blocks.py": (
        r"^R2: side by side (\S+), weight per block (\S+)$",
        "isthmus-two-blocks.png",
    ),
    "which_wavelengths.py": (
        r"^(\d+) of \d+ wavelengths explain (\S+) ",
        "isthmus-which-wavelengths.png",
    ),
    "predictive_and_orthogonal.py": (
        r"^first score and fat correlate: PLS (\S+), O-PLS (\S+)$",
        "isthmus-predictive-and-orthogonal.png",
    ),
    "six_projections.py": (
        r"^R2 of new rows: SIR (\S+), COIR (\S+)$",
        "isthmus-six-projections.png",
    ),
    "faces_of_classes.py": (
        r"^right with nine components: (\S+) %$",
        "isthmus-faces-of-classes.png",
    ),
    "best_of_two_tables.py": (
        r"^R2 on new rows: ridge (\S+), the answer (\S+)$",
        "isthmus-best-of-two-tables.png",
    ),
    "when_not_to_believe.py": (
        r"^outside: like the old ones (\S+) %, unknown substance (\S+) %$",
        "isthmus-when-not-to-believe.png",
    ),
    "waves_or_landmarks.py": (
        r"^unexplained with 320 features: waves (\S+), landmarks (\S+)$",
        "isthmus-waves-or-landmarks.png",
    ),
    "what_treatments_do.py": (
        r"^explained by the composition: as measured (\S+), NormalVariate (\S+)$",
        "isthmus-what-treatments-do.png",
    ),
    "missing_values.py": (
        r"^R2 with 40 % missing: means (\S+), moments (\S+)$",
        "isthmus-missing-values.png",
    ),
    "prediction_intervals.py": (
        r"^inside the 90 % intervals: (\S+) %$",
        "isthmus-prediction-intervals.png",
    ),
    "treat_spectra.py": (
        r"^two components: none (\S+), second derivative (\S+)$",
        "isthmus-treat-spectra.png",
    ),
    "rank_and_ridge.py": (
        r"^rank alone (\S+), ridge alone (\S+), both (\S+)$",
        "isthmus-rank-and-ridge.png",
    ),
    "how_many_landmarks.py": (
        r"^error with all rows (\S+), with 320 landmarks (\S+)$",
        "isthmus-how-many-landmarks.png",
    ),
    "shapes_of_graphs.py": (
        r"^new graphs named rightly: (\d+) %$",
        "isthmus-shapes-of-graphs.png",
    ),
    "where_an_arm_is_dexterous.py": (
        r"^most dexterous at (\S+) m, at full reach (\S+) of it$",
        "isthmus-where-an-arm-is-dexterous.png",
    ),
    "small_kernel_pca.py": (
        r"^relative difference: greedy (\S+), random (\S+)$",
        "isthmus-small-kernel-pca.png",
    ),
    "quantile_bands.py": (
        r"^inside the band: (\S+) %$",
        "isthmus-quantile-bands.png",
    ),
    "growing_outliers.py": (r"^Laplacian mode +(\S+)$", "isthmus-outliers.png"),
    "posterior_arviz.py": (r"^90 % intervals hold (\d+) % of new values", "isthmus-posterior.png"),
    "between_sequences_and_graphs.py": (
        r"^loss over the nearest's: sequences (\S+), graphs (\S+)$",
        "between_sequences_and_graphs.png",
    ),
    "letter_images_to_words.py": (
        r"^dictionary +(\S+)$",
        "letter_images_to_words.png",
    ),
    "molecules_through_a_strip.py": (
        r"^  40 +(\S+) +(\S+)$",
        "molecules_through_a_strip.png",
    ),
    "spelling_to_sounds.py": (
        r"^search +\S+ +\S+ +\S+ +(\S+)$",
        "spelling_to_sounds.png",
    ),
    "kernel_pls.py": (
        r"^R2 on new points: PLS (\S+), kernel PLS (\S+)$",
        "isthmus-kernel-pls.png",
    ),
    "compressed_svm.py": (
        r"^all support vectors (\S+), a third of them (\S+)$",
        "isthmus-compressed-svm.png",
    ),
    "denoise_digits.py": (
        r"^learned against scikit-learn: (\S+) (\S+)$",
        "isthmus-denoise.png",
    ),
    "super_resolution.py": (
        r"^blocks against learned: (\S+) (\S+)$",
        "isthmus-super-resolution.png",
    ),
    "supervised_pictures.py": (
        r"^COIR, hardly a ridge +(\S+) +(\S+) ",
        "isthmus-subspace.png",
    ),
    "translate_spaces.py": (
        r"^right half found among 100: first (\d+) %, in five (\d+) %$",
        "isthmus-translate.png",
    ),
    "drifting_stream.py": (
        r"^exact, forget=0.99 +(\S+) +(\S+)$",
        "drifting_stream.png",
    ),
    "robot_letter.py": (
        r"^largest distance of the tip from its target: (\S+) m$",
        "isthmus-robot-letter.png",
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
    "fill_a_table_of_ratings.py": lambda means, model: model < 0.6 * means,
    "one_instrument_to_another.py": lambda before, after: after < 0.4 * before,
    "two_blocks.py": lambda side, apart: apart > side + 0.1 and apart > 0.9,
    "which_wavelengths.py": lambda few, share: few < 60 and share > 0.9,
    "predictive_and_orthogonal.py": lambda plain, turned: plain < 0.7 and turned > 0.98,
    "six_projections.py": lambda sir, coir: sir < 0.2 and coir > 0.8,
    "faces_of_classes.py": lambda right: right > 88,
    "best_of_two_tables.py": lambda ridge, answer: answer > ridge + 0.2,
    "when_not_to_believe.py": lambda like, unknown: like <= 25 and unknown == 100,
    "waves_or_landmarks.py": lambda waves, marks: waves < 0.2 and marks < 0.15,
    "what_treatments_do.py": lambda before, after: after > 2 * before,
    "missing_values.py": lambda means, moments: moments > means + 0.01,
    "prediction_intervals.py": lambda inside: 82 < inside < 97,
    "treat_spectra.py": lambda none, second: none < 0.5 and second > 0.8,
    "rank_and_ridge.py": lambda rank, ridge, both: both < 0.95 * rank and both < 0.95 * ridge,
    "how_many_landmarks.py": lambda full, few: few < 1.1 * full,
    "shapes_of_graphs.py": lambda share: share > 60,
    "where_an_arm_is_dexterous.py": lambda where, far: 0.3 < where < 0.8 and far < 0.4,
    "small_kernel_pca.py": lambda greedy, random: greedy < 0.05 and greedy < 0.5 * random,
    "quantile_bands.py": lambda inside: 75 < inside < 85,
    "kernel_pls.py": lambda linear, kernel: linear < 0.1 and kernel > 0.95,
    "growing_outliers.py": lambda growth: growth < 1.2,
    "posterior_arviz.py": lambda inside: 85 <= inside <= 95,
    "between_sequences_and_graphs.py": lambda sequences, graphs: sequences < 0.5 and graphs < 0.9,
    "molecules_through_a_strip.py": lambda exact, likeness: exact > 0.9 and likeness > 0.99,
    "letter_images_to_words.py": lambda share: share > 0.8,
    "spelling_to_sounds.py": lambda share: share > 0.9,
    "compressed_svm.py": lambda full, third: third < full + 0.5,
    "denoise_digits.py": lambda ours, theirs: 1.2 * ours < theirs,
    "super_resolution.py": lambda blocks, learned: 1.8 * learned < blocks,
    "supervised_pictures.py": lambda training, held_out: training > 0.9 and held_out < 0.2,
    "translate_spaces.py": lambda first, five: first > 20 and five > 50,
    "drifting_stream.py": lambda quiet, drifting: 0.03 < quiet < 0.1 < drifting < 0.2,
    "robot_letter.py": lambda miss: miss < 1e-6,
    "restore_digits.py": lambda error, components: error < 3.2 and 4 < components < 32,
    "spectra_components.py": lambda chosen, best: chosen == 5 and best >= 5,
    "streaming_moments.py": lambda difference: difference < 1e-10,
}


def test_every_example_is_expected_to_say_something():
    assert {path.name for path in EXAMPLES} == set(EXPECTED) == set(ANSWERS)


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run an example as a script would be, in a directory of its own and without a display.

    All run in this process: to import everything takes longer than most examples.
    """

    def call(example):
        path = ROOT / "examples" / example
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [str(path)])
        runpy.run_path(str(path), run_name="__main__")
        return capsys.readouterr().out

    plt.switch_backend("Agg")
    with matplotlib.rc_context():
        yield call
    plt.close("all")


@pytest.mark.parametrize("example", EXPECTED)
def test_example_runs_and_answers(example, run, tmp_path):
    pattern, figure = EXPECTED[example]
    output = run(example)
    found = re.search(pattern, output, flags=re.MULTILINE)
    assert found, output
    assert ANSWERS[example](*map(float, found.groups())), found.group()
    assert output.rstrip().splitlines()[-1].startswith(f"Open {figure} ")
    assert (tmp_path / figure).read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / figure).stat().st_size > 10_000


def test_demo_does_without_matplotlib(tmp_path):
    """In a process of its own, in which matplotlib cannot be imported."""
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "matplotlib.py").write_text("raise ImportError('hidden by the test')\n")
    paths = os.pathsep.join([str(hidden), str(ROOT)])
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "restore_digits.py")],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert re.search(EXPECTED["restore_digits.py"][0], done.stdout, flags=re.MULTILINE)
    assert "matplotlib is not installed" in done.stdout
    assert not (tmp_path / "isthmus-demo.png").exists()
