"""How each method of the ladder is built for a problem, and when a costly one is worth its time."""

from __future__ import annotations

from typing import Any

from sklearn.preprocessing import StandardScaler

from isthmus.auto.methods.block_search import BlockSearch
from isthmus.auto.methods.evidence import EvidenceSearch
from isthmus.auto.methods.kernel_search import ROUGH, SMOOTH, WIDTHS, KernelSearch
from isthmus.auto.methods.logarithms import LogSearch
from isthmus.auto.methods.principal import PrincipalSearch
from isthmus.auto.methods.sparse import SparseSearch
from isthmus.auto.methods.stages import RobustSearch
from isthmus.auto.methods.tails import TailScaler
from isthmus.auto.methods.treated import PathSearch, RidgeSearch, TreatedSearch
from isthmus.auto.methods.trees import TreeSearch
from isthmus.auto.problem import Problem
from isthmus.model_selection import ComponentSearchCV
from isthmus.regression import PCR, PLS, ReducedRankRegression

TREE_ROWS = 20  # fewer rows: trees are left to those who ask for them by name
TREATED_PROCESS_ROWS = 100  # fewer: one more method that chooses among treatments adds to the luck
PROCESS_ROWS = 1000  # with more, cross-validation is as sure and a Gram matrix a width too dear
_BOOSTING_ROWS = 200  # fewer rows: a leaf of twenty of them is a tenth of the table
_BOOSTING_TARGETS = 8  # each target has trees of its own
_SINGLE_COLUMNS = 500  # of all targets together, where each target has a search of its own


def pls(problem: Problem) -> Any:
    if problem.treatments and problem.n_components is None:
        return TreatedSearch(PathSearch(rule=problem.rule), problem.treatments, cv=problem.folds)
    most = min(problem.n_samples - 1, problem.n_features)
    return ComponentSearchCV(
        PLS(**problem.common), n_components=problem.ranks(most), **problem.options
    )


def pcr(problem: Problem) -> Any:
    if problem.treatments and problem.n_components is None:
        return TreatedSearch(PrincipalSearch(), problem.treatments, cv=problem.folds)
    most = min(problem.n_samples - 1, problem.n_features)
    return ComponentSearchCV(
        PCR(**problem.common), n_components=problem.ranks(most), **problem.options
    )


def ridge(problem: Problem) -> Any:
    if problem.treatments:
        return EvidenceSearch(problem.treatments, ("linear",))
    return RidgeSearch(problem.scale, cv=problem.folds)


def lasso(problem: Problem) -> Any:
    return SparseSearch(cv=problem.folds)


def wants_lasso(problem: Problem) -> bool:
    """With fewer columns than rows it is one more map beside ridge regression, which adds to the luck."""
    return (
        problem.n_components is None
        and not problem.treatments
        and problem.n_features >= problem.n_samples
        and problem.n_features * problem.n_targets <= _SINGLE_COLUMNS
    )


def reduced_rank(problem: Problem) -> Any:
    most = min(problem.n_features, problem.n_targets, problem.n_samples - 1)
    return ComponentSearchCV(
        ReducedRankRegression(**problem.common),
        n_components=problem.ranks(most),
        **problem.options,
    )


def robust(problem: Problem) -> Any:
    most = min(problem.n_features, problem.n_targets, problem.n_samples - 1)
    return RobustSearch(
        loss=problem.loss,
        n_components=problem.ranks(most),
        scale=problem.scale,
        cv=problem.folds,
    )


def kernel(problem: Problem) -> Any:
    search = kernels(problem, SMOOTH if problem.kernel == "auto" else problem.kernel)
    if problem.treatments:
        return search
    return search.set_params(tails=problem.tails)


def rough_kernel(problem: Problem) -> Any:
    return kernels(problem, ROUGH)


def chain(problem: Problem) -> Any:
    return kernels(problem, ROUGH[-1]).set_params(chain=True)


def kernels(problem: Problem, names: Any) -> Any:
    search = KernelSearch(
        kernel=names,
        n_components=problem.ranks(min(problem.n_targets, problem.n_samples - 1)),
        scale=problem.scale,
        cv=problem.folds,
        random_state=problem.random_state,
    )
    if problem.treatments:
        quick = {"widths": WIDTHS[1::2]}
        return TreatedSearch(search, problem.treatments, cv=problem.folds, quick=quick)
    return search


def process(problem: Problem) -> Any:
    bank: dict[str, Any] = {"autoscaled": StandardScaler()}
    if problem.tails:
        bank["long tails bent in"] = TailScaler()
    return EvidenceSearch(bank, random_state=problem.random_state)


def log_process(problem: Problem) -> Any:
    return LogSearch(random_state=problem.random_state)


def wants_log_process(problem: Problem) -> bool:
    return problem.positive and not problem.treatments and wants_process(problem)


def treated_process(problem: Problem) -> Any:
    bank = problem.treatments or {"none": None}
    return EvidenceSearch(bank, ("rbf",), random_state=problem.random_state)


def wants_treated_process(problem: Problem) -> bool:
    enough = problem.n_samples >= TREATED_PROCESS_ROWS
    return bool(problem.treatments) and enough and wants_process(problem)


def wants_process(problem: Problem) -> bool:
    return (
        problem.kernel == "auto"
        and problem.n_components is None
        and problem.n_samples <= PROCESS_ROWS
    )


def trees(problem: Problem) -> Any:
    return TreeSearch(
        "extra", cv=problem.folds, random_state=problem.random_state, n_jobs=problem.n_jobs
    )


def boosting(problem: Problem) -> Any:
    return TreeSearch("boosting", cv=problem.folds, random_state=problem.random_state)


def block_ridge(problem: Problem) -> Any:
    return BlockSearch(problem.blocks, problem.treatments, "ridge", cv=problem.folds)


def block_pls(problem: Problem) -> Any:
    return BlockSearch(problem.blocks, problem.treatments, "pls", cv=problem.folds)


def has_rows_for_boosting(problem: Problem) -> bool:
    n_columns = problem.n_features * problem.n_targets
    return (
        problem.n_samples >= (_BOOSTING_ROWS if n_columns <= _SINGLE_COLUMNS else 1000)
        and problem.n_targets <= _BOOSTING_TARGETS
        and not problem.treatments
    )


def adds_to_blend(problem: Problem) -> bool:
    """Not for curves: there ridge regression and partial least squares say the same, with less error."""
    return not problem.treatments
