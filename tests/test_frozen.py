"""What was answered before the redesign is answered now, to ten digits.

``tests/data/make_frozen.py`` wrote the file. Forests and ties turn with the last digit, so that it is
compared only where versions, the kernels of BLAS and the platform are those of the file. It goes with the
release.
"""

import importlib.util
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

HERE = Path(__file__).parent / "data"


def _script():
    spec = importlib.util.spec_from_file_location("make_frozen", HERE / "make_frozen.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


make = _script()
# Names in the file: those of today.
RENAMED: dict[str, str] = {}


@cache
def frozen():
    with np.load(HERE / "frozen.npz") as kept:
        return {key: kept[key] for key in kept.files}


def today(key):
    """The key of an old answer under the names of today."""
    return "/".join(RENAMED.get(part, part) for part in key.split("/"))


@pytest.fixture
def same_machine():
    there, here = frozen()["environment"].tolist(), make.environment()
    if there != here:
        pytest.skip(f"the last digits are those of {', '.join(there)}; here {', '.join(here)}")


@pytest.mark.parametrize("part", make.parts())
def test_answers_are_those_of_before(part, same_machine):
    prefix = f"{part}: "
    before = {today(k[len(prefix) :]): v for k, v in frozen().items() if k.startswith(prefix)}
    now = make.answers(part)
    assert before and now.keys() == before.keys()
    for key, value in before.items():
        if value.dtype.kind == "f":
            # Errors of nothing but rounding have no digits: the unit is the largest value.
            scale = np.nanmax(np.abs(value), initial=0.0)
            assert_allclose(now[key], value, rtol=1e-10, atol=1e-10 * scale, err_msg=key)
        else:
            assert_array_equal(now[key], value, err_msg=key)
