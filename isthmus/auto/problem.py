"""What a method is built for, and what is known of a method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import Array, require_squares
from isthmus._validation import N_FOLDS
from isthmus.model_selection import ContentKFold

FEWEST_ROWS = 5  # three to train, two to be predicted


@dataclass(frozen=True)
class Problem:
    """What a method is to be built for.

    Attributes
    ----------
    n_samples, n_features, n_targets : int
        Shape of the training rows.
    scale : bool
        Whether columns of the inputs are divided by their standard deviations, those of the training
        rows; those of the outputs always are.
    n_components : int or None
        A rank asked for; None leaves it to cross-validation.
    loss, kernel : str
        For the methods that take one.
    random_state : int
        Seed for the folds and other random choices.
    rule : {"one_se", "best"}
        Whether a method takes its simplest settings within one standard error of the best, or the best.
    treatments : dict or None
        Bank of treatments of curves, by name; None where the columns are not points of a curve.
    cv : sequence of (train, test) or None
        Inner folds; None is k-fold that rows are dealt to by content.
    heavy : bool
        Whether outputs have wild cells, for which a robust loss is worth its time.
    tails : bool
        Whether inputs have wild cells, so that kernels also try columns whose tails are bent in.
    positive : bool
        Whether outputs are positive and wide, so that their logarithms are worth a method.
    n_jobs : int or None
        Trees that grow side by side.
    blocks : list of slice or None
        Columns of each block, if the inputs come from several sources.
    """

    n_samples: int
    n_features: int
    n_targets: int
    scale: bool = True
    n_components: int | None = None
    loss: str = "huber"
    kernel: str = "auto"
    random_state: int = 0
    rule: str = "one_se"
    treatments: dict[str, Any] | None = None
    cv: Any = None
    heavy: bool = False
    tails: bool = False
    positive: bool = False
    n_jobs: int | None = None
    blocks: Any = None

    @property
    def folds(self) -> Any:
        """Inner folds, in which a method chooses its own numbers."""
        if self.cv is not None:
            return self.cv
        n_splits = max(2, min(N_FOLDS, self.n_samples))
        return ContentKFold(n_splits, shuffle=True, random_state=self.random_state)

    @property
    def options(self) -> dict[str, Any]:
        """How a ComponentSearchCV is asked to choose."""
        few = self.n_samples < 4 * N_FOLDS  # R2 of a fold of two rows says nothing
        return {"cv": self.folds, "scoring": "q2" if few else "r2", "rule": self.rule}

    @property
    def common(self) -> dict[str, Any]:
        # Outputs are always scaled: what is shared between them must not go by their units.
        return {"scale": self.scale or "y"}

    def ranks(self, most: int) -> Any:
        """Candidates for the rank, no more than there are, for ComponentSearchCV."""
        if self.n_components is None:
            return None
        return [min(self.n_components, max(most, 1))]


@dataclass(frozen=True)
class Rung:
    """A method: how it is built for a problem, and how it is told in a paper.

    Attributes
    ----------
    name, label : str
        For the command line and for the reader.
    build : callable of a Problem
        An estimator that chooses its own numbers in ``fit``; ``best_estimator_``, where it has one,
        is the model.
    text, formula, latex, references : str, str, str, tuple of str
        The paragraph of the method, its equation in HTML and in LaTeX, and its literature.
    is_wanted : callable of a Problem
        Whether "auto" tries it; names given by the user are always tried.
    is_blended : callable of a Problem
        Whether a blend may use it.
    may_stop : bool
        Whether it is stopped if it adds nothing to the blend of the first fold, because it takes long.
    """

    name: str
    label: str
    build: Callable[[Problem], Any]
    text: str
    formula: str
    latex: str
    references: tuple[str, ...]
    is_wanted: Callable[[Problem], bool] = lambda problem: True
    is_blended: Callable[[Problem], bool] = lambda problem: True
    may_stop: bool = False

    def as_dict(self) -> dict[str, Any]:
        """What a saved model keeps of its method."""
        return {
            "name": self.name,
            "label": self.label,
            "text": self.text,
            "formula": self.formula,
            "latex": self.latex,
            "references": list(self.references),
        }


def check_outputs(Y: Array) -> None:
    """Refuse too few rows, outputs that are all constant, and squared errors that float64 cannot hold."""
    if len(Y) < FEWEST_ROWS:
        raise ValueError(
            f"n_samples={len(Y)}: at least {FEWEST_ROWS} rows are needed to compare methods."
        )
    require_squares("y", Y[~np.isnan(Y)])
    if not any(np.nanmax(y) > np.nanmin(y) for y in Y.T if not np.isnan(y).all()):
        raise ValueError("y is constant: there is nothing to predict. Give outputs that vary.")


def check_row_params(params: dict[str, Any], n: int) -> tuple[Array | None, NDArray | None]:
    """Weights and groups of the rows, checked."""
    unknown = sorted(set(params) - {"sample_weight", "groups"})
    if unknown:
        raise TypeError(f"fit got {', '.join(unknown)}, expected sample_weight or groups.")
    found: dict[str, NDArray] = {}
    for name, given in params.items():
        if given is None:
            continue
        found[name] = np.asarray(given)
        if found[name].shape != (n,):
            raise ValueError(f"{name} has shape {found[name].shape}, must be ({n},).")
    weights = found.get("sample_weight")
    if weights is not None:
        weights = weights.astype(np.float64)
        if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
            raise ValueError("sample_weight must be finite, not negative and not all zero.")
    return weights, found.get("groups")
