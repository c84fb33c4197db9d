"""Pictures to postures by kernel dependency estimation, from a few labelled postures."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import TransformerMixin
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.utils.validation import check_is_fitted

from isthmus._validation import BaseEstimator
from isthmus.applications.imitation.arm import SerialArm
from isthmus.applications.imitation.checks import check_joints, check_non_negative
from isthmus.applications.imitation.pictures import Histograms, PictureFeatures, SoftMaps, View
from isthmus.applications.imitation.preimage import constrained_postures
from isthmus.compression import compress
from isthmus.dependency import DependencyRegressor
from isthmus.features import KernelMap
from isthmus.kernels import PoseKernel, gram, gram_diagonal
from isthmus.model_selection import ComponentSearchCV
from isthmus.preimages import Nearest
from isthmus.regression import ReducedRankRegression

Array = NDArray[np.float64]

ROADS = ("histograms", "soft_maps")
PREIMAGES = ("nearest", "constrained")
RIDGES = np.geomspace(1e-3, 0.3, 6)  # of the mean squared length of the inputs
STREAM_TOL = 1e-3  # relative gain at which a posture of a stream is good enough
SKIN_SHARE = 0.1  # of the median skin count, below which a picture tells nothing


class FittedMap(TransformerMixin, BaseEstimator):
    """A kernel map that was fitted to more frames than have labels, and stays as it is."""

    def __init__(self, fitted: KernelMap):
        self.fitted = fitted
        self.kernel = fitted.kernel
        self.kernel_, self.points_, self.solver_ = fitted.kernel_, fitted.points_, fitted.solver_

    def __sklearn_clone__(self) -> FittedMap:
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> FittedMap:
        """Change nothing."""
        return self

    def transform(self, X: Any) -> Array:
        """Coordinates on the axes of all frames."""
        return self.fitted.transform(X)

    def collapse(self, W: Array) -> tuple[Array, Array]:
        """See :meth:`isthmus.KernelMap.collapse`."""
        return self.fitted.collapse(W)


@dataclass(frozen=True)
class Imitation:
    """Postures for pictures, and how far they can be trusted.

    Attributes
    ----------
    q : ndarray of shape (n, n_joints)
        Postures inside the limits; where a picture tells nothing, the last one.
    reliable : ndarray of bool, shape (n,)
        False where nobody or hardly any skin is to be seen.
    n_skin : ndarray of shape (n,)
        Skin pixels.
    distance : ndarray of shape (n,)
        Distance to the nearest frame of the training set in the inputs' feature space.
    """

    q: Array
    reliable: NDArray[np.bool_]
    n_skin: NDArray[np.intp]
    distance: Array


class Imitator(BaseEstimator):
    r"""Learn to imitate from pairs of pictures and postures, [B2006]_ Ch. 6.

    ``road="histograms"``: histograms of skin and outline, histogram intersection kernel, kernel
    principal components of all frames (labelled or not), reduced rank regression whose rank and ridge
    weight are chosen by cross-validation, coordinates of the pose kernel as outputs.
    ``road="soft_maps"``: blurred maps, Gaussian kernel, kernel ridge regression to the same outputs;
    the stronger road.

    Parameters
    ----------
    arm : SerialArm
        The arm that imitates.
    road : {"histograms", "soft_maps"}, default="histograms"
        See above.
    preimage : {"nearest", "constrained"}, default="nearest"
        The nearest posture of the library (labels and ``library``), or the posture inside the limits
        that minimises the distance to the predicted point plus ``lam`` times the squared joint
        distance to the posture before.
    lam : float, default=0.1
        That weight.
    library : array-like of shape (n, n_joints), default=None
        Postures without pictures that the arm may take.
    n_components : int, default=None
        Rank of the map; None chooses it by cross-validation (``road="histograms"``).
    features : PictureFeatures, default=None
        Other features than those of the road.
    variance : float, default=0.95
        Share of the inputs' variance that is kept.
    cv : int, default=5
        Folds.
    random_state : int, default=0
        Of codebook and folds.

    Attributes
    ----------
    model_ : DependencyRegressor
        The fitted map.
    n_components_, alpha_ : int, float
        Chosen rank and ridge weight.
    cv_error_ : float
        Squared error of the chosen ones in cross-validation, as a share of the outputs' variance.
    """

    def __init__(
        self,
        arm: SerialArm,
        *,
        road: str = "histograms",
        preimage: str = "nearest",
        lam: float = 0.1,
        library: ArrayLike | None = None,
        n_components: int | None = None,
        features: PictureFeatures | None = None,
        variance: float = 0.95,
        cv: int = 5,
        random_state: int = 0,
    ):
        self.arm = arm
        self.road = road
        self.preimage = preimage
        self.lam = lam
        self.library = library
        self.n_components = n_components
        self.features = features
        self.variance = variance
        self.cv = cv
        self.random_state = random_state

    def fit(
        self, views: list[View], q: ArrayLike, unlabelled: list[View] | None = None
    ) -> Imitator:
        """Learn from labelled views (n) with postures q (n, n_joints), and more views without any."""
        self._check(views, q)
        q, _ = check_joints(q, self.arm.n_joints)
        everything = list(views) + list(unlabelled or [])
        default = Histograms() if self.road == "histograms" else SoftMaps()
        self.features_ = copy.deepcopy(self.features or default).fit(everything)
        X_all = self.features_.transform(everything)
        X = X_all[: len(views)]
        # The kernel is linear in the points: all usable components are a handful.
        self.outputs_ = KernelMap(kernel=PoseKernel(self.arm)).fit(q)
        if self.road == "histograms":
            self.model_ = self._fit_histograms(X, q, X_all)
        else:
            self.model_ = self._fit_soft_maps(X, q)
        self.median_skin_ = float(np.median([view.n_skin for view in everything]))
        self._train = X_all
        self.free_, self.rest_ = (
            np.ptp(q, axis=0) > 1e-9,
            q[0],
        )  # joints that labels never move rest
        library = q if self.library is None else np.concatenate([q, np.asarray(self.library)])
        self.library_ = self.arm.clip(library)
        # In coordinates alone: with the embedding every frame would cost a kernel matrix.
        self.nearest_ = Nearest().fit(self.library_, self.outputs_.transform(self.library_))
        return self

    def _check(self, views: list[View], q: ArrayLike) -> None:
        if self.road not in ROADS:
            raise ValueError(
                f"road == {self.road!r}, must be one of {', '.join(map(repr, ROADS))}."
            )
        if self.preimage not in PREIMAGES:
            raise ValueError(
                f"preimage == {self.preimage!r}, must be one of {', '.join(map(repr, PREIMAGES))}."
            )
        check_non_negative(self.lam, "lam")
        if self.n_components is not None and self.n_components < 1:
            raise ValueError(f"n_components == {self.n_components}, must be >= 1.")
        if len(views) != len(np.atleast_2d(q)):
            raise ValueError(
                f"{len(views)} views and {len(np.atleast_2d(q))} postures: must agree."
            )

    def _fit_histograms(self, X: Array, q: Array, X_all: Array) -> DependencyRegressor:
        inputs = KernelMap(kernel="histogram_intersection", n_components=self.variance).fit(X_all)
        scores = inputs.transform(X)
        targets = self.outputs_.transform(q)
        power = float((scores**2).sum(axis=1).mean())
        if self.n_components is None:
            ranks: Any = range(1, min(targets.shape[1], len(q) // 2) + 1)
        else:
            ranks = [self.n_components]
        folds = KFold(self.cv, shuffle=True, random_state=self.random_state)
        search = ComponentSearchCV(
            ReducedRankRegression(),
            n_components=ranks,
            alpha=power * RIDGES,
            cv=folds,
            scoring="neg_mean_squared_error",  # R2 would give every axis the same weight
        ).fit(scores, targets)
        self.n_components_ = int(search.best_params_["n_components"])
        self.alpha_ = float(search.best_params_["alpha"])
        self.cv_error_ = -float(search.best_score_) / float(targets.var(axis=0).mean())
        model = DependencyRegressor(
            inputs=FittedMap(inputs),
            map=ReducedRankRegression(n_components=self.n_components_, alpha=self.alpha_),
            outputs=KernelMap(kernel=PoseKernel(self.arm)),
        )
        return model.fit(X, q)

    def _fit_soft_maps(self, X: Array, q: Array) -> DependencyRegressor:
        targets = self.outputs_.transform(q)
        spread = float(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())
        grid = {"gamma": np.geomspace(0.03, 3, 7) / spread, "alpha": np.geomspace(1e-3, 1, 7)}
        folds = KFold(self.cv, shuffle=True, random_state=self.random_state)
        search = GridSearchCV(
            KernelRidge(kernel="rbf"), grid, cv=folds, scoring="neg_mean_squared_error"
        ).fit(X, targets)
        self.alpha_, gamma = (
            float(search.best_params_["alpha"]),
            float(search.best_params_["gamma"]),
        )
        self.n_components_ = targets.shape[1]
        self.cv_error_ = -float(search.best_score_) / float(targets.var(axis=0).mean())
        model = DependencyRegressor(
            inputs=KernelMap(kernel="rbf", gamma=gamma),
            map=Ridge(self.alpha_),
            outputs=KernelMap(kernel=PoseKernel(self.arm)),
        )
        return model.fit(X, q)

    def compress(self, n_points: int | None = None) -> Imitator:
        """Return the same imitator with fewer expansion points; None means one third of them."""
        check_is_fitted(self)
        size = self.model_.to_expansion().n_points
        small = Imitator.__new__(Imitator)
        small.__dict__.update(self.__dict__)
        small.model_ = compress(
            self.model_, max(1, size // 3) if n_points is None else n_points, X=self._train
        )
        return small

    # -- new pictures -------------------------------------------------------------------------

    def predict_embedding(self, views: list[View]) -> Array:
        """Return coordinates of the pose kernel's feature space, before any pre-image."""
        check_is_fitted(self)
        return self.model_.predict_embedding(self.features_.transform(views))

    def predict(self, views: list[View], start: ArrayLike | None = None) -> Imitation:
        """Follow a stream of views; where one tells nothing the last posture is held.

        Parameters
        ----------
        views : list of View
            What :func:`watch` sees; an empty view stands for nobody.
        start : array-like of shape (n_joints,), default=None
            Posture before the first view; None means the mean of the library nearest to it.
        """
        check_is_fitted(self)
        n_skin = np.array([view.n_skin for view in views], dtype=np.intp)
        seen = np.array([bool(view.person.any()) for view in views])
        enough = n_skin >= SKIN_SHARE * self.median_skin_
        reliable = seen & enough if self.features_.uses_skin else seen
        q = np.full((len(views), self.arm.n_joints), np.nan)
        distance = np.full(len(views), np.inf)
        first = self._begin() if start is None else check_joints(start, self.arm.n_joints)[0][0]
        if reliable.any():
            rows = np.flatnonzero(reliable)
            X = self.features_.transform([views[i] for i in rows])
            psi = self.model_.predict_embedding(X)
            distance[rows] = self._distance(X)
            q[rows] = self._postures(psi, first)
        for i in np.flatnonzero(~reliable):
            q[i] = q[i - 1] if i else first
        return Imitation(q, reliable, n_skin, distance)

    def _postures(self, psi: Array, start: Array) -> Array:
        if self.preimage == "nearest":
            return np.asarray(self.nearest_.inverse(psi))
        start = np.where(self.free_, start, self.rest_)
        return constrained_postures(
            self.arm, self.outputs_, psi, start, lam=self.lam, free=self.free_, tol=STREAM_TOL
        )

    def _begin(self) -> Array:
        zero = np.zeros((1, self.outputs_.n_components_))
        return np.asarray(self.nearest_.inverse(zero))[0]

    def _distance(self, X: Array) -> Array:
        kernel = self.model_.to_expansion().kernel
        own = gram_diagonal(kernel, X)
        train = gram_diagonal(kernel, self._train)
        squares = own[:, None] + train[None] - 2 * gram(kernel, X, self._train)
        return np.sqrt(np.maximum(squares, 0).min(axis=1))
