"""What the user hands in: the settings of a search, tables of numbers, outputs that are classes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer

from isthmus._linalg import Array
from isthmus._validation import check_number, check_option, check_rank
from isthmus.auto.answers import PREFERENCES
from isthmus.auto.gap_filler import GapFiller, filler_of
from isthmus.auto.methods.logarithms import want_logarithms
from isthmus.auto.methods.treated import bank_of
from isthmus.auto.problem import FEWEST_ROWS, Problem, check_outputs, check_row_params
from isthmus.auto.splits import has_wild_cells, is_curve
from isthmus.inspection import renumber
from isthmus.kernels import kernel_names
from isthmus.losses import get_loss

_HELP = {
    "text": "encode it (pandas.get_dummies encodes categories) or leave it out",
    "dates": "give days since a first day, or leave it out",
    "times": "give hours or days as numbers, or leave it out",
}


@dataclass
class GivenRows:
    """The rows that a search learns from: those with a weight and an output.

    Attributes
    ----------
    X, Y : ndarray of shape (n_kept, n_features), (n_kept, n_targets)
    weights, groups : ndarray of shape (n_kept,) or None
    kept : ndarray of shape (n_samples,)
        Which of the rows that were handed in they are.
    filler : GapFiller or None
        What fills gaps; X is complete then.
    """

    X: Array
    Y: Array
    weights: Array | None
    groups: NDArray | None
    kept: NDArray
    filler: GapFiller | None = None

    @classmethod
    def of(cls, X: Array, Y: Array, params: dict[str, Any], numbers: NDArray) -> GivenRows:
        """Check what was given; of the rows with these numbers leave out those that tell nothing."""
        weights, groups = check_row_params(params, len(X))
        kept = np.asarray(~np.isnan(Y).all(axis=1))
        if weights is not None:
            kept &= weights > 0
        kept &= np.isin(np.arange(len(X)), numbers)
        check_outputs(Y[kept])
        weights = None if weights is None else weights[kept]
        groups = None if groups is None else groups[kept]
        return cls(X[kept], Y[kept], weights, groups, kept)

    def fill_gaps(self) -> None:
        """Make the inputs complete; the outputs stay as they are, to be judged by."""
        self.filler = filler_of(self.X, self.Y, self.weights)
        if self.filler is not None:
            self.X = self.filler.inputs

    def among_kept(self, cv: Any) -> Any:
        """Folds that were handed in as numbers of rows, in numbers of the rows that are kept."""
        if self.kept.all() or isinstance(cv, int | np.integer | str) or hasattr(cv, "split"):
            return cv
        return renumber(list(cv), np.flatnonzero(self.kept), len(self.kept))

    def spread(self, values: Array) -> Array:
        """Values of the rows as values of all that were handed in; NaN for those left out."""
        found = np.full((len(self.kept), values.shape[1]), np.nan)
        found[self.kept] = values
        return found


def problem_of(search: Any, X: Array, Y: Array) -> Problem:
    """What the methods of a search are built for."""
    rank = None if search.n_components == "auto" else check_rank(search.n_components, minimum=1)
    if search.scale != "auto" and not isinstance(search.scale, bool | np.bool_):
        raise ValueError(f"scale == {search.scale!r}, must be True, False or 'auto'.")
    blocks = None if search.blocks_ is None else list(search.blocks_.values())
    curve = is_curve(X, getattr(search, "feature_names_in_", None))
    curve = curve or blocks is not None  # each block has a scale of its own
    scale = not curve if search.scale == "auto" else bool(search.scale)
    bank = bank_of(search.treatments, curve and search.scale == "auto")
    return Problem(
        n_samples=len(X), n_features=X.shape[1], n_targets=Y.shape[1], scale=scale,
        n_components=rank, loss=search.loss, kernel=search.kernel,
        random_state=search.random_state, rule="one_se" if search.prefer == "simple" else "best",
        treatments=None if rank is not None else bank, n_jobs=search.n_jobs,
        heavy=has_wild_cells(Y), blocks=blocks,
        tails=scale and has_wild_cells(X),
        positive=want_logarithms(Y),
    )  # fmt: skip


def check_settings(search: Any, on_interrupt: str) -> None:
    """Refuse settings of a search before any method is fitted."""
    check_option("prefer", search.prefer, PREFERENCES)
    check_option("on_interrupt", on_interrupt, ("keep", "raise"))
    if search.time_limit is not None:
        check_number("time_limit", search.time_limit, "of seconds >= 0, or None")
    if isinstance(search.scoring, str):
        get_scorer(search.scoring)
    if isinstance(search.kernel, str):
        check_option("kernel", search.kernel, ("auto", *kernel_names()))
    get_loss(search.loss)


def require_values(X: Array, Y: Array, names: Any, targets: Any) -> None:
    """Name the first column with so few values that none can be left out of the fit."""
    for what, table, labels, least in (("X", X, names, 2), ("y", Y, targets, FEWEST_ROWS)):
        counts = np.isfinite(table).sum(axis=0)
        if (counts < least).any():
            j = int(np.argmax(counts < least))
            label = j if labels is None else repr(str(labels[j]))
            values = "value" if counts[j] == 1 else "values"
            raise ValueError(
                f"{what}: column {label} has {counts[j]} {values}, at least {least} are needed: "
                "leave it out."
            )


def require_numbers(what: str, table: Any) -> None:
    """Name the first column of a frame, or of blocks of them, that holds text or dates."""
    if isinstance(table, dict):
        for name, block in table.items():
            require_numbers(f"{what}[{name!r}]", block)
        return
    for name in getattr(table, "columns", ()):
        held, value = _find_other(np.asarray(table[name]))
        if held:
            raise ValueError(
                f"{what}: column {name!r} holds {held} such as {value!r}, expected numbers: {_HELP[held]}."
            )


def _find_other(column: Any) -> tuple[str, str]:
    """What a column holds that is no number, and its first such value."""
    if column.dtype.kind in "Mm":
        return ("dates" if column.dtype.kind == "M" else "times"), str(column[0])
    if column.dtype.kind in "OUS":
        for value in column:
            if isinstance(value, str):
                return "text", str(value)
            if isinstance(value, date) or hasattr(value, "to_timestamp"):  # the latter is a period
                return "dates", str(value)
    return "", ""


def are_classes(y: Any) -> bool:
    """Whether there is one output and it holds text, truth values or categories."""
    values = np.asarray(y)
    if not values.size or not (values.ndim == 1 or (values.ndim == 2 and values.shape[1] == 1)):
        return False
    column = y[y.columns[0]] if hasattr(y, "columns") else y
    is_text = values.dtype.kind in "US" or (
        values.dtype == object and any(isinstance(value, str) for value in values.ravel())
    )
    return values.dtype.kind == "b" or is_text or str(getattr(column, "dtype", "")) == "category"


def check_classes(y: Any) -> Any:
    """Return the class of each row, all of which must have one."""
    labels = np.asarray(y).ravel()
    if labels.dtype == object:
        kind = next(type(label) for label in labels if label is not None and label == label)
        for i, label in enumerate(labels):
            if not isinstance(label, kind):
                raise ValueError(
                    f"y holds classes and row {i} has {label!r}: give it a class, or leave the row out."
                )
    elif labels.dtype.kind == "f" and np.isnan(labels).any():
        row = int(np.argmax(np.isnan(labels)))
        raise ValueError(f"y holds classes and row {row} has none: leave the row out.")
    return labels
