"""What the fitted attributes of a model must be, so that it can predict and nothing is read beyond them.

The classes of isthmus declare their laws where they stand, ``isthmus/_saved.py`` says how; here are those
of scikit-learn. Attributes that an object does not have, or that are no arrays, are left to the estimator.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from isthmus._saved import laws_of
from isthmus.persistence.errors import CorruptedFileError

_LINEAR = {"coef_": "q p|p|p", "intercept_": "q||1"}
_CLASSIFIER = {"coef_": "k p|1 p", "intercept_": "k|1", "classes_": "k|2"}
_SUPPORT = {
    "support_vectors_": "m p", "support_": "m", "_dual_coef_": "k m", "dual_coef_": "k m",
    "_n_support": "c", "_intercept_": "i", "intercept_": "i", "_probA": "j", "_probB": "j", "offset_": "1",
}  # fmt: skip
_LATENT = {
    "_x_mean": "p", "_x_std": "p", "_y_mean": "q", "_y_std": "q", "coef_": "q p", "intercept_": "q",
    "x_rotations_": "p r", "x_loadings_": "p r", "x_weights_": "p r", "y_rotations_": "q r",
    "y_loadings_": "q r",
}  # fmt: skip
_LAWS: dict[str, dict[str, str]] = {
    **dict.fromkeys(
        ("LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "ElasticNet", "ElasticNetCV",
         "MultiTaskLasso", "MultiTaskLassoCV", "MultiTaskElasticNet", "MultiTaskElasticNetCV",
         "HuberRegressor", "LinearSVR"), _LINEAR,
    ),
    **dict.fromkeys(("LogisticRegression", "LinearSVC"), _CLASSIFIER),
    **dict.fromkeys(("SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM"), _SUPPORT),
    **dict.fromkeys(("PLSRegression", "PLSCanonical", "CCA"), _LATENT),
    **dict.fromkeys(
        ("MaxAbsScaler", "MinMaxScaler", "PowerTransformer", "RobustScaler", "StandardScaler"),
        dict.fromkeys(("mean_", "scale_", "var_", "min_", "center_", "lambdas_"), "p"),
    ),
    "BayesianRidge": {**_LINEAR, "X_offset_": "p", "sigma_": "p p"},
    "DummyRegressor": {"constant_": "1 o"},
    "GaussianProcessRegressor": {
        "X_train_": "n p", "alpha_": "n q|n|n", "L_": "n n", "_y_train_mean": "q||1",
        "_y_train_std": "q||1",
    },
    "GridSearchCV": {"error_score": "any", "cv_results_": "any", "best_score_": "any"},
    "KernelCenterer": {"K_fit_rows_": "p", "K_fit_all_": ""},
    "KernelPCA": {"X_fit_": "n p", "eigenvectors_": "n r", "eigenvalues_": "r"},
    "KernelRidge": {"X_fit_": "n p", "dual_coef_": "n .|n"},
    "Nystroem": {"components_": "m .", "normalization_": "m m"},
    "OneVsRestClassifier": {"label_binarizer___classes_": "c|2", "estimators_": "c|1"},
    "OneHotEncoder": {"categories_": "any"},
    "OrdinalEncoder": {
        "categories_": "any", "unknown_value": "any", "encoded_missing_value": "any",
        "_missing_indices": "any",
    },
    "PCA": {"components_": "r p", "mean_": "p", "explained_variance_": "r"},
    "QuantileTransformer": {"quantiles_": "m p", "references_": "m"},
    "RBFSampler": {"random_weights_": "p r", "random_offset_": "r"},
    "RidgeClassifier": {"coef_": "k p|p", "intercept_": "k|1"},
    "SimpleImputer": {"missing_values": "any", "statistics_": "nan p", "fill_value": "any"},
    "_BinaryGaussianProcessClassifierLaplace": {
        "X_train_": "n .", "y_train_": "n", "pi_": "n", "W_sr_": "n", "L_": "n n", "f_cached": "n",
    },
}  # fmt: skip
_ODD = re.compile("^(nan|-?inf|any)\\b")
# An intercept of zero, where none is fitted; and bounds of files of before these were kept.
_NEUTRAL = (0.0, np.inf, -np.inf)
# What may hold text, or integers for a precomputed kernel: its length alone counts.
_OF_OBJECTS = ("classes_", "objects_", "points_", "points", "candidates_", "target_names")
# Letters that are the value of an attribute.
_COUNTED = {"p": "n_features_in_", "o": "n_outputs_"}


def _laws(cls: type) -> dict[str, str]:
    return laws_of(cls) or _LAWS.get(cls.__name__, {})


def check_odd(cls: type, name: str, found: set[str], what: str) -> None:
    """Refuse NaN or infinite values where no law allows them."""
    word = _laws(cls).get(name, "").partition(" ")[0]
    # Kernels of scikit-learn have bounds of their parameters, which a fit alone reads.
    allowed = {"nan", "inf", "-inf"} if word == "any" or name.endswith("_bounds") else {word}
    if not found <= allowed:
        raise CorruptedFileError(f"{what} has NaN or infinite values: it could not predict.")


def cost_of_checks(cls: type, state: dict[str, Any]) -> int:
    """Bytes that are looked at before an object is built, whoever else has them."""
    return sum(getattr(a, "nbytes", 0) for a in state.values()) if cls.__name__ in _FURTHER else 0


def check_state(cls: type, state: dict[str, Any], what: str) -> None:
    """Refuse a state whose arrays are inconsistent or hold something other than numbers."""
    counts = {letter: state.get(name) for letter, name in _COUNTED.items()}
    known = {letter: int(n) for letter, n in counts.items() if isinstance(n, int | np.integer)}
    laws = {
        name: _ODD.sub("", law) for name, law in _laws(cls).items() if law not in ("nan", "any")
    }
    values = {name: _attribute(state, name) for name in laws}
    for name, value in values.items():
        kind = value.dtype.kind if isinstance(value, np.ndarray) else "O"
        if kind not in "biufcO" and name.rpartition("__")[2] not in _OF_OBJECTS:
            raise CorruptedFileError(f"{what}.{name} holds {value.dtype}, must hold numbers.")
    faults = []
    for case in range(max((law.count("|") for law in laws.values()), default=-1) + 1):
        sides = dict(known)
        bad = (
            name for name, law in laws.items() if not _fits(name, values[name], law, case, sides)
        )
        name = next(bad, "")
        if not name:
            break
        faults.append((name, ", ".join(f"{letter} = {side}" for letter, side in sides.items())))
    else:
        for name, told in faults[:1]:
            raise CorruptedFileError(
                f"{what}.{name} has shape {np.shape(values[name])}, must be ({laws[name]})"
                f"{' with ' + told if told else ''}."
            )
    if cls.__name__ in _FURTHER:
        _FURTHER[cls.__name__](cls, state, what)


def _attribute(state: dict[str, Any], name: str) -> Any:
    """An attribute, or one of an object that is an attribute."""
    first, _, last = name.rpartition("__")
    if not first:
        return state.get(name)
    return getattr(state.get(first), last, None)


def _fits(name: str, value: Any, law: str, case: int, sides: dict[str, int]) -> bool:
    """Whether a value has these sides; those not known before are known after."""
    letters = law.split("|")[case if "|" in law else 0].split()
    if value is None or letters == ["-"]:
        return value is None and (letters == ["-"] or "-" not in law)
    if isinstance(value, list | tuple) or getattr(value, "dtype", np.dtype(float)).kind == "O":
        letters, shape = letters[:1], (len(value),)  # objects
    elif sparse.issparse(value) or isinstance(value, np.ndarray | np.generic | int | float):
        shape = np.shape(value)
        if shape == () and value in _NEUTRAL:
            return True
        if name in _OF_OBJECTS and (letters[1:] == ["p"] or len(shape) != len(letters)):
            letters, shape = letters[:1], shape[:1]
    else:
        return True
    if len(letters) != len(shape):
        return False
    for letter, side in zip(letters, shape):
        letter, _, more = letter.partition("+")
        side -= int(more or 0)
        if letter != "." and side != (
            int(letter) if letter.isdigit() else sides.setdefault(letter, side)
        ):
            return False
    return True


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


def _check_pairs(cls: type, state: dict[str, Any], what: str) -> None:
    """One classifier for each pair of classes."""
    n = len(state.get("classes_", ()))
    if len(state.get("estimators_", ())) != n * (n - 1) // 2:
        raise CorruptedFileError(f"{what} has not one classifier for each pair of classes.")


_FURTHER: dict[str, Callable[[type, dict[str, Any], str], None]] = {
    **dict.fromkeys(("SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM"), _check_support_vectors),
    "Forest": _check_trees,
    "OneVsOneClassifier": _check_pairs,
}
