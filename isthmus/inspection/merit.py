"""Figures of merit of a calibration: RMSE, bias, slope, SEP, RPD, RPIQ and R2, in units of the outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length

from isthmus._linalg import EPS, Array
from isthmus._validation import check_array


@dataclass(frozen=True)
class FiguresOfMerit:
    """Figures of predictions, one value per output; floats where ``y`` has one dimension.

    Attributes
    ----------
    n : int or ndarray of int
        Rows whose reference value is known.
    rmse : float or ndarray of shape (n_targets,)
        Root mean squared error, in units of the output. It is called RMSEC for the rows of the fit, RMSECV
        for predictions of rows that were left out (all of them pooled), and RMSEP for new rows.
    bias : float or ndarray
        Mean of prediction minus reference, in units.
    sep : float or ndarray
        Standard deviation of the errors about the bias, with ``n - 1``, in units.
    slope, intercept : float or ndarray
        Line of least squares of the reference on the prediction; 1 and 0 are ideal.
    r2 : float or ndarray
        One minus the squared error over the squared deviations of the reference from its mean.
    rpd : float or ndarray
        Standard deviation of the reference (with ``n - 1``) over ``sep``, [W1987]_.
    rpiq : float or ndarray
        Interquartile range of the reference over ``rmse``, [BFPRM2010]_: for skewed references.
    """

    n: Any
    rmse: Any
    bias: Any
    sep: Any
    slope: Any
    intercept: Any
    r2: Any
    rpd: Any
    rpiq: Any

    def table(self, names: Sequence[str] | None = None) -> dict[str, dict[str, float]]:
        """Return the figures by output, ``table()["fat"]["rmse"]``; pandas takes it as it is.

        Parameters
        ----------
        names : sequence of str, default=None
            Names of the outputs; None numbers them: "y0", "y1".

        Returns
        -------
        table : dict of dict
        """
        q = np.size(self.rmse)
        names = [f"y{j}" for j in range(q)] if names is None else list(names)
        if len(names) != q:
            raise ValueError(f"names has {len(names)} entries, but there are {q} outputs.")
        values = {field.name: np.atleast_1d(getattr(self, field.name)) for field in fields(self)}
        return {
            str(name): {figure: column[j].item() for figure, column in values.items()}
            for j, name in enumerate(names)
        }


def rmse(y: ArrayLike, prediction: ArrayLike) -> Any:
    """Compute the root mean squared error of each output, in its units: RMSEC, RMSECV or RMSEP.

    Which of them it is depends on the predictions: of the rows of the fit, of rows left out by
    cross-validation (pooled), or of new rows.

    Parameters
    ----------
    y, prediction : array-like of shape (n_samples,) or (n_samples, n_targets)
        Reference values and predictions. A reference that is NaN is left out.

    Returns
    -------
    error : float or ndarray of shape (n_targets,)
    """
    return figures_of_merit(y, prediction).rmse


def figures_of_merit(y: ArrayLike, prediction: ArrayLike) -> FiguresOfMerit:
    """Compute figures of merit of predictions, for each output in its own units.

    Parameters
    ----------
    y, prediction : array-like of shape (n_samples,) or (n_samples, n_targets)
        Reference values and predictions. A reference that is NaN is left out.

    Returns
    -------
    figures : FiguresOfMerit
        A figure that the rows do not determine (one row, a constant output) is NaN.

    Examples
    --------
    >>> from isthmus.inspection import figures_of_merit
    >>> figures = figures_of_merit([1.0, 2.0, 3.0, 4.0], [1.5, 2.5, 3.5, 4.5])
    >>> figures.bias, figures.sep, figures.slope
    (0.5, 0.0, 1.0)
    """
    options: dict[str, Any] = {"dtype": np.float64, "ensure_2d": False}
    Y = check_array(y, ensure_all_finite="allow-nan", input_name="y", **options)
    P = check_array(prediction, input_name="prediction", **options)
    check_consistent_length(Y, P)
    is_1d = Y.ndim == 1
    Y = Y.reshape(len(Y), -1)
    P = P.reshape(len(P), -1)
    if Y.shape != P.shape:
        raise ValueError(
            f"y has {Y.shape[1]} outputs and prediction {P.shape[1]}: they must be the same."
        )
    columns = [_figures(reference, guess) for reference, guess in zip(Y.T, P.T)]
    if is_1d:
        return FiguresOfMerit(**columns[0])
    return FiguresOfMerit(**{name: np.array([c[name] for c in columns]) for name in columns[0]})


def _figures(reference: Array, prediction: Array) -> dict[str, float]:
    known = ~np.isnan(reference)
    reference, prediction = reference[known], prediction[known]
    n = len(reference)
    if n == 0:
        return {"n": 0, **{field.name: np.nan for field in fields(FiguresOfMerit)[1:]}}
    error = prediction - reference
    root = np.linalg.norm(error) / np.sqrt(n)  # the norm has no overflow
    bias = error.mean()
    sep = np.linalg.norm(error - bias) / np.sqrt(n - 1) if n > 1 else np.nan
    spread = np.linalg.norm(reference - reference.mean())
    # What does not vary is not explained, well or badly: no R2, no slope, no spread over an error.
    is_constant = spread <= 8 * EPS * np.linalg.norm(reference)
    deviation = prediction - prediction.mean()
    length = np.linalg.norm(deviation)
    # Deviations of unit length first: squares of large units would overflow.
    slope = _ratio(float(deviation / (length or 1.0) @ (reference - reference.mean())), length)
    quartiles = np.percentile(reference, [25, 75])
    found = {
        "n": n,
        "rmse": root,
        "bias": bias,
        "sep": sep,
        "slope": slope,
        "intercept": reference.mean() - slope * prediction.mean(),
        "r2": 1.0 - _ratio(root * np.sqrt(n), spread) ** 2,
        "rpd": _ratio(spread / np.sqrt(n - 1), sep) if n > 1 else np.nan,
        "rpiq": _ratio(quartiles[1] - quartiles[0], root),
    }
    if is_constant:
        found |= dict.fromkeys(("slope", "intercept", "r2", "rpd", "rpiq"), np.nan)
    return {name: value if name == "n" else float(value) for name, value in found.items()}


def _ratio(value: Any, by: Any) -> float:
    """Return ``value / by``: infinite over zero, and NaN for nothing over nothing."""
    if by == 0:
        return np.nan if value == 0 else np.inf
    return float(value / by)
