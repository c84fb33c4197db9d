"""How many digits do the fits have, and how many outputs do the intervals hold?

digits      backward errors in units of eps, by model, road and condition of X, against long double
simulation  coverage of four intervals with 8 inputs and 15, 25 and 60 rows at level 0.95
sets        their coverage on public sets, by random parts

    ISTHMUS_DATA=... python benchmarks/accuracy.py --write docs/accuracy.md
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from _common import cited, machine, markdown, versions, write
from _extended import Problem, falling_spectrum, pcr, pls, reduced_rank
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from isthmus import (
    PCR,
    PLS,
    BayesianStiefelRegression,
    ManifoldPLS,
    MethodSearchCV,
    ReducedRankRegression,
    StiefelRegression,
)
from isthmus.datasets.registry import SETS
from isthmus.inspection import prediction_interval
from isthmus.problems import GramForm, MomentForm, RowForm

MULAN, NIR = SETS["mulan"], SETS["nir"]
CONDITIONS = [1e0, 1e2, 1e4, 1e6, 1e8, 1e10, 1e12, 1e14]
SHAPES = {"tall": (30, 8, 2), "wide": (10, 24, 2)}
K = 6
MODELS = {
    "PCR": (PCR(K), pcr(K)),
    "PLS, NIPALS": (PLS(K, algorithm="nipals", scale=False), pls(K)),
    "PLS, SIMPLS": (PLS(K, algorithm="simpls", scale=False), pls(K, simpls=True)),
    "PLS, kernel": (PLS(K, algorithm="kernel", scale=False), pls(K)),
    "PLS, all components": (PLS(None, scale=False), pcr(24)),
    "reduced rank": (ReducedRankRegression(1, alpha=0.0), reduced_rank(1)),
    "ridge, 1e-6 &#124;&#124;X&#124;&#124;^2": (ReducedRankRegression(), reduced_rank(9, 1e-6)),
    "Stiefel": (StiefelRegression(1, alpha=0.0), reduced_rank(1)),
    "manifold PLS": (ManifoldPLS(1, alpha=0.0), reduced_rank(1)),
}
LEVEL, N_LATENT, N_INPUTS, N_NEW = 0.95, 5, 8, 100
ENOUGH_ROWS = LEVEL / (1 - LEVEL)
# Rows of a simulation and its draws, more where coverage differs more from draw to draw.
DRAWS = {15: 300, 25: 160, 60: 80}
MOST_ROWS, MOST_HELD_OUT = 60, 500
LOW = 0.9  # coverage on a set that is named below its table
# Numbers of components, stated before looking.
LOOKED_AT = {"tecator": 8, "gasoline": 4, "corn": 8, "edm": 4, "jura": 5, "enb": 5}
KEPT_ASIDE = {"dough": 8, "yarn": 4, "oes97": 5, "scm20d": 5}


# -- digits -----------------------------------------------------------------------------------


def blocks(model: Any, X: NDArray, Y: NDArray) -> None:
    for rows in np.array_split(np.arange(len(X)), 4):
        model.partial_fit(X[rows], Y[rows])


def from_form(form: type) -> Callable[[Any, NDArray, NDArray], None]:
    def fit(model: Any, X: NDArray, Y: NDArray) -> None:
        model._cheapest_form = lambda *_: form
        model.fit(X, Y)

    return fit


def roads(shape: str) -> dict[str, Callable]:
    return {
        "rows": from_form(RowForm),
        "Gram matrix": from_form(MomentForm if shape == "tall" else GramForm),
        "partial_fit": blocks,
        "sparse": lambda model, X, Y: model.fit(sparse.csr_array(X), Y),
    }


def digits() -> list[str]:
    """A table for each shape."""
    parts = []
    for shape, sizes in SHAPES.items():
        lines = []
        problems = [Problem(*falling_spectrum(*sizes, condition)) for condition in CONDITIONS]
        for name, (estimator, exact) in MODELS.items():
            references = [problem.reference(exact, False) for problem in problems]
            for road, fit in roads(shape).items():
                if "SIMPLS" in name and road == "Gram matrix" and shape == "wide":
                    continue  # kernel PLS is NIPALS
                cells = []
                for problem, reference in zip(problems, references):
                    cells.append(cell(clone(estimator), fit, problem, reference))
                lines.append([name, road, *cells])
        head = ["model", "road", *(f"{condition:.0e}" for condition in CONDITIONS)]
        parts.append(
            f"### {shape}: {sizes[0]} rows, {sizes[1]} inputs\n\n{markdown(head, lines)}\n"
        )
    return parts


def cell(model: Any, fit: Callable, problem: Problem, reference: Any) -> str:
    if getattr(model, "alpha", None) == "auto":
        centred = problem.X - problem.X.mean(axis=0)
        model.set_params(alpha=1e-6 * np.linalg.norm(centred, 2) ** 2)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fit(model, problem.X, problem.Y)
    error = reference.error(model.predict(problem.X), np.atleast_2d(model.coef_).T)
    warned = any("digits" in str(warning.message) for warning in said)
    return f"{error:.1g}" + (" (warns)" if warned else "")


# -- coverage ---------------------------------------------------------------------------------


def latent_rows(rng: np.random.Generator, n: int) -> tuple[NDArray, NDArray, float]:
    """Five latent variables behind eight inputs and one output, and the deviation of its noise."""
    loadings = rng.normal(size=(N_LATENT, N_INPUTS))
    T = rng.normal(size=(n, N_LATENT)) * [3, 2, 1.5, 1, 0.7]
    X = T @ loadings + 0.1 * rng.normal(size=(n, N_INPUTS))
    mean = T @ rng.normal(size=N_LATENT)
    noise = 0.3 * float(mean.std())
    return X, mean + noise * rng.normal(size=n), noise


def regression_rows(rng: np.random.Generator, n: int) -> tuple[NDArray, NDArray, float]:
    """Eight independent inputs, all of which count."""
    X = rng.normal(size=(n, N_INPUTS))
    mean = X @ rng.normal(size=N_INPUTS)
    noise = 0.5 * float(mean.std())
    return X, mean + noise * rng.normal(size=n), noise


Bounds = tuple[NDArray, NDArray]


def of_linear_map(method: str) -> Callable[..., Bounds]:
    def bounds(X: NDArray, y: NDArray, new: NDArray, k: int, seed: int) -> Bounds:
        found = prediction_interval(PLS(k).fit(X, y), X, y, new, level=LEVEL, method=method)
        return found.lower, found.upper

    return bounds


def conformal(X: NDArray, y: NDArray, new: NDArray, k: int, seed: int) -> Bounds:
    search = MethodSearchCV("pls", n_components=k, scale=True, cv=10).fit(X, y)
    return search.predict_interval(new, level=LEVEL)


def posterior(X: NDArray, y: NDArray, new: NDArray, k: int, seed: int) -> Bounds:
    """One output has a map of rank one, whatever the number of components; each fit has its own chain."""
    model = BayesianStiefelRegression(1, units="columns", random_state=seed, **CHAIN)
    bounds = model.fit(X, y).predict(new, interval=LEVEL)[1]
    return bounds[:, 0], bounds[:, 1]


CHAIN = {"n_chains": 1, "n_warmup": 200, "n_draws": 500}
METHODS = {
    "gaussian": of_linear_map("gaussian"),
    "jackknife+": of_linear_map("jackknife+"),
    "conformal": conformal,
    "posterior": posterior,
}


def judge(
    method: str, X: NDArray, y: NDArray, new: NDArray, y_new: NDArray, k: int, seed: int
) -> tuple[float, float] | None:
    """Share of new outputs inside and median width, or None where the fit leaves no degree of freedom."""
    if method in ("jackknife+", "conformal") and len(X) < ENOUGH_ROWS:
        return 1.0, np.inf  # a quantile that few errors do not have; refits would not change it
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer components in a refit, short chains
        try:
            lower, upper = METHODS[method](X, y, new, k, seed)
        except ValueError as error:
            if "degrees of freedom" not in str(error):
                raise
            return None
    return float(((lower <= y_new) & (y_new <= upper)).mean()), float(np.median(upper - lower))


def simulation(share: float, jobs: int) -> list[str]:
    def drawn(draw: Callable, n: int, seed: int, method: str) -> tuple[float, float] | None:
        X, y, noise = draw(np.random.default_rng((seed, n)), n + N_NEW)
        found = judge(method, X[:n], y[:n], X[n:], y[n:], N_LATENT, seed)
        oracle = 2 * 1.96 * noise
        return None if found is None else (found[0], found[1] / oracle)

    lines = []
    for label, draw in (("latent variables", latent_rows), ("independent inputs", regression_rows)):
        for n, most in DRAWS.items():
            n_draws = max(2, round(share * most))
            for method in METHODS:
                found = Parallel(jobs)(
                    delayed(drawn)(draw, n, seed, method) for seed in range(n_draws)
                )
                held, widths = np.array([one for one in found if one is not None]).T
                error = held.std(ddof=1) / np.sqrt(len(held))
                cells = [f"{held.mean():.3f} ± {error:.3f}", f"{np.median(widths):.2f}"]
                lines.append([label, str(n), method, *cells, f"{n_draws - len(held)} of {n_draws}"])
    head = ["rows from", "n", "interval", "coverage", "median width / oracle", "refused"]
    return [markdown(head, lines) + "\n"]


def public_set(name: str) -> tuple[NDArray, NDArray]:
    """Inputs and one output."""
    home = Path(os.environ["ISTHMUS_DATA"])
    if name in MULAN:
        data = np.load(home / MULAN[name].file)
        return data[f"{name}_X"].astype(float), data[f"{name}_Y"].astype(float)[:, 0]
    data = np.load(home / NIR[name].file)
    X = data["corn_X_m5" if name == "corn" else f"{name}_X"].astype(float)
    only = {"gasoline": "gasoline_y", "yarn": "yarn_y_density"}
    y = data[only[name]] if name in only else data[f"{name}_Y"][:, 1]
    return X, y.astype(float)


def judge_part(
    method: str, data: tuple[NDArray, NDArray], n: int, k: int, seed: int
) -> tuple[float, float] | None:
    X, y = data
    order = np.random.default_rng(seed).permutation(len(X))
    train, test = order[:n], order[n : n + MOST_HELD_OUT]
    return judge(method, X[train], y[train], X[test], y[test], k, seed)


def sets(names: dict[str, int], n_parts: int, jobs: int) -> list[str]:
    lines, low = [], []
    for name, k in names.items():
        data = public_set(name)
        n = min(len(data[0]) // 2, MOST_ROWS)
        for method in METHODS:
            found = Parallel(jobs)(
                delayed(judge_part)(method, data, n, k, seed) for seed in range(n_parts)
            )
            kept = [one for one in found if one is not None]
            cells = ["-", "-", "-"]
            if kept:
                held, widths = np.array(kept).T
                spread = f"{held.min():.2f} to {held.max():.2f}"
                cells = [f"{held.mean():.3f}", spread, f"{np.median(widths) / data[1].std():.2f}"]
                if held.mean() < LOW:
                    low.append(f"{method} on {name}")
            lines.append([name, str(n), str(k), method, *cells, f"{n_parts - len(kept)}"])
    head = ["set", "n", "components", "interval", "coverage", "least, most of a part"]
    head += ["median width / deviation of y", "refused"]
    return [markdown(head, lines) + "\n", f"Below {LOW}: {', '.join(low) or 'none'}.\n"]


def sources(names: Iterable[str]) -> str:
    lines = [cited(NIR[name]) for name in names if name in NIR]
    mulan = [name for name in names if name in MULAN]
    return "\n".join([*lines, f"- {', '.join(mulan)}: {MULAN[mulan[0]].cite}"]) + "\n"


# -- the page ---------------------------------------------------------------------------------

DIGITS = """Backward errors in units of eps, 2.2e-16: a fit is as far from the exact answer as that many
units in the last place of the data would move it. Below one the fit is as good as its data. "rows" and
"Gram matrix" are what a fit chooses between by shape; where a Gram matrix lacks digits the fit goes on
with the rows. The tests hold rows to 100 and everything else to 1000, or to a warning that says how
many digits are left; the ridge of 1e-6 ||X||^2 with fewer rows than inputs, from the Gram matrix or from
moments that rows were taken away from, to 3e4.
"""
COVERAGE = f"""Share of new outputs inside 95 % intervals for new outputs:

- gaussian: `prediction_interval` of PLS, its default;
- jackknife+: the same with `method="jackknife+"`;
- conformal: `MethodSearchCV("pls").predict_interval`, a quantile of errors of rows left out of ten folds;
- posterior: `BayesianStiefelRegression(1).predict(X, interval=0.95)`, columns in units of their deviations;
  here one chain of {CHAIN["n_warmup"]} steps of warm-up and {CHAIN["n_draws"]} draws, where the default is
  four of 500 and 1000.

"refused" counts fits that leave less than one degree of freedom. Jackknife+ and conformal intervals are
unbounded below 19 rows, which holds everything and says nothing.
"""
SIMULATION = f"""PLS with {N_LATENT} components and {N_INPUTS} inputs, {N_NEW} new rows a draw. The width is
divided by that of an oracle that knows the map and the noise. After ± is the standard error of the
coverage, from the differences between draws.
"""
PUBLIC = """Random parts for fitting, at most {most} rows, {n_parts} of them; at most {held_out} other rows
are held out. Parts of one set share rows, so that the least and the most of a part stand beside the mean
in place of a standard error. The gaussian interval and the posterior trust their model: where a map of
few components leaves something out, or errors differ from row to row, they hold less than they say.
Jackknife+ asks only that rows are exchangeable; conformal intervals also that the fit to all rows errs as
those to nine tenths of them do.
"""
CHOOSING = """### Looked at, and kept aside

The rules of the gaussian, jackknife+ and conformal intervals were settled before any set was run here;
none was chosen by its coverage on a set. For the posterior that is not so: its coverage on edm, enb and
jura is in [bayesian.md](bayesian.md), it has a noise scale for each output because coverage on real sets
asked for one, and a step of its sampler was found on enb. An earlier form of this page had the sets of
the first table, so that these count as looked at from now on.

- Looked at: {looked_at}.
- Kept aside: {kept_aside}. Their coverage was first computed when every interval was settled, and
  nothing was changed after it. They are to judge later choices, not to make them.

Numbers of components were written down once and not tuned to coverage.
"""


def page(share: float, n_parts: int, jobs: int) -> str:
    public = PUBLIC.format(most=MOST_ROWS, held_out=MOST_HELD_OUT, n_parts=n_parts)
    choosing = CHOOSING.format(looked_at=", ".join(LOOKED_AT), kept_aside=", ".join(KEPT_ASIDE))
    return "\n".join(
        [
            "# Digits and coverage\n",
            f"Written by `benchmarks/accuracy.py`. {machine()}; {versions()}.\n",
            "## Digits\n",
            DIGITS,
            *digits(),
            "## Coverage\n",
            COVERAGE,
            "### In simulations\n",
            SIMULATION,
            *simulation(share, jobs),
            "### On public sets\n",
            public,
            *sets(LOOKED_AT, n_parts, jobs),
            "Kept aside:\n",
            *sets(KEPT_ASIDE, n_parts, jobs),
            choosing,
            "## Whose data they are\n",
            sources([*LOOKED_AT, *KEPT_ASIDE]),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="the page to write")
    parser.add_argument("--share", type=float, default=1.0, help="of the draws of simulations")
    parser.add_argument("--parts", type=int, default=5, help="random parts of each set")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    arguments = parser.parse_args()
    text = page(arguments.share, arguments.parts, arguments.jobs)
    if arguments.write:
        write(text, arguments.write)
    else:
        print(text)


if __name__ == "__main__":
    main()
