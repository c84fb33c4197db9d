"""What the fitted attributes of a model must be, so that it can predict and nothing is read beyond them.

A law names the sides of an array by letters; a letter has one value in an object, and ``p`` is the
number of its input columns. ``.`` is any side, ``|`` parts alternatives, and nothing is a number.
Attributes that an object does not have, or that are no arrays, are left to the estimator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from isthmus.persistence.errors import CorruptedFileError

_LATENT = {
    "coef_": "q p|p", "intercept_": "q|", "x_mean_": "p", "x_scale_": "p", "y_mean_": "s",
    "y_scale_": "s", "x_rotations_": "p r", "x_weights_": "p r", "x_loadings_": "p r",
    "y_loadings_": "s r", "score_gram_": "r r",
    "left_draws_": "c d p r", "right_draws_": "c d s r", "intercept_draws_": "c d s",
}  # fmt: skip
_LINEAR = {"coef_": "q p|p", "intercept_": "q|"}
_BLOCKS = {**_LINEAR, "x_mean_": "p", "x_rotations_": "p r"}
_CLASSIFIER = {"coef_": ". p|p"}
_SUPPORT = {
    "support_vectors_": "m p", "support_": "m", "_dual_coef_": "k m", "dual_coef_": "k m",
    "_n_support": "c", "_intercept_": "i", "intercept_": "i", "_probA": ".", "_probB": ".",
}  # fmt: skip
_PROJECTION = {"points_": "n .", "dual_coef_": ". r", "offset_": "r"}
_PREIMAGE = {"coordinates_": "n .", "residual_": "n"}
_LAWS: dict[str, dict[str, str]] = {
    **dict.fromkeys(
        ("OPLS", "PCR", "PLS", "BayesianStiefelRegression", "ManifoldPLS", "ReducedRankRegression",
         "StiefelRegression", "MetropolisedGibbsRegression"), _LATENT,
    ),
    **dict.fromkeys(
        ("LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "ElasticNet", "ElasticNetCV",
         "MultiTaskLasso", "MultiTaskLassoCV", "MultiTaskElasticNet", "MultiTaskElasticNetCV",
         "BayesianRidge", "HuberRegressor", "LinearSVR",
         "BlockRidge", "SparseFactors", "GeodesicStiefelRegression", "LinearMap", "RiemannianPLS"), _LINEAR,
    ),
    **dict.fromkeys(("LogisticRegression", "RidgeClassifier", "LinearSVC"), _CLASSIFIER),
    **dict.fromkeys(("COIR", "InverseMORP", "MORP", "SIR", "KernelCCA", "KernelSIR"), _PROJECTION),
    **dict.fromkeys(
        ("CandidateSearch", "Distance", "Exact", "FixedPoint", "Gradient", "GraphSearch", "Learned",
         "Nearest", "SequenceSearch"), _PREIMAGE,
    ),
    **dict.fromkeys(("SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM"), _SUPPORT),
    "Expansion": {"points": "n .", "coef": "n .|n", "values": "n .|n"},
    "Blend": {"weights_": "m q"},
    "Forest": {
        "left_": "n", "right_": "n", "feature_": "n", "threshold_": "n", "value_": "n q",
        "roots_": "t", "intercept_": "q",
    },
    "FourierFeatures": {"waves_": "p ."},
    "GaussianProcessRegressor": {"X_train_": "n p", "alpha_": "n .|n", "L_": "n n"},
    **dict.fromkeys(("MultiblockPLS", "SequentialPLS"), _BLOCKS),
    "InstrumentTransfer": {"coef_": "q w", "columns_": "q w", "x_mean_": "p", "y_mean_": "q"},
    "BlockTreatments": {"scales_": "b"},
    "KDR": {"components_": "r p"},
    "KernelMap": {"points_": "n .", "dual_coef_": "n r", "eigenvalues_": "r", "row_means_": "n"},
    "KernelPCA": {"X_fit_": "n p", "eigenvectors_": "n r", "eigenvalues_": "r"},
    "KernelRidge": {"X_fit_": "n p", "dual_coef_": "n .|n"},
    "Landmarks": {"points_": "m .", "factor_": "m ."},
    "Moments": {"xx": "a a", "xy": "a b", "yy": "b b"},
    "PCA": {"components_": "r p", "mean_": "p"},
    "FeatureDistance": {"points": "n .", "norms": "n"},
    "Neighbours": {"points": "n ."},
    "Spacing": {"points": "n ."},
    "Ranges": {"lower": "c", "upper": "c"},
    "Subspace": {
        "mean": "c", "scale": "c", "rotations": "c k", "loadings": "c k", "whitening": "k k",
    },
}  # fmt: skip


def check_state(cls: type, state: dict[str, Any], what: str) -> None:
    """Refuse a state whose arrays are inconsistent or hold something other than numbers."""
    sides: dict[str, int] = {}
    columns = state.get("n_features_in_")
    if isinstance(columns, int | np.integer):
        sides["p"] = int(columns)
    for name, law in _LAWS.get(cls.__name__, {}).items():
        value = state.get(name)
        if isinstance(value, np.ndarray) and value.dtype != object:
            _check_array(name, value, law, sides, what)
    further = _FURTHER.get(cls.__name__)
    if further is not None:
        further(cls, state, what)


def _check_array(name: str, value: Any, law: str, sides: dict[str, int], what: str) -> None:
    if value.dtype.kind not in "biufc":
        raise CorruptedFileError(f"{what}.{name} holds {value.dtype}, must hold numbers.")
    if not np.isfinite(value).all():
        raise CorruptedFileError(f"{what}.{name} has NaN or infinite values: it could not predict.")
    for alternative in law.split("|"):
        bound = dict(sides)
        letters = alternative.split()
        if len(letters) == value.ndim and all(
            letter == "." or bound.setdefault(letter, side) == side
            for letter, side in zip(letters, value.shape)
        ):
            sides.update(bound)
            return
    known = ", ".join(f"{letter} = {side}" for letter, side in sides.items())
    raise CorruptedFileError(
        f"{what}.{name} has shape {value.shape}, must be ({law}){' with ' + known if known else ''}."
    )


def _check_support_vectors(cls: type, state: dict[str, Any], what: str) -> None:
    """What libsvm takes on trust: it adds the numbers of vectors up and goes there."""
    if "_n_support" not in state:
        return  # not fitted
    if state.get("_sparse") is not False or state.get("kernel") not in (
        "linear",
        "poly",
        "rbf",
        "sigmoid",
    ):
        raise CorruptedFileError(
            f"{what} cannot be saved: it is a support vector machine fitted to sparse rows or "
            "with a custom kernel."
        )
    names = "support_vectors_ support_ _dual_coef_ _n_support _intercept_ _probA _probB".split()
    kinds = dict.fromkeys(names, "f8") | {"support_": "i4", "_n_support": "i4"}
    parts: list[Any] = [state.get(name) for name in names]
    if not all(
        isinstance(part, np.ndarray) and part.dtype.str[1:] == kinds[name]
        for name, part in zip(names, parts)
    ):
        raise CorruptedFileError(f"{what} has no arrays of support vectors.")
    vectors, _, weights, counts, constants, slopes, shifts = parts
    is_classifier = "SVC" in cls.__name__
    classes = len(state["classes_"]) if is_classifier else 2
    pairs = classes * (classes - 1) // 2
    counted = counts.sum() == len(vectors) if is_classifier else (counts == len(vectors)).all()
    if not (
        type(state.get("n_features_in_")) is int and classes >= 2
        and counts.shape == (classes,) and (counts >= 0).all() and counted
        and weights.shape == (classes - 1, len(vectors)) and constants.shape == (pairs,)
        and slopes.shape == shifts.shape and len(slopes) in (0, pairs)
    ):  # fmt: skip
        raise CorruptedFileError(f"{what} has inconsistent numbers of support vectors.")


def _check_trees(cls: type, state: dict[str, Any], what: str) -> None:
    """Every walk down a tree must end in a leaf: children come after their parents."""
    if "roots_" not in state:
        return  # not fitted
    tables: list[Any] = [state.get(name) for name in ("left_", "right_", "feature_", "roots_")]
    if not all(isinstance(table, np.ndarray) and table.dtype.kind == "i" for table in tables):
        raise CorruptedFileError(f"{what} has no tables of nodes.")
    left, right, feature, roots = tables
    n = len(left)
    numbers = np.arange(n)
    is_leaf = left == -1
    for children in (left, right):
        if not (((children > numbers) & (children < n)) | is_leaf).all():
            raise CorruptedFileError(f"{what} has nodes whose children do not come after them.")
    columns = state.get("n_features_in_")
    inside = (feature >= 0) & (feature < (columns if isinstance(columns, int) else 0))
    if not inside.all() or not ((roots >= 0) & (roots < n)).all():
        raise CorruptedFileError(
            f"{what} has nodes that refer to columns or roots that do not exist."
        )


_FURTHER: dict[str, Callable[[type, dict[str, Any], str], None]] = {
    **dict.fromkeys(("SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM"), _check_support_vectors),
    "Forest": _check_trees,
}
