"""Change good model files at random, load them, and ask what loads: ``python fuzz.py --seconds 60``.

Allowed is a ``ModelFileError`` or a model that answers or raises an ordinary exception. A crash, a
hang, memory without bound and anything that a file makes the process do besides (import, open, run)
end the run; the seed and the file are told, and ``--seed`` repeats them.
"""

import argparse
import codecs
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
import zipfile
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
        {"slice": [0, 10**9, None]}, {"set": [1]},
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
    told, data, old = dice.choice(good)
    kind = dice.randrange(10)
    if kind == 0:  # format 1: bytes of the archive
        payload = bytearray(old)
        for _ in range(dice.choice([1, 3, 30])):
            payload[dice.randrange(len(payload))] = dice.randrange(256)
        return pack({"summary": {}}, bytes(payload), version=1)
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


def tried(path, watch):
    """Load a file and ask the model; return what became of it."""
    watch.path, watch.seen, watch.is_on = str(path), [], True
    try:
        model = load(path)
    except ModelFileError:
        return "refused"
    finally:
        watch.is_on = False
        if watch.seen:
            raise SystemExit(f"a file made the process do {watch.seen[0]}")
    try:
        for ask in ("predict", "transform", "decision_function"):
            if hasattr(model, ask):
                getattr(model, ask)(X)
        repr(model)
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
    codecs.lookup("cp437")  # of the names in archives
    import skops.io

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.isthmus"
        watch, good = Watch(), []
        for model in models():
            save(model, path)
            line, data = first_line(unpack(path).payload, path)
            old = skops.io.dumps(model, compression=zipfile.ZIP_STORED)
            good.append((json.loads(line), bytes(data), old))
            assert tried(path, watch) == "answered"
            path.write_bytes(pack({"summary": {}}, old, version=1))
            assert tried(path, watch) == "answered"
        signal.signal(signal.SIGALRM, ended)
        base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        resource.setrlimit(resource.RLIMIT_AS, (base + 2 * MOST_MEMORY,) * 2)
        first = random.SystemRandom().randrange(2**40) if options.seed is None else options.seed
        counts, until, k = {}, time.monotonic() + options.seconds, 0
        while time.monotonic() < until:
            seed = first + k
            print(f"\rseed {seed}", end="", file=sys.stderr, flush=True)
            path.write_bytes(crafted(random.Random(seed), good))
            signal.alarm(SLOWEST)
            begun = time.monotonic()
            became = tried(path, watch)
            signal.alarm(0)
            if became == "refused" and time.monotonic() - begun > SLOWEST / 2:
                raise SystemExit(f"seed {seed}: {path} took too long to be refused")
            counts[became] = counts.get(became, 0) + 1
            k += 1
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - base
        if peak > MOST_MEMORY:
            raise SystemExit(f"from seed {first} on: {peak} bytes of memory")
    print(json.dumps({"first": first, "files": k, "peak": peak, **counts}))


if __name__ == "__main__":
    main()
