"""Pre-images by regression from coordinates to objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from sklearn.base import clone
from sklearn.utils import check_random_state

from isthmus._linalg import Array, spreads
from isthmus._saved import saved
from isthmus._validation import check_memory, check_number, check_option, check_weights
from isthmus.kernels import RBF, gram, is_precomputed, resolve_kernel
from isthmus.preimages.base import Preimage
from isthmus.preimages.noised import ALPHAS, LEVELS, NoisedRegression
from isthmus.preimages.rank_order import column_ranks, ranks
from isthmus.preimages.targets import Targets, parts

_ALPHAS = (1e-3, 1e-2, 3e-2, 1e-1)  # ridge weights that are tried for scores without noise
_ENOUGH_OBJECTS = 20  # objects: a held-out fifth of fewer says nothing about noise


@saved(offset_="c", centres_="m .", dual_coef_="m c")
class Learned(Preimage):
    r"""Learn a kernel ridge regression from the scores to the objects, [BWS2004]_, [B2006]_ Sec. 3.2.4.

    .. math::
        z(b) = \bar x + \sum_i \kappa(b, b_i) B_i, \qquad B = (\mathbf{K} + \alpha I)^{-1} (X - \bar x),

    with an RBF kernel :math:`\kappa` whose width is the median of the scores' distances, or, with
    ``regression="linear"``, ridge regression on the scores themselves. It works for every kernel of vectors
    and is their default. It also corrects systematic errors in predicted scores:
    ``DependencyRegressor`` trains it on out-of-fold predictions.

    Parameters
    ----------
    regression : {"kernel", "linear"}, default="kernel"
        Kernel ridge (cost of a fit ``n^3 / 3``) or ridge (``n r^2``).
    alpha : float or sequence of floats, default=None
        Ridge weight; among several the one with the least leave-one-out error is chosen. None: 0.001, 0.01,
        0.03 and 0.1; if it trains on noise, 0.0001 to 1 by decades. For ``"linear"`` it is relative to the
        mean variance of the scores times the number of objects.
    noise : {"auto"}, float or None, default="auto"
        Noise of the objects whose scores will be brought back, as a multiple of each column's standard
        deviation. A number: the map is trained on scores of objects with such noise. ``"auto"``: on
        scores without noise and with noise of 1/8, 1/4, 1/2 and 1 together, since scores of noisy objects
        are unlike those of clean ones; the ridge weight is the best over all levels for a held-out fifth
        of the objects, and of more than 1000 objects 1000 are centres of the regression. If all scores are
        those of clean objects, None has a smaller error: equal to less than half, on small tables with many
        components. Objects that are noisy themselves cannot be told from these. With given ``alpha``,
        ``"linear"`` or fewer than 20 objects ``"auto"`` is None: the scores as they are. So is any noise
        without an embedding whose ``transform`` made the coordinates.
    gamma : float, default=None
        Width of the RBF kernel on the scores; None: the median rule.
    refine : Preimage, default=None
        Another method that starts from the answers, for instance ``FixedPoint()``.
    random_state : int or RandomState, default=0
        Seed for the noise and for the 1000 rows that the median rule uses of more.

    Attributes
    ----------
    noise_ : float
        The largest noise that was used; 0 for none.
    alpha_ : float
        The chosen ridge weight.
    loo_errors_ : ndarray of shape (n_alphas,)
        Root mean squared leave-one-out errors, in units of each column's standard deviation; held-out
        errors, averaged geometrically over the levels, if it trains on noise.
    centres_ : ndarray of shape (n_centres, n_components)
        Scores whose kernel values are summed; only of the kernel regression.
    """

    _needs_embedding = False
    _weights: Array | None = None  # of the objects, during a fit

    def __init__(
        self,
        regression: str = "kernel",
        *,
        alpha: float | Sequence[float] | None = None,
        gamma: float | None = None,
        noise: float | str | None = "auto",
        refine: Preimage | None = None,
        random_state: Any = 0,
    ) -> None:
        self.regression = regression
        self.alpha = alpha
        self.gamma = gamma
        self.noise = noise
        self.refine = refine
        self.random_state = random_state

    def fit(
        self, objects: Any, coordinates: Any, embedding: Any = None, sample_weight: Any = None
    ) -> Learned:
        """Learn from objects whose coordinates are known, as :meth:`Preimage.fit`.

        An object of weight w counts as w equal ones.
        """
        weights = None if sample_weight is None else check_weights(sample_weight, objects)
        if weights is not None and not weights.all():
            raise ValueError("sample_weight has zeros: leave out objects that do not count.")
        self._weights = weights
        super().fit(objects, coordinates, embedding)
        self.__dict__.pop("_weights")  # predictions do not need them
        return self

    def _check_embedding(self) -> None:
        """Nothing to check: any kernel will do, a precomputed one too."""

    def _prepare(self) -> None:
        check_option("regression", self.regression, ("kernel", "linear"))
        self.alphas()
        if self.noise is not None and self.noise != "auto":
            check_number("noise", self.noise, ">= 0, 'auto' or None")
        objects = np.asarray(self.objects_, dtype=np.float64)
        self.offset_ = np.average(objects, axis=0, weights=self._weights)
        self.noise_ = 0.0
        if len(self.objects_) == 1:
            return
        own = self.coordinates_
        if not self._trains_on_noise():
            self._fit(self.alphas())
        elif isinstance(self.noise, str):
            self._fit_all_levels(objects)
        else:
            self.noise_ = float(self.noise or 0.0)
            rng = check_random_state(self.random_state)
            self.coordinates_ = self._noised_scores(objects, rng, self.noise_)
            self._fit(self.alphas(noised=True))
        if self.refine is not None:
            self.refine_ = clone(self.refine).fit(self.objects_, own, self.embedding_)

    def alphas(self, noised: bool = False) -> Array:
        """Return the ridge weights among which is chosen."""
        default = ALPHAS if noised else _ALPHAS
        given = np.asarray(default if self.alpha is None else self.alpha, dtype=np.float64)
        if given.ndim > 1 or not given.size or not (given > 0).all():
            raise ValueError(f"alpha == {self.alpha!r}, must be positive numbers.")
        return np.atleast_1d(given)

    def _fit(self, alphas: Array, left_out: bool = True) -> None:
        if self.regression == "kernel":
            self._fit_kernel(alphas, left_out)
        else:
            self._fit_linear(alphas)

    def held_out_errors(
        self,
        objects: Any,
        coordinates: Any,
        held: Any,
        scores: Any,
        weights: Array | None = None,
        held_weights: Array | None = None,
    ) -> Array:
        """Return the mean squared error of held-out objects, in units of variances, for every ``alpha``."""
        trial = clone(self).set_params(refine=None, noise=None)
        trial._weights = weights
        trial.objects_, trial.coordinates_ = np.asarray(objects), np.asarray(coordinates)
        truth = np.asarray(held)
        trial.offset_ = np.average(trial.objects_.astype(np.float64), axis=0, weights=weights)
        unit = spreads(np.vstack([trial.objects_, truth]).astype(np.float64))
        errors = []
        for alpha in self.alphas():
            trial._fit(np.array([alpha]), left_out=False)
            answers = trial._invert(Targets.of_scores(None, np.asarray(scores)))
            squares = (((answers - truth) / unit) ** 2).mean(axis=1)
            errors.append(float(np.average(squares, weights=held_weights)))
        return np.array(errors)

    # -- noise -----------------------------------------------------------------------------------

    def _trains_on_noise(self) -> bool:
        """Return whether scores of noised objects are wanted and can be made."""
        wanted = bool(self.noise)
        if isinstance(self.noise, str):
            is_open = self.regression == "kernel" and self.alpha is None
            wanted = is_open and len(self.objects_) >= _ENOUGH_OBJECTS
        return wanted and self._has_own_scores()

    def _fit_all_levels(self, X: Array) -> None:
        """Fit by scores at all levels of noise."""
        self.check_rows(len(X))
        self._set_score_kernel()
        rng = check_random_state(self.random_state)
        noised = [self._noised_scores(X, rng, level) for level in LEVELS[1:]]
        self.noise_ = LEVELS[-1]
        levels = [self.coordinates_, *noised]
        rest = X - self.offset_, spreads(X), ranks(self.coordinates_, X), self._weights
        problem = NoisedRegression(self.score_kernel_, levels, *rest)
        alphas = self.alphas(noised=True)
        self.loo_errors_, shares = problem.compare(alphas)
        self.alpha_ = float(alphas[int(self.loo_errors_.argmin())])
        self.centres_, self.dual_coef_ = problem.fit(self.alpha_, shares)

    def _noised_scores(self, X: Array, rng: Any, level: float) -> Array:
        # Dealt by what objects and columns are: the same noise for the same entry, wherever it is.
        rows = ranks(self.coordinates_, X)
        noise = rng.normal(size=X.shape)[rows][:, column_ranks(X, rows)]
        noisy = X + level * spreads(X) * noise
        return np.asarray(self.embedding_.transform(noisy), dtype=np.float64)

    def _has_own_scores(self) -> bool:
        if not hasattr(self.embedding_, "transform") or is_precomputed(self.kernel_):
            return False
        first = np.asarray(self.embedding_.transform(self.objects_[:5]), dtype=np.float64)
        return bool(np.allclose(first, self.coordinates_[:5], rtol=1e-3, atol=1e-4))

    # -- regression ------------------------------------------------------------------------------

    def check_rows(self, n: int) -> None:
        """Raise MemoryError if a fit to this many rows does not fit into memory."""
        if self.regression == "kernel":
            remedy = "preimage=Learned('linear') takes less, as do fewer rows."
            check_memory(16.0 * n * n, f"The learned pre-image of {n} rows", remedy)

    def _fit_kernel(self, alphas: Array, left_out: bool) -> None:
        self.check_rows(len(self.coordinates_))
        self._set_score_kernel()
        K = gram(self.score_kernel_, self.coordinates_)
        Y = np.asarray(self.objects_, dtype=np.float64) - self.offset_
        self.centres_ = self.coordinates_
        self._choose(alphas, [_ridge(K, Y, alpha, left_out, self._weights) for alpha in alphas])

    def _set_score_kernel(self) -> None:
        if self.gamma is None and np.ptp(self.coordinates_, axis=0).max(initial=0.0) == 0:
            self.score_kernel_ = RBF(1.0)  # all scores alike: any width will do
        else:
            self.score_kernel_ = resolve_kernel(
                "rbf",
                self.coordinates_,
                gamma=self.gamma,
                random_state=self.random_state,
                sample_weight=self._weights,
            )

    def _fit_linear(self, alphas: Array) -> None:
        w = np.ones(len(self.coordinates_)) if self._weights is None else self._weights
        root = np.sqrt(w)[:, None]
        total = float(w.sum())
        self.score_mean_ = np.average(self.coordinates_, axis=0, weights=self._weights)
        S = self.coordinates_ - self.score_mean_
        Y = np.asarray(self.objects_, dtype=np.float64) - self.offset_
        U, s, Vt = np.linalg.svd(root * S, full_matrices=False)
        scale = max(float((s**2).mean()), np.finfo(float).tiny) if len(s) else 1.0
        fits = []
        for alpha in alphas:
            shrink = s / (s**2 + alpha * scale)
            coef = Vt.T @ (shrink[:, None] * (U.T @ (root * Y)))
            leverage = ((U * (s * shrink)) * U).sum(axis=1) + w / total
            own = (Y - S @ coef) / np.maximum(1.0 - leverage, 1e-10)[:, None]
            fits.append((coef, _size(own, Y, self._weights)))
        self._choose(alphas, fits)

    def _choose(self, alphas: Array, fits: list[tuple[Array, float]]) -> None:
        self.loo_errors_ = np.array([error for _, error in fits])
        best = int(self.loo_errors_.argmin()) if len(fits) > 1 else 0
        self.alpha_, self.dual_coef_ = float(alphas[best]), fits[best][0]

    def _known_options(self) -> set[str]:
        if self.refine is None:
            return set()
        return self.refine._known_options() - {"start", "n_best"}

    def _targets(self, Z: Array) -> Targets:
        if self.refine is None:  # the expansion is asked for only where a loss is
            return Targets.of_scores(self.kernel_, Z)
        return super()._targets(Z)

    def _invert(self, targets: Targets, **options: Any) -> Array:
        if targets.scores is None:
            raise ValueError("Learned works on scores: give inverse(Z), not an expansion.")
        Z = targets.scores
        answers = np.empty((len(Z), self.objects_.shape[1]))
        for part in parts(len(Z), len(self.coordinates_)):
            if self.regression == "kernel":
                answers[part] = gram(self.score_kernel_, Z[part], self.centres_) @ self.dual_coef_
            else:
                answers[part] = (Z[part] - self.score_mean_) @ self.dual_coef_
        answers += self.offset_
        if self.refine is not None:
            return self.refine_._invert(targets, start=answers, **options)
        return answers

    def _loss(self, targets: Targets, answers: Any) -> Array:
        assert targets.scores is not None
        return super()._loss(super()._targets(targets.scores), answers)


def _ridge(
    K: Array,
    Y: NDArray,
    alpha: float,
    left_out: bool = True,
    weights: Array | None = None,
) -> tuple[Array, float]:
    """``B = (K + alpha W^-1)^-1 Y``, with weights W of the objects, and the leave-one-out error.

    Without its row, the prediction at a sample's own scores is off by ``B_i / A_ii``, A the inverse.
    """
    A = np.array(K, order="F")
    A[np.diag_indices_from(A)] += alpha if weights is None else alpha / weights
    factor, info = lapack.dpotrf(A, lower=1, overwrite_a=1, clean=0)
    if info:  # repeated scores and a tiny ridge
        raise ValueError(f"alpha == {alpha} is too small for these scores: raise it.")
    B, _ = lapack.dpotrs(factor, Y, lower=1)
    if not left_out:
        return B, np.nan
    inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
    return B, _size(B / inverse.diagonal()[:, None], Y, weights)


def _size(residual: Array, Y: NDArray, weights: Array | None = None) -> float:
    squares = ((residual / spreads(Y)) ** 2).mean(axis=1)
    return float(np.sqrt(np.average(squares, weights=weights)))
