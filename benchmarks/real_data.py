"""How well do PCR, PLS, reduced rank and ridge predict real data, and with how many components?

Near-infrared spectra and the multi-target sets of the Mulan collection. Every error is of rows that
neither the fit nor the choice has seen: five outer folds, drawn three times, and in each of them all
candidates are compared by ten inner folds of the rest. Needs the environment variable ISTHMUS_DATA,
the directory that holds nir.npz and mulan_regression.npz.

    ISTHMUS_DATA=... python benchmarks/real_data.py --write docs/real_data.md
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from _common import cited, markdown, write
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from isthmus import PCR, PLS, ComponentSearchCV, ReducedRankRegression
from isthmus.datasets import load_mulan, load_nir
from isthmus.datasets.registry import SETS

MULAN, NIR = SETS["mulan"], SETS["nir"]
OUTER_FOLDS, OUTER_DRAWS, INNER_FOLDS = 5, 3, 10
MOST_COMPONENTS = 100


@dataclass
class Problem:
    """A set as it is used: incomplete rows are left out."""

    name: str
    X: NDArray
    Y: NDArray
    scale: bool  # whether inputs are brought to unit variance inside each fold
    n_dropped: int

    @property
    def size(self) -> str:
        return f"{len(self.X)} x {self.X.shape[1]} -> {self.Y.shape[1]}"


@dataclass
class Outcome:
    """Results of one method on one set: errors are (n_draws, n_targets)."""

    errors: NDArray  # relative root mean squared error
    components: list[int] = field(default_factory=list)  # chosen in every outer fold

    @property
    def arrmse(self) -> float:
        return float(self.errors.mean())

    @property
    def q2(self) -> float:
        return float((1.0 - self.errors**2).mean())

    @property
    def spread(self) -> float:
        """Standard deviation of the averaged error over the draws of the folds."""
        return float(self.errors.mean(axis=1).std(ddof=1))

    @property
    def median_components(self) -> int:
        return int(np.median(self.components))


# -- the sets ---------------------------------------------------------------------------------


def problem(name: str) -> Problem:
    """Load a set; rows with a missing input (rf1 alone has any) are dropped."""
    bunch = load_nir(name) if name in NIR else load_mulan(name)
    X, Y = bunch.data, bunch.target.reshape(len(bunch.data), -1)
    complete = ~np.isnan(X).any(axis=1)
    # Absorbances share one unit; the inputs of the other sets do not.
    return Problem(name, X[complete], Y[complete], name in MULAN, int((~complete).sum()))


# -- the methods ------------------------------------------------------------------------------

Maker = Callable[[Problem, int], ComponentSearchCV]


def search(estimator: PCR | PLS | ReducedRankRegression, ranks: Sequence[int]) -> ComponentSearchCV:
    inner = KFold(INNER_FOLDS, shuffle=True, random_state=0)
    return ComponentSearchCV(
        estimator, n_components=ranks, cv=inner, scoring="neg_mean_squared_error"
    )


def component_range(data: Problem, n_train: int) -> range:
    n_inner = n_train - -(-n_train // INNER_FOLDS)
    return range(1, min(n_inner - 1, data.X.shape[1], MOST_COMPONENTS) + 1)


def pcr(data: Problem, n_train: int) -> ComponentSearchCV:
    return search(PCR(scale=data.scale), component_range(data, n_train))


def pls(data: Problem, n_train: int) -> ComponentSearchCV:
    return search(PLS(scale=data.scale), component_range(data, n_train))


def reduced_rank(data: Problem, n_train: int) -> ComponentSearchCV:
    return search(ReducedRankRegression(scale=data.scale), range(1, data.Y.shape[1] + 1))


def ridge(data: Problem, n_train: int) -> ComponentSearchCV:
    """As many components as targets are no constraint: plain ridge."""
    return search(ReducedRankRegression(scale=data.scale), [data.Y.shape[1]])


METHODS: dict[str, Maker] = {
    "PCR": pcr,
    "PLS": pls,
    "reduced rank": reduced_rank,
    "ridge": ridge,
}


# -- the errors -------------------------------------------------------------------------------


def judge(data: Problem, make: Maker) -> Outcome:
    """Error of a method on rows it has not seen, for every draw of the outer folds."""
    errors, components = [], []
    for draw in range(OUTER_DRAWS):
        outer = KFold(OUTER_FOLDS, shuffle=True, random_state=draw)
        squares, totals = np.zeros(data.Y.shape[1]), np.zeros(data.Y.shape[1])
        for train, test in outer.split(data.X):
            prediction, chosen = predict(data, make, train, test)
            squares += ((data.Y[test] - prediction) ** 2).sum(axis=0)
            totals += ((data.Y[test] - data.Y[train].mean(axis=0)) ** 2).sum(axis=0)
            components.append(chosen)
        errors.append(np.sqrt(squares / totals))
    return Outcome(np.array(errors), components)


def predict(data: Problem, make: Maker, train: NDArray, test: NDArray) -> tuple[NDArray, int]:
    """Predictions of the chosen model and its number of components."""
    unit = data.Y[train].std(axis=0)  # so that all targets count alike in the choice
    found = make(data, len(train)).fit(data.X[train], data.Y[train] / unit)
    return found.predict(data.X[test]) * unit, found.best_params_["n_components"]


def judge_quietly(data: Problem, method: str) -> Outcome:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # candidates beyond the rank of a fold say so
        return judge(data, METHODS[method])


def judge_all(problems: list[Problem], n_jobs: int) -> dict[str, dict[str, Outcome]]:
    pairs = [(data, method) for data in problems for method in METHODS]
    heavy_first = sorted(pairs, key=lambda pair: -pair[0].X.size)
    found = Parallel(n_jobs=n_jobs)(delayed(judge_quietly)(*pair) for pair in heavy_first)
    results: dict[str, dict[str, Outcome]] = {data.name: {} for data in problems}
    for (data, method), outcome in zip(heavy_first, found, strict=True):
        results[data.name][method] = outcome
    return results


# -- the page ---------------------------------------------------------------------------------

Results = dict[str, dict[str, Outcome]]


def error_table(problems: list[Problem], results: Results) -> str:
    head = ["set", "rows x inputs -> targets", *METHODS, "spread"]
    lines = []
    for data in problems:
        outcomes = results[data.name]
        cells = emphasised([f"{outcome.arrmse:.3f}" for outcome in outcomes.values()], min)
        cells = [cell + chosen(*pair) for cell, pair in zip(cells, outcomes.items())]
        lines.append([data.name, data.size, *cells, f"{set_spread(outcomes):.3f}"])
    return markdown(head, lines)


def chosen(method: str, outcome: Outcome) -> str:
    """The median of the chosen numbers of components and their range."""
    if method == "ridge":
        return ""
    low, high = min(outcome.components), max(outcome.components)
    span = f", {low} to {high}" if low < high else ""
    return f" ({outcome.median_components}{span})"


def q2_table(problems: list[Problem], results: Results) -> str:
    lines = []
    for data in problems:
        values = [f"{outcome.q2:.3f}" for outcome in results[data.name].values()]
        lines.append([data.name, *emphasised(values, max)])
    return markdown(["set", *METHODS], lines)


def emphasised(values: list[str], best: Callable) -> list[str]:
    """The best of a line in bold; all of them where they agree to the digits shown."""
    winner = best(values, key=float)
    return [f"**{value}**" if value == winner else value for value in values]


def set_spread(outcomes: dict[str, Outcome]) -> float:
    return max(outcome.spread for outcome in outcomes.values())


def observations(problems: list[Problem], results: Results) -> str:
    """What there is to see, counted anew in every run."""
    lines = [standing(method, results) for method in METHODS]
    return "\n".join([*lines, fewer_components(results), rank_and_ridge(problems, results)])


def standing(method: str, results: Results) -> str:
    """How often a method is as good as the best, and where it is not."""
    near, behind = 0, (0.0, "")
    for name, outcomes in results.items():
        least = min(outcome.arrmse for outcome in outcomes.values())
        gap = outcomes[method].arrmse - least
        if gap <= set_spread(outcomes):
            near += 1
        else:
            behind = max(behind, (gap / least, name))
    tail = f"; furthest behind on {behind[1]}, by {behind[0]:.0%}" if behind[1] else ""
    return f"- {method}: within the spread of the best on {near} of {len(results)} sets{tail}."


def fewer_components(results: Results) -> str:
    fewer = sum(
        outcomes["PLS"].median_components < outcomes["PCR"].median_components
        for outcomes in results.values()
    )
    return (
        f"- PLS needs fewer components than PCR on {fewer} of {len(results)} sets: its components "
        "look at\n  the targets, those of PCR at the inputs alone."
    )


def rank_and_ridge(problems: list[Problem], results: Results) -> str:
    several = [data for data in problems if data.Y.shape[1] > 1]
    lower = [
        data.name
        for data in several
        if results[data.name]["reduced rank"].median_components < data.Y.shape[1]
    ]
    worse = [
        results[data.name]["reduced rank"].arrmse / results[data.name]["ridge"].arrmse - 1
        for data in several
    ]
    if not several:
        return ""
    gain, loss = (f"{100 * max(value, 0.0):.1f} %" for value in (-min(worse), max(worse)))
    return (
        f"- Of the {len(several)} sets with several targets the rank is mostly chosen below their "
        f"number on\n  {', '.join(lower) or 'none'}. Beside the same ridge without that constraint "
        f"the error falls by at\n  most {gain} and rises by at most {loss}: the ridge does most of "
        "the work, the rank makes the map small."
    )


INTRODUCTION = """\
# Errors on real data

Written by [`benchmarks/real_data.py`](../benchmarks/real_data.py); `make tables` writes it anew.

How well do the linear maps predict, and with how many components? Every error below is of rows that
neither the fit nor the choice of its parameters has seen: {outer} outer folds, drawn {draws} times, and in
each of them `ComponentSearchCV` compares all candidates by {inner} inner folds of the remaining rows.
Means and scales of the inputs are those of the training rows, in the inner folds too.

The error is the average over the targets of the relative root mean squared error (aRRMSE in the
literature of the Mulan sets), the error of predicting the mean of the training rows being 1. In brackets
are the chosen components: the median over the {fits} outer fits, and the range. The spread is the
largest standard deviation of a method's error over the draws of the folds; differences smaller than it
say nothing. The smallest error is in bold.
"""

READING = """\
- With one target (gasoline, yarn) reduced rank is ridge: rank one is no constraint.
- Spectra with hardly any noise (corn) want dozens of components for less than a hundred rows, PCR as many
  as the folds allow: what is asked for hides in directions of small variance.
- wq is hardly predictable by any linear map. One target of rf1 has a reading 84 standard deviations from
  its mean, and whichever fold holds it decides: its error is above 1 while the others are near 0.3.
  Squared loss is the wrong loss there.
"""

SETTINGS = """\
## What was done

- Candidates: 1 to {most} components where rows and inputs allow as many (PCR, PLS); all ranks up to the
  number of targets and 22 ridge weights from 0 to 100 times the squared norm of the inputs (reduced rank);
  the same ridge weights (ridge: reduced rank regression with no constraint on the rank).
- Absorbances are centred only. The inputs of the Mulan sets have different units and are brought to
  unit variance. Every target is divided by its standard deviation over the outer training rows, so that
  all count alike; one model predicts all of them.
- No spectrum was smoothed, differentiated or left out, and no wavelength chosen.
- rf1: the {dropped} rows of {rows} with missing inputs are dropped.
- Rows are drawn at random, as is customary for these sets. rf1, scm20d and the two atp sets are records in
  the order of time: for a forecast of the future these errors are too good.
"""


def page(problems: list[Problem], results: Results) -> str:
    rf1 = next((data for data in problems if data.name == "rf1"), None)
    parts = [
        INTRODUCTION.format(
            outer=OUTER_FOLDS,
            draws=OUTER_DRAWS,
            inner=INNER_FOLDS,
            fits=OUTER_FOLDS * OUTER_DRAWS,
        ),
        error_table(problems, results),
        "\n## What to see in it\n",
        observations(problems, results),
        READING,
        SETTINGS.format(
            most=MOST_COMPONENTS,
            dropped=rf1.n_dropped if rf1 else 0,
            rows=len(rf1.X) + rf1.n_dropped if rf1 else 0,
        ),
        "## The same as Q2\n\nOne minus the squared relative error, averaged over the targets.\n",
        q2_table(problems, results),
        "\n## Whose data they are\n",
        sources(problems),
    ]
    return "\n".join(parts) + "\n"


def sources(problems: list[Problem]) -> str:
    lines = {cited(NIR[data.name]) for data in problems if data.name in NIR}
    lines |= {f"- Mulan sets: {MULAN[data.name].cite}" for data in problems if data.name in MULAN}
    return "\n".join(sorted(lines))


# -- the command ------------------------------------------------------------------------------


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [*NIR, *MULAN]
    parser.add_argument("--only", default=",".join(names), help="sets, separated by commas")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the page to this file")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    asked = parser.parse_args()
    asked.only = [name.strip() for name in asked.only.split(",")]
    unknown = sorted(set(asked.only) - set(names))
    if unknown:
        parser.error(f"no set {', '.join(unknown)}; there are {', '.join(names)}")
    return asked


def main() -> None:
    asked = arguments()
    if not os.environ.get("ISTHMUS_DATA"):
        sys.exit(
            "ISTHMUS_DATA is not set: this benchmark needs real data. Set it to the directory that "
            "holds nir.npz and mulan_regression.npz, and run again."
        )
    begin = time.perf_counter()
    problems = [problem(name) for name in asked.only]
    text = page(problems, judge_all(problems, asked.jobs))
    print(text)
    if asked.write:
        write(text, asked.write)
        print(f"written to {asked.write}", file=sys.stderr)
    print(f"{time.perf_counter() - begin:.0f} seconds", file=sys.stderr)


if __name__ == "__main__":
    main()
