"""Pre-images by a fixed point iteration, all targets at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from isthmus._linalg import Array
from isthmus._validation import check_array, check_number, warn
from isthmus.preimages.base import Preimage
from isthmus.preimages.forms import DistanceForm, DotForm, kernel_form
from isthmus.preimages.targets import Targets, parts

_STEP_HALVINGS = 12  # at most, of a step that raises the loss


class FixedPoint(Preimage):
    r"""Iterate the condition that the gradient of the full loss vanishes.

    For kernels of the distance, :math:`k(x, z) = h(|x - z|^2)` (RBF, Laplacian of the Euclidean distance,
    rational quadratic), and of the inner product, :math:`k(x, z) = f(x'z)`,

    .. math::
        z \leftarrow \frac{\sum_i w_i x_i + \mu x_0}{\sum_i w_i + \mu},\ w_i = -G_i h'(|x_i - z|^2),
        \qquad
        z \leftarrow \frac{\sum_i G_i f'(x_i'z) x_i}{f'(z'z)},

    the second damped by one half; [B2006]_ Sec. 3.2.2, [MSSMSR1999]_. A step that does not lower the loss
    is halved up to twelve times. Targets that have converged are dropped from the batch.

    Parameters
    ----------
    pull : float, default=0.0
        Weight of a pull towards ``anchor`` (or ``start``) in the input space, as a fraction of the mean
        denominator. 0.1 is a good value if the input itself is known, as in denoising.
    max_iter : int, default=200
        Most iterations.
    tol : float, default=1e-6
        A target has converged when no coordinate moves by more than this fraction of the data's scale.
    neighbour : bool, default=True
        Whether to start from the nearest fitted object too and keep the better answer.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.features import KernelMap
    >>> from isthmus.preimages import FixedPoint
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 2.0]])
    >>> embedding = KernelMap(gamma=0.5).fit(X)
    >>> method = FixedPoint(tol=1e-10).fit(X, embedding.transform(X), embedding)
    >>> method.inverse_expansion([[0.4, 0.3, 0.2, 0.1]]).round(6)
    array([[0.32616 , 0.196328]])
    """

    def __init__(
        self,
        *,
        pull: float = 0.0,
        max_iter: int = 200,
        tol: float = 1e-6,
        neighbour: bool = True,
    ) -> None:
        self.pull = pull
        self.max_iter = max_iter
        self.tol = tol
        self.neighbour = neighbour

    def _prepare(self) -> None:
        check_number("pull", self.pull, ">= 0")
        if kernel_form(self.kernel_) is None:
            raise ValueError(
                "FixedPoint is for kernels of the Euclidean distance (RBF, L2Laplacian, "
                f"RationalQuadratic) or of the inner product (Linear, Polynomial), kernel == "
                f"{self.kernel_}: use Gradient() or Learned()."
            )

    def _invert(
        self,
        targets: Targets,
        start: Any = None,
        anchor: Any = None,
        **options: Any,
    ) -> Array:
        points = np.asarray(targets.points, dtype=np.float64)
        shape = (len(targets), points.shape[1])
        if self.pull and start is None and anchor is None:
            raise ValueError("pull > 0 needs the point to be pulled to: inverse(Z, anchor=...).")
        start = _as_rows(self.objects_.mean(axis=0) if start is None else start, "start", *shape)
        anchor = start if anchor is None else _as_rows(anchor, "anchor", *shape)
        answers = np.empty(shape)
        for part in parts(len(targets), len(points)):
            some = targets.subset(part)
            answers[part] = self._invert_block(some, points, start[part], anchor[part])
        return answers

    def _invert_block(self, targets: Targets, points: Array, start: Array, anchor: Array) -> Array:
        form = kernel_form(self.kernel_)
        assert form is not None
        iteration = _Iteration(form, points, targets.coef, anchor)
        iteration.set_pull(self.pull, start)
        best, value, settled = iteration.run(start, self.max_iter, self.tol)
        if self.neighbour:
            neighbours = self._nearest_objects(self._fitted_losses(targets))
            hopeless = targets.paired_inner(neighbours) <= 0
            other, other_value, other_settled = iteration.run(neighbours, self.max_iter, self.tol)
            better = other_value < value
            best[better], settled[better] = other[better], other_settled[better]
            if isinstance(form, DistanceForm) and hopeless.any():
                best[hopeless] = neighbours[hopeless]
                warn_hopeless(int(hopeless.sum()))
        if not settled.all():
            warn(
                f"{(~settled).sum()} of {len(settled)} targets did not converge in "
                f"max_iter={self.max_iter} iterations: raise max_iter or tol.",
                ConvergenceWarning,
            )
        return best


class _Iteration:
    """The fixed point map of a batch of targets: value of the loss, next point, denominator."""

    def __init__(
        self, form: DistanceForm | DotForm, points: Array, coef: Array, anchor: Array
    ) -> None:
        self.form, self.coef, self.anchor = form, coef, anchor
        # Distances do not depend on the origin, and near it they lose no digits.
        self.origin = (
            points.mean(axis=0) if isinstance(form, DistanceForm) else np.zeros(points.shape[1])
        )
        self.points = points - self.origin
        self.squares = (self.points**2).sum(axis=1)
        self.scale = max(float(np.abs(self.points).max()), np.finfo(float).tiny)
        self.weight = 0.0

    def set_pull(self, pull: float, start: Array) -> None:
        """Let the pull be this part of the mean denominator at the start."""
        if pull:
            denominators = self._evaluate(start - self.origin, np.arange(len(start)))[2]
            self.weight = pull * float(np.abs(denominators).mean())

    def _evaluate(self, Z: Array, rows: NDArray) -> tuple[Array, Array, Array]:
        G = self.coef[rows]
        squares = (Z**2).sum(axis=1)
        s = Z @ self.points.T
        if isinstance(self.form, DistanceForm):
            s *= -2.0
            s += squares[:, None]
            s += self.squares
            np.maximum(s, 0.0, out=s)
            value = -2.0 * np.einsum("ti,ti->t", G, self.form.value(s))
            weights = -G * self.form.derivative(s)
            denominator = weights.sum(axis=1)
            factor = 2.0
        else:
            value = self.form.value(squares) - 2.0 * np.einsum("ti,ti->t", G, self.form.value(s))
            weights = G * self.form.derivative(s)
            denominator = self.form.derivative(squares)
            factor = 1.0
        numerator = weights @ self.points
        if self.weight:
            anchor = self.anchor[rows] - self.origin
            value = value + factor * self.weight * ((Z - anchor) ** 2).sum(axis=1)
            numerator += self.weight * anchor
            denominator = denominator + self.weight
        with np.errstate(divide="ignore", invalid="ignore"):
            proposal = numerator / denominator[:, None]
        if isinstance(self.form, DotForm):
            proposal = 0.5 * (Z + proposal)
        return value, proposal, denominator

    def run(self, start: Array, max_iter: int, tol: float) -> tuple[Array, Array, NDArray]:
        """Points, losses (without the constant) and whether each target settled."""
        Z = start - self.origin
        rows = np.arange(len(Z))  # the targets that still move
        value, proposal, denominator = self._evaluate(Z, rows)
        values = value.copy()
        settled = np.zeros(len(Z), dtype=bool)
        for _ in range(max_iter):
            current = Z[rows]
            good = (denominator > 0) & np.isfinite(proposal).all(axis=1)
            step = np.where(good[:, None], proposal - current, 0.0)
            trial = current + step
            value, proposal, denominator = self._evaluate(trial, rows)
            for _ in range(_STEP_HALVINGS):
                worse = value > values[rows] + 1e-14 * np.abs(values[rows])
                if not worse.any():
                    break
                step[worse] *= 0.5
                trial[worse] = current[worse] + step[worse]
                part = self._evaluate(trial[worse], rows[worse])
                value[worse], proposal[worse], denominator[worse] = part
            worse = value > values[rows] + 1e-14 * np.abs(values[rows])
            trial[worse] = current[worse]
            moved = np.abs(trial - current).max(axis=1)
            Z[rows] = trial
            values[rows] = np.where(worse, values[rows], value)
            still = moved > tol * self.scale
            settled[rows[~still]] = True
            rows = rows[still]
            proposal = proposal[still]
            denominator = denominator[still]
            if not len(rows):
                break
        return Z + self.origin, values, settled


def _as_rows(points: Any, name: str, n: int, d: int) -> Array:
    """Points for all targets: one for each, or one for all."""
    rows = np.atleast_2d(check_array(np.atleast_2d(points), dtype=np.float64, input_name=name))
    if rows.shape not in ((n, d), (1, d)):
        raise ValueError(f"{name} has shape {np.shape(points)}, must be ({n}, {d}) or ({d},).")
    return np.array(np.broadcast_to(rows, (n, d)))


def warn_hopeless(n: int) -> None:
    """Say that targets lie on the far side of all fitted points."""
    warn(
        f"{n} targets have no positive inner product with any fitted point: the nearest fitted point "
        "is returned for them.",
    )
