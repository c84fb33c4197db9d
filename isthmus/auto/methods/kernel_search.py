"""Kernel ridge regression whose kernel, widths and ridge weights are chosen in closed form."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import PredefinedSplit, check_cv
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isthmus._linalg import Array, spreads
from isthmus.auto.clock import check_time
from isthmus.auto.methods.chains import Chain
from isthmus.auto.methods.input_widths import scale_inputs
from isthmus.auto.methods.maps import InnerSearch, KernelModel, LinearMap
from isthmus.auto.methods.tails import TailScaler
from isthmus.features import Landmarks
from isthmus.kernels import deal_by_content, gram, median_gamma, resolve_kernel, shifted_gram
from isthmus.problems import Folds, RidgeSpectrum, is_partition

SMOOTH = ("rbf",)
ROUGH = ("laplacian", "l2_laplacian")
DISTANCES = {"rbf": "sqeuclidean", "laplacian": "cityblock", "l2_laplacian": "euclidean"}
WIDTHS = tuple(np.logspace(-2.5, 0.5, 7))  # times what the median rule gives
_SCREENED = 600  # more rows: widths are first compared on a part of them
_PART = 400  # rows of that part
_N_KEPT = 3  # widths that are compared on all rows: the best of the part and its neighbours
_GRAM_ROWS = 2500  # more rows: landmarks in place of the whole Gram matrix
_N_LANDMARKS = 800  # as many as ``KernelMap`` has by default
_ROWS_PER_INPUT = 5  # for a width of its own
_ROWS_FOR_WIDTHS = 50  # the fewest, however few inputs there are
_NUMBERS_AT_ONCE = 1_000_000  # of left-out predictions that are compared in one step
_N_GROUPS = 3  # of folds, in which widths per input are judged


class KernelSearch(InnerSearch):
    """Kernel ridge regression: kernel and width for all targets, a ridge weight for each.

    One eigendecomposition of a Gram matrix gives the left-out predictions of all folds and ridge weights.
    With five rows per input and fifty in all, inputs get widths of their own by the gradient of the
    evidence; these come from an iteration, which stops before the last digit.

    Parameters
    ----------
    kernel : str or sequence of str, default="rbf"
        Kernels of vectors to compare, by name.
    n_components : sequence of int or None, default=None
        Rank of the map; the last is taken. None leaves it as it is.
    scale : bool, default=True
        Whether columns of X are divided by their standard deviations. Those of y always are.
    cv : int or splitter, default=5
        Folds.
    random_state : int, default=0
        Seed for the rows of a part and the landmarks.
    chain : bool, default=False
        Whether each target is corrected by what the others are predicted to be.
    widths : sequence of float, default=WIDTHS
        Inverse widths to compare, times what the median rule gives.
    tails : bool, default=False
        Whether columns whose long tails are bent in are tried too.

    Attributes
    ----------
    best_estimator_ : Pipeline
    best_params_ : dict
        ``gamma``, and ``alpha`` for each target.
    kernel_ : str
    left_out_ : ndarray of shape (n_samples, n_targets)
        Predictions of every row without its fold.
    learning_ : ndarray of shape (n_targets,)
        Error of rows left out one by one over that of rows left out in folds.
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        n_components: Any = None,
        scale: bool = True,
        cv: Any = 5,
        random_state: int = 0,
        chain: bool = False,
        widths: Any = WIDTHS,
        tails: bool = False,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.scale = scale
        self.cv = cv
        self.random_state = random_state
        self.chain = chain
        self.widths = widths
        self.tails = tails

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: Array | None = None) -> KernelSearch:
        """Choose, then fit."""
        given = np.asarray(y, dtype=np.float64)
        unit = spreads(given.reshape(len(given), -1))
        Y = given.reshape(len(given), -1) / unit
        folds = list(check_cv(self.cv).split(np.asarray(X), Y))
        names = (self.kernel,) if isinstance(self.kernel, str) else tuple(self.kernel)
        scalers = [StandardScaler(with_std=self.scale), *([TailScaler()] if self.tails else [])]
        tried = []
        for scaler in scalers:
            Z = scaler.fit(X, sample_weight=sample_weight).transform(X)
            tried += [(scaler, Z, self._search(name, Z, Y, folds, sample_weight)) for name in names]
        scaler, Z, best = min(tried, key=lambda found: found[2].error)
        enough = max(_ROWS_PER_INPUT * Z.shape[1], _ROWS_FOR_WIDTHS)
        may_vary = best.kernel == "rbf" and len(Z) >= enough and Z.shape[1] > 1
        may_vary = may_vary and len(np.unique(Z, axis=0)) >= enough  # twins tell nothing new
        if may_vary and is_partition(folds, len(Z)):
            factors, wide = self._widths_per_input(Z, Y, folds, sample_weight)
            if wide.error < best.error:
                best, Z = wide, Z * factors
                before: Any = 1.0 if scaler.scale_ is None else scaler.scale_
                scaler.scale_ = before / factors
                scaler.with_std = True
        self.kernel_ = best.kernel
        self.best_params_ = {"alpha": best.alpha}
        if best.gamma is not None:
            self.best_params_["gamma"] = best.gamma
        chain = Chain(best.spectrum, best.alpha, Y, folds) if self.chain else None
        steps = self._model(best, Z, Y, unit, chain, given.ndim == 1)
        self.best_estimator_ = make_pipeline(scaler, *steps)
        self.left_out_ = (best if chain is None else chain).left_out * unit
        self.learning_ = best.learning(Y, folds)
        self.n_features_in_ = Z.shape[1]
        return self

    def _widths_per_input(
        self, Z: Array, Y: Array, folds: Folds, weights: Array | None
    ) -> tuple[Array, Choice]:
        """Return factors of the columns and the choice with them.

        The factors were found with all rows, so the error of left-out rows flatters them. The rows of a
        third of the folds are therefore judged by factors that were found without these rows.
        """
        rows = self._part(Z, Y)
        factors = self._input_widths(Z, Y, rows)
        wide = self._search("rbf", Z * factors, Y, folds, weights, [0.3, 1.0, 3.0], 0.5)
        group_of = np.empty(len(Z), dtype=np.intp)
        for k, (_, test) in enumerate(folds):
            group_of[test] = k % _N_GROUPS
        for group in np.unique(group_of):
            blind = self._input_widths(Z, Y, rows[group_of[rows] != group])
            own = group_of == group
            choice = self._search("rbf", Z * blind, Y, folds, weights, [1.0], 0.5)
            wide.left_out[own] = choice.left_out[own]
        wide.errors = np.mean(wide.spectrum.root[:, None] ** 2 * (Y - wide.left_out) ** 2, axis=0)
        return factors, wide

    def _input_widths(self, Z: Array, Y: Array, rows: NDArray) -> Array:
        check_time()
        (middle,) = self._gammas("rbf", Z[rows], [1.0], None)
        return scale_inputs(Z[rows], Y[rows], middle)

    def _part(self, Z: Array, Y: Array) -> NDArray:
        if len(Z) <= _SCREENED:
            return np.arange(len(Z))
        drawn = deal_by_content(np.hstack([Z, Y]), len(Z), self.random_state)
        return np.sort(np.argsort(drawn, kind="stable")[:_PART])

    def _search(
        self, name: str, Z: Array, Y: Array, folds: Folds, weights: Array | None,
        widths: Any = None, middle: float | None = None,
    ) -> Choice:  # fmt: skip
        """Compare the widths of a kernel; many rows: on a part of them first."""
        gammas = self._gammas(name, Z, self.widths if widths is None else widths, middle, weights)
        rows = self._part(Z, Y)
        if len(rows) < len(Z) and len(gammas) > _N_KEPT:
            few = list(PredefinedSplit(deal_by_content(Z[rows], len(folds))).split())
            own = None if weights is None else weights[rows]
            tried = [self._try(name, g, Z[rows], Y[rows], few, own).error for g in gammas]
            gammas = [gammas[k] for k in np.argsort(tried, kind="stable")[:_N_KEPT]]
        choices = [self._try(name, gamma, Z, Y, folds, weights) for gamma in gammas]
        return min(choices, key=lambda choice: choice.error)

    def _gammas(
        self, name: str, Z: Array, widths: Any, middle: float | None, weights: Array | None = None
    ) -> list[Any]:
        if middle is None:
            if name in DISTANCES:
                middle = median_gamma(
                    Z, metric=DISTANCES[name], random_state=self.random_state, sample_weight=weights
                )
            else:
                middle = getattr(
                    resolve_kernel(name, Z, random_state=self.random_state), "gamma", None
                )
        if middle is None:
            return [None]
        return [float(middle * factor) for factor in widths]

    def _try(
        self, name: str, gamma: float | None, Z: Array, Y: Array, folds: Folds,
        weights: Array | None,
    ) -> Choice:  # fmt: skip
        check_time()
        features = None
        if len(Z) > _GRAM_ROWS:
            features = self._landmarks(name, gamma).fit(Z, sample_weight=weights)
            spectrum = RidgeSpectrum.of_rows(np.asarray(features.transform(Z)), weights)
        else:
            kernel = resolve_kernel(name, Z, gamma=gamma)
            spectrum = RidgeSpectrum.of_gram(shifted_gram(kernel, Z), weights)
        return choose_alphas(spectrum, Y, folds, Choice(name, gamma, spectrum, features))

    def _landmarks(self, name: str, gamma: float | None) -> Landmarks:
        return Landmarks(_N_LANDMARKS, name, gamma=gamma, random_state=self.random_state)

    def _model(
        self, best: Choice, Z: Array, Y: Array, unit: Array, chain: Chain | None, flat: bool
    ) -> list[Any]:
        """The steps behind the scaler."""
        dual = best.spectrum.dual_coef(Y, best.alpha)
        share = best.spectrum.root**2 / len(Z)
        if best.features is not None:
            rows = np.asarray(best.features.transform(Z))
            coef = rows.T @ dual
            coef, constant = _chained(coef, share @ (Y - rows @ coef), chain)
            return [best.features, LinearMap.of(coef.T * unit[:, None], constant * unit, flat)]
        kernel = resolve_kernel(best.kernel, Z, gamma=best.gamma, random_state=self.random_state)
        K = np.asarray(gram(kernel, Z), dtype=np.float64)
        if self.n_components is not None:
            values = K @ dual
            values -= share @ values
            _, _, right = np.linalg.svd(values, full_matrices=False)
            right = right[: self.n_components[-1]]
            dual = dual @ right.T @ right
        dual, constant = _chained(dual, share @ (Y - K @ dual), chain)
        return [KernelModel.of(Z, dual * unit, kernel, constant * unit, Y * unit, flat)]


def _chained(coef: Array, constant: Array, chain: Chain | None) -> tuple[Array, Array]:
    """Coefficients and constants of predictions that a chain has corrected."""
    if chain is None:
        return coef, constant
    return coef @ chain.matrix, constant @ chain.matrix + chain.constant


class Choice:
    """A kernel with its width, the best ridge weight of each target, and what they predict."""

    def __init__(
        self, kernel: str, gamma: float | None, spectrum: RidgeSpectrum, features: Any = None
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.spectrum = spectrum
        self.features = features
        self.alpha: Array
        self.left_out: Array
        self.errors: Array

    @property
    def error(self) -> float:
        """Mean over the targets, which have unit variance."""
        return float(self.errors.mean())

    def learning(self, Y: Array, folds: Folds) -> Array:
        """How much smaller the error of each target is with all rows but one than with those of a fold.

        Kernel, widths and ridge weight are the same. Both errors are exact, so that few rows tell it.
        """
        in_folds = self.spectrum.left_out_each(Y, folds, self.alpha)
        singly = self.spectrum.left_out_singly(Y, self.alpha)
        rows = ~np.isnan(in_folds).any(axis=1)
        weights = self.spectrum.root[rows] ** 2
        squares = [weights @ (Y - guess)[rows] ** 2 for guess in (singly, in_folds)]
        return np.sqrt(squares[0] / np.maximum(squares[1], np.finfo(float).tiny))


def choose_alphas(spectrum: RidgeSpectrum, Y: Array, folds: Folds, choice: Choice) -> Choice:
    """Set the ridge weight of each target with the least squared error of left-out rows."""
    choice.errors = np.full(Y.shape[1], np.inf)
    choice.alpha = np.zeros(Y.shape[1])
    choice.left_out = np.full(Y.shape, np.nan)
    rows = np.sort(np.concatenate([test for _, test in folds]))
    observed = Y[rows]
    root = (spectrum.root[rows] / np.sqrt(len(rows)))[:, None]
    # From the largest down: of two that are as good the larger is kept.
    alphas = spectrum.alphas[::-1]
    paths = spectrum.left_out(Y, folds, alphas)
    at_once = max(1, _NUMBERS_AT_ONCE // Y.size)
    for begin in range(0, len(alphas), at_once):
        predicted = np.array(list(islice(paths, at_once)))
        off = root * (observed - predicted[:, rows])
        errors = np.einsum("anq,anq->aq", off, off)
        best = errors.argmin(axis=0)
        least = errors[best, np.arange(Y.shape[1])]
        better = np.flatnonzero(least < choice.errors)
        choice.errors[better] = least[better]
        choice.alpha[better] = alphas[begin + best[better]]
        choice.left_out[:, better] = predicted[best[better], :, better].T
    return choice
