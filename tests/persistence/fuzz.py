"""Change good model files at random, load them, and ask what loads: ``python fuzz.py --seconds 60``.

Allowed is a ``ModelFileError`` or a model that answers or raises an ordinary exception. A crash, an answer
that is not finite, a file that takes more than ten times its length and 64 MB or five seconds of the
processor to load, and anything that it makes the process do besides (import, open, run) end the run; the
seed and the file are told, and ``--seed`` repeats them. Scikit-learn's own models are asked as
``isthmus predict`` asks them, through ``PlainModel``.
"""

import argparse
import copy
import faulthandler
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA, KernelPCA
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, OneClassSVM

from isthmus import (
    PLS,
    ComponentSearchCV,
    DependencyRegressor,
    KernelMap,
    MethodSearchCV,
    StiefelRegression,
    compress,
    load,
    save,
)
from isthmus.cli.models import PlainModel
from isthmus.kernels import SequenceKernel
from isthmus.persistence import ModelFileError
from isthmus.persistence.classes import CLASSES, FUNCTIONS, find_listed
from isthmus.persistence.container import first_line, pack, unpack
from isthmus.preimages import SequenceSearch

FORBIDDEN = (
    "import",
    "open",
    "exec",
    "compile",
    "os.",
    "subprocess.",
    "socket.",
    "ctypes.",
    "shutil.",
)
SLOWEST, MOST_MEMORY = 20, 3 * 2**30
# Of a file when it is loaded: seconds of the processor, and bytes beside ten times its length.
LOADED_WITHIN, FREE, TIMES = 5.0, 2**26, 10
PEAK = Path("/proc/self/clear_refs")  # where Linux forgets the largest memory so far
rng = np.random.default_rng(0)
X = rng.normal(size=(20, 4))
Y = X[:, :2] + 0.1 * rng.normal(size=(20, 2))
WORDS = ["".join(rng.choice(list("ab"), 3 + i % 3)) for i in range(20)]


def models():
    scored = {"cv": KFold(3), "scoring": "neg_mean_squared_error"}
    words = KernelMap(kernel=SequenceKernel(0.2), preimage=SequenceSearch(random_state=0))
    return [
        PLS(2).fit(X, Y),
        StiefelRegression(2, loss="huber").fit(X, Y),
        MethodSearchCV(["pls", "kernel"], cv=2).fit(X, Y),
        ComponentSearchCV(PLS(), **scored).fit(X, Y),
        DependencyRegressor(KernelMap(gamma=0.1), Ridge(1e-2), words).fit(X, WORDS),
        compress(DependencyRegressor(map=Ridge(0.1)).fit(X, Y), 5),
        make_pipeline(StandardScaler(), PCA(2), Ridge()).fit(X, Y),
        SVR().fit(X, Y[:, 0]),
        SVC().fit(X, np.digitize(X[:, 0], [-0.5, 0.5])),
        OneClassSVM().fit(X),
        KernelRidge(kernel="rbf").fit(X, Y),
        KernelPCA(2, kernel="rbf").fit(X),
        GaussianProcessRegressor(RBF(2.0), optimizer=None).fit(X, Y),
    ]


# -- numbers, lengths and shared arrays ---------------------------------------------------------------


def arrays_of(told, data):
    """The arrays of a description, as views of their bytes."""
    found, at = [], 0
    for dtype, shape, order in told["arrays"]:
        size = int(np.prod(shape, dtype=int)) * np.dtype(dtype).itemsize
        found.append(np.frombuffer(data[at : at + size], dtype).reshape(shape, order=order))
        at += size
    return found


def respelt(told, arrays):
    """A description and bytes of these arrays."""
    told["arrays"] = [[a.dtype.str, list(a.shape), "C"] for a in arrays]
    return told, b"".join(a.tobytes() for a in arrays)


def other_numbers(dice, array):
    """An array with some other numbers."""
    if not array.size or array.dtype.kind not in "biuf":
        return array
    array = array.copy()
    cell = dice.randrange(array.size)
    factor = dice.choice([0, -1, 2, 1e9, 1e155, 1e300, np.nan, np.inf])
    with np.errstate(all="ignore"):
        if dice.random() < 0.5:
            array.flat[cell] = np.asarray(factor).astype(array.dtype)
        else:
            array[...] = (array * float(factor)).astype(array.dtype)
    return array


def other_length(dice, array):
    """An array with other sides and bytes to match."""
    if array.nbytes > 2**20:
        return array
    if not array.ndim:
        return np.repeat(array, dice.choice([1, 2, 3]))
    axis = dice.randrange(array.ndim)
    n = array.shape[axis]
    kept = dice.choice([[0], range(n - 1), range(n + 1), [], np.arange(5 * n), range(n)[::-1]])
    changed_array = array.take(kept, axis, mode="wrap") if n else array
    return dice.choice([changed_array, changed_array, array[None], array.ravel()[:1].reshape(())
                        if array.size else array])  # fmt: skip


def with_other_arrays(dice, told, data):
    """Numbers and lengths changed in some arrays; references that point to others."""
    arrays, told = arrays_of(told, data), copy.deepcopy(told)
    for _ in range(dice.choice([1, 1, 2, 5])):
        kind = dice.randrange(3)
        if arrays and kind < 2:
            k = dice.randrange(len(arrays))
            arrays[k] = (other_numbers, other_length)[kind](dice, arrays[k])
            continue
        spots = [
            (node, key) for node, key in places(told["root"]) if key in ("array", "same", "scalar")
        ]
        if spots:
            node, key = dice.choice(spots)
            node[key] = dice.randrange(max(1, len(arrays)))
    return respelt(told, arrays)


# -- one change -----------------------------------------------------------------------------------


def places(root):
    """Every (container, key) of a tree."""
    found_places, stack = [], [root]
    while stack:
        node = stack.pop()
        for key, item in node.items() if isinstance(node, dict) else enumerate(node):
            found_places.append((node, key))
            if isinstance(item, dict | list):
                stack.append(item)
    return found_places


def odd_value(dice, told):
    anything = [
        None, True, -1, 0, 1, 2**31, 2**63, -(2**63), 10**40, 1e308, -0.0, "", "rbf", "\ud800", "<script>",
        "__class__", [], {}, [[]], {"float": "nan"}, {"float": "x"}, {"tuple": []}, {"dict": [[[], 1]]},
        {"array": dice.randrange(99)}, {"scalar": dice.randrange(99)}, {"same": dice.randrange(20)},
        {"bytes": 0}, {"objects": [1], "shape": [1]}, {"objects": [1], "shape": [2**39]},
        {"masked": [{"array": 0}, {"array": 1}, 1]}, {"dtype": "|O"}, {"type": "numpy.float64"},
        {"sparse": "csr_matrix", "parts": [{"array": dice.randrange(30)} for _ in range(3)],
         "shape": [dice.choice([0, 3, 2**40 - 1]), 4]},
        {"random_state": [{"array": 0}, 10**6, 0, 0.0]}, {"generator": ["PCG64", 1, 1, 0, 0]},
        {"function": dice.choice(sorted(FUNCTIONS))}, {"function": "os.system"},
        {"object": dice.choice(sorted(CLASSES)), "state": {}}, {"object": "os.system", "state": {}},
        {"object": dice.choice(sorted(CLASSES)), "state": copy.deepcopy(told["root"].get("state", {}))},
        {"slice": [0, 10**9, None]}, {"range": [0, 10**9, 1]}, {"set": [1]},
        {"dict": [[k * (2**61 - 1), 0] for k in range(dice.choice([3, 30_000]))]},
        {"set": [k << dice.choice([0, 20, 61]) for k in range(dice.choice([3, 30_000]))]},
        [{dice.choice(["array", "scalar", "same"]): dice.randrange(20)}] * dice.choice([3, 3000]),
        [{"random_state": [{"array": dice.randrange(30)}, 0, 0, 0.0]}] * dice.choice([3, 3000]),
        [{"masked": [{"array": dice.randrange(30)}, {"array": dice.randrange(30)}, 1]}] * 1000,
        [{"sparse": "csc_matrix", "parts": [{"array": dice.randrange(30)} for _ in range(3)],
          "shape": [dice.choice([3, 4]), 4]}] * dice.choice([1, 1000]),
    ]  # fmt: skip
    return dice.choice(anything)


def changed(dice, told, data):
    """A tree and its arrays after a few changes."""
    told, data = copy.deepcopy(told), bytearray(data)
    for _ in range(dice.choice([1, 1, 2, 5])):
        kind = dice.randrange(7)
        spots = places(told["root"])
        if not spots:
            break
        container, key = dice.choice(spots)
        if kind == 0:
            container[key] = odd_value(dice, told)
        elif kind == 1 and isinstance(container, dict):
            del container[key]
        elif kind == 2:
            other, at = dice.choice(spots)
            container[key] = copy.deepcopy(other[at])
        elif kind == 3 and told["arrays"]:
            entry = dice.choice(told["arrays"])
            side = dice.randrange(3)
            entry[side] = dice.choice(
                [
                    ["<f8", "<i4", "|b1", "<U7", "|O", "<f4"],
                    [[3], [2**40], [-1], [0, 5], []],
                    "CFX",
                ][side]
            )
        elif kind == 4 and told["arrays"]:  # another shape of as many items
            entry = dice.choice(told["arrays"])
            if isinstance(entry[1], list) and all(isinstance(n, int) and n >= 0 for n in entry[1]):
                entry[1] = dice.choice(
                    [entry[1][::-1], [int(np.prod(entry[1], dtype=float))], [1, *entry[1]]]
                )
        elif kind == 5 and data:
            at = dice.randrange(len(data))
            for k in range(at, min(at + dice.choice([1, 8, 64]), len(data))):
                data[k] = dice.choice([0, 255, dice.randrange(256)])
        else:
            for _ in range(dice.choice([1, 50, 2000])):
                inner = container[key]
                container[key] = [inner] if dice.random() < 0.5 else {"tuple": [inner]}
            break
    return told, bytes(data)


def crafted(dice, good):
    """A file with a right checksum and a wrong content."""
    told, data = dice.choice(good)
    kind = dice.randrange(1, 14)
    if kind >= 10:
        told, data = with_other_arrays(dice, told, data)
        if dice.random() < 0.5:
            return pack({"summary": {}}, json.dumps(told).encode() + b"\n" + data)
    told, data = changed(dice, told, data)
    try:
        line = json.dumps(told).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        line = b"[" * 10**5
    if kind == 1:
        line = bytearray(line)
        line[dice.randrange(len(line))] = dice.randrange(256)
    return pack({"summary": {}}, bytes(line) + b"\n" + data)


# -- what it does ---------------------------------------------------------------------------------


def _is_signature(event, arguments):
    """The standard library parses the signature of a built-in constructor; nothing of it is run."""
    return event == "compile" and arguments[0] == b"def foo(self, *args, **kwargs): pass"


class Watch:
    """While it is on, whatever a file makes the process do is an end of the run."""

    def __init__(self):
        self.path, self.is_on, self.seen = "", False, []
        sys.addaudithook(self.hook)

    def hook(self, event, arguments):
        if self.is_on and event.startswith(FORBIDDEN) and not _is_signature(event, arguments):
            if event == "open" and str(arguments[0]) == self.path:
                return
            self.seen.append((event, str(arguments)[:200]))


def memory():
    """Bytes of the process now, and at most since the peak was forgotten."""
    told = dict(
        line.split(":", 1)
        for line in Path("/proc/self/status").read_text().splitlines()
        if ":" in line
    )
    return [1024 * int(told[key].split()[0]) for key in ("VmRSS", "VmHWM")]


def is_finite(answer):
    """Whether an answer has no NaN and no infinite value in it."""
    if isinstance(answer, list | tuple) or getattr(answer, "dtype", np.dtype(float)).kind == "O":
        return all(map(is_finite, answer))
    return (
        not isinstance(answer, np.ndarray) or answer.dtype.kind != "f" or np.isfinite(answer).all()
    )


def asked(model):
    """The answers of a model: one of isthmus by itself, one of others through the command."""
    if type(model).__module__.startswith("isthmus"):
        for ask in ("predict", "transform", "decision_function"):
            if hasattr(model, ask):
                yield getattr(model, ask)(X)
    elif hasattr(model, "predict"):
        yield PlainModel(model, "m").predict_rows(X)
    elif hasattr(model, "transform"):
        model.transform(X)  # what scikit-learn makes of its numbers is its own
    repr(model)


def tried(path, watch, worst):
    """Load a file and ask the model; return what became of it."""
    can_forget = PEAK.exists()
    if can_forget:
        PEAK.write_text("5")
        before = memory()[0]
    begun = time.process_time()
    watch.path, watch.seen, watch.is_on = str(path), [], True
    try:
        model = load(path)
    except ModelFileError:
        model = None
    finally:
        watch.is_on = False
        if watch.seen:
            raise SystemExit(f"a file made the process do {watch.seen[0]}")
    seconds = time.process_time() - begun
    extra = memory()[1] - before - TIMES * os.path.getsize(path) if can_forget else 0
    worst["seconds"], worst["extra"] = max(worst["seconds"], seconds), max(worst["extra"], extra)
    if seconds > LOADED_WITHIN or extra > FREE:
        raise SystemExit(f"{path}: {seconds:.1f} s, {extra} bytes beside {TIMES} times its length")
    if model is None:
        return "refused"
    try:
        for answer in asked(model):
            if not is_finite(answer):
                raise SystemExit(f"{path}: {type(model).__name__} has an answer that is not finite")
    except TimeoutError:  # a search that was told to take longer: it can be interrupted
        return "slow"
    except Exception:
        return "raised"
    return "answered"


def ended(*_):
    raise TimeoutError


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    faulthandler.enable()
    warnings.simplefilter("ignore")
    os.environ["OMP_NUM_THREADS"] = "1"
    for name in CLASSES | FUNCTIONS:  # whatever is imported later is not ours
        find_listed(name)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.isthmus"
        watch, good, worst = Watch(), [], {"seconds": 0.0, "extra": 0}
        for model in models():
            save(model, path)
            line, data = first_line(unpack(path).payload, path)
            good.append((json.loads(line), bytes(data)))
            assert tried(path, watch, worst) == "answered"
        signal.signal(signal.SIGPROF, ended)  # of the processor, however busy the machine is
        worst.update(seconds=0.0, extra=0)
        base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        resource.setrlimit(resource.RLIMIT_AS, (base + 2 * MOST_MEMORY,) * 2)
        first = random.SystemRandom().randrange(2**40) if options.seed is None else options.seed
        counts, until, k = {}, time.process_time() + options.seconds, 0  # on a busy machine too
        forged_too_large = False  # then the peak is that of forging
        while time.process_time() < until:
            seed = first + k
            print(f"\rseed {seed}", end="", file=sys.stderr, flush=True)
            try:
                path.write_bytes(crafted(random.Random(seed), good))
            except MemoryError:  # no fault of a reader: what was to be forged is too large
                k, forged_too_large = k + 1, True
                continue
            signal.setitimer(signal.ITIMER_PROF, SLOWEST)
            try:
                became = tried(path, watch, worst)
            except SystemExit as fault:
                raise SystemExit(f"seed {seed}, after {k} files: {fault}") from None
            signal.setitimer(signal.ITIMER_PROF, 0)
            counts[became] = counts.get(became, 0) + 1
            k += 1
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - base
        if peak > MOST_MEMORY and not forged_too_large:
            raise SystemExit(f"from seed {first} on: {peak} bytes of memory")
    print(json.dumps({"first": first, "files": k, "peak": peak, **worst, **counts}))


if __name__ == "__main__":
    main()
