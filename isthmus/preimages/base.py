"""The protocol of a pre-image: objects and their coordinates in, ``inverse`` for many targets at once.

A target is a point of a feature space, ``Psi = sum_i G_i phi(x_i)``, [B2006]_ Sec. 3.1; it is given by
scores (then the embedding says what ``G`` is) or by the coefficients ``G`` themselves. The answer is an
object ``z`` whose image ``phi(z)`` is near ``Psi``. How near is the *full loss*

    |phi(z) - Psi|^2 = k(z, z) - 2 sum_i G_i k(x_i, z) + G' K G,

written once, in :class:`Targets`, and the same for every method and every kind of object.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import ROUNDING, Array
from isthmus._saved import saved
from isthmus._validation import BaseEstimator, check_array, check_count
from isthmus.kernels import is_precomputed, owned, take
from isthmus.preimages.targets import Targets


@saved(objects_="n .", coordinates_="n .", residual_="n", point_lengths_="m", _shares="m .")
class Preimage(BaseEstimator, ABC):
    """Base of the methods that return from points of a feature space to objects.

    A subclass defines ``_invert``, whose named arguments are the options of ``inverse``; checks and losses
    are here. A method that ranks several answers is a :class:`RankingPreimage`.
    """

    _vectors_only = True  # the answer is a new vector, so objects must be vectors
    _needs_embedding = True  # the kernel must be known, scores are not enough
    _needs_points = True  # the target must be an expansion, which waves do not give

    # -- what a subclass says ------------------------------------------------------------------

    def _prepare(self) -> None:
        """Compute what depends on the fitted objects alone."""

    @abstractmethod
    def _invert(self, targets: Targets, **options: Any) -> Any:
        """Objects for all targets: an array (n_targets, n_features), or a list."""

    # -- the protocol --------------------------------------------------------------------------

    def fit(self, objects: Any, coordinates: Any, embedding: Any = None) -> Preimage:
        """Learn from objects whose coordinates are known.

        Parameters
        ----------
        objects : array of shape (n_samples, n_features) or sequence of n_samples objects
            The objects.
        coordinates : array of shape (n_samples, n_components)
            Their coordinates. ``Learned`` alone may be given others than the objects' own: those
            that a regression predicts.
        embedding : object, default=None
            What made the coordinates (a fitted ``KernelMap``): it has ``kernel_``, ``points_``,
            ``expand(Z)`` and ``transform(objects)``. Without it the coordinates are taken as they
            are (linear kernel).

        Returns
        -------
        self : object
            The fitted pre-image.
        """
        coordinates = check_array(
            coordinates, dtype=np.float64, input_name="coordinates", ensure_min_features=0
        )
        self.embedding_ = embedding
        self.kernel_: Any = getattr(embedding, "kernel_", None)
        self._check_embedding()
        if self._vectors_only:
            require_vectors(self, objects)
            objects = check_array(objects, dtype=(np.float64, np.float32), input_name="objects")
        if len(objects) != len(coordinates):
            raise ValueError(
                f"objects and coordinates differ in length: {len(objects)} and {len(coordinates)}."
            )
        self.objects_ = owned(objects)
        self.coordinates_ = coordinates.copy()
        residual = getattr(embedding, "residual_", None)
        if embedding is None:
            residual = np.zeros(len(coordinates))
        known = residual is not None and len(residual) == len(coordinates)
        self.residual_ = np.asarray(residual, dtype=np.float64) if known else None
        self._prepare()
        return self

    def inverse(self, Z: Any, *, return_loss: bool = False, **options: Any) -> Any:
        """Return an object for every row of scores.

        Parameters
        ----------
        Z : array of shape (n_targets, n_components)
            Scores of the targets.
        return_loss : bool, default=False
            Whether to return the full losses too.
        **options
            Further options of the method: ``start``, ``anchor``, ``n_best``, ...

        Returns
        -------
        objects : array of shape (n_targets, n_features) or list
            The answers.
        losses : array of shape (n_targets,)
            ``|phi(z) - Psi|^2`` of each. Only with ``return_loss=True``.
        """
        check_is_fitted(self)
        return self._answer(self._targets(self._check_scores(Z)), return_loss, options)

    def inverse_expansion(self, coef: Any, *, return_loss: bool = False, **options: Any) -> Any:
        """Return an object for every target that is given by its expansion.

        Parameters
        ----------
        coef : array of shape (n_targets, n_points)
            One row a target: ``Psi = sum_i coef_i phi(points_i)``, with the points of the embedding
            (for an exact ``KernelMap`` the fitted objects).
        return_loss : bool, default=False
            As in :meth:`inverse`.
        **options
            As in :meth:`inverse`.

        Returns
        -------
        objects, losses
            As in :meth:`inverse`.
        """
        check_is_fitted(self)
        if self.embedding_ is None:
            raise ValueError("An expansion has no meaning without a kernel: fit with an embedding.")
        if not _has_points(self.embedding_):
            raise ValueError("The embedding has no points to expand in: give scores to inverse(Z).")
        coef = check_array(coef, dtype=np.float64, input_name="coef")
        n_points = len(self.embedding_.points_)
        if coef.shape[1] != n_points:
            raise ValueError(
                f"coef has {coef.shape[1]} columns, must have {n_points}: one per point of the embedding."
            )
        return self._answer(
            Targets(self.kernel_, self.embedding_.points_, coef), return_loss, options
        )

    # -- helpers -------------------------------------------------------------------------------

    def _check_embedding(self) -> None:
        name = type(self).__name__
        if self.embedding_ is None:
            if self._needs_embedding:
                raise ValueError(
                    f"{name} needs the kernel: hand the fitted KernelMap to fit as embedding=..."
                )
        elif self._vectors_only and is_precomputed(self.kernel_):
            raise ValueError(
                f"{name} makes new vectors and so needs the points themselves, but the kernel is "
                "'precomputed': fit the KernelMap on the points with a kernel object, or use "
                "Nearest()."
            )
        elif self._needs_points and not _has_points(self.embedding_):
            raise ValueError(
                f"{name} needs targets as sums over points, which random Fourier features do not have: "
                "use Nearest() or Learned() without refine, or KernelMap(solver='landmarks')."
            )

    def _check_scores(self, Z: Any) -> Array:
        Z = check_array(Z, dtype=np.float64, input_name="Z", ensure_min_features=0)
        if Z.shape[1] != self.coordinates_.shape[1]:
            raise ValueError(
                f"Z has {Z.shape[1]} columns, must have {self.coordinates_.shape[1]}: one per component "
                "of the fitted coordinates."
            )
        return Z

    def _targets(self, Z: Array) -> Targets:
        if is_precomputed(self.kernel_) or not _has_points(self.embedding_):
            return Targets.of_scores(None, Z)
        targets = Targets(self.kernel_, self.embedding_.points_, self.embedding_.expand(Z), Z)
        if self.residual_ is not None:
            targets.norms_from = self._squared_norms
        return targets

    def _squared_norms(self, Z: Array) -> Array:
        """``|Psi|^2 = |b|^2 + 2 b'm + |mean|^2`` for orthonormal axes, m the mean in their coordinates."""
        embedding, r = self.embedding_, Z.shape[1]
        axes = embedding.expand(np.eye(r)) - embedding.expand(np.zeros((1, r)))
        along = axes @ embedding.row_means_
        return np.maximum((Z**2).sum(axis=1) + 2.0 * Z @ along + embedding.mean_, 0.0)

    def _fitted_losses(self, targets: Targets) -> Array:
        """Full loss of every fitted object, from the scores where they are known: cost t n r."""
        if targets.scores is None or self.residual_ is None:
            return targets.losses(self.objects_)
        squared = euclidean_distances(targets.scores, self.coordinates_, squared=True)
        return squared + self.residual_

    def _nearest_objects(self, losses: Array) -> Array:
        """The fitted vector of the least loss for every target; of equals the smallest, number by number.

        Which of them comes first among the rows would be an accident.
        """
        places = losses.argmin(axis=1)
        least = np.take_along_axis(losses, places[:, None], axis=1)
        equal = losses <= least + ROUNDING * np.abs(losses).max(axis=1, initial=0.0)[:, None]
        for t in np.flatnonzero(equal.sum(axis=1) > 1):
            among = np.flatnonzero(equal[t])
            places[t] = among[np.lexsort(self.objects_[among].T[::-1])[0]]
        return np.asarray(self.objects_[places], dtype=np.float64)

    def _known_options(self) -> set[str]:
        """Names of what ``inverse`` takes besides."""
        return _named(self._invert)

    def _check_options(self, options: dict[str, Any]) -> None:
        known = self._known_options()
        unknown = sorted(set(options) - known)
        if unknown:
            takes = ", ".join(sorted(known)) or "none"
            raise TypeError(
                f"{type(self).__name__} has no options {', '.join(unknown)}; it takes "
                f"return_loss and: {takes}."
            )

    def _answer(self, targets: Targets, return_loss: bool, options: dict[str, Any]) -> Any:
        self._check_options(options)
        if len(self.objects_) == 1:
            answers = take(self.objects_, np.zeros(len(targets), dtype=int))
        else:
            answers = self._invert(targets, **options)
        if self._vectors_only:
            answers = np.asarray(answers, dtype=self.objects_.dtype)
        if return_loss:
            return (answers, self._loss(targets, answers))
        return answers

    def _loss(self, targets: Targets, answers: Any) -> Array:
        if targets.kernel is None:
            if self.kernel_ is not None and not is_precomputed(self.kernel_):
                return self._loss_of_scores(targets, answers)
            raise ValueError(
                f"The loss of an answer of {type(self).__name__} needs the kernel: fit with an "
                "embedding whose kernel is not 'precomputed'."
            )
        return targets.loss(answers)

    def _loss_of_scores(self, targets: Targets, answers: Any) -> Array:
        """``|b(z) - b|^2`` and what the axes leave out of ``phi(z)``: the full loss without points."""
        assert targets.scores is not None
        Z = np.asarray(self.embedding_.transform(answers), dtype=np.float64)
        apart = ((Z - targets.scores) ** 2).sum(axis=1)
        return np.asarray(apart + self.embedding_.residual(answers), dtype=np.float64)


class RankingPreimage(Preimage):
    """A pre-image that ranks objects it is given, so that it can return the k best of each target."""

    _vectors_only = False

    @abstractmethod
    def _ranked(self, targets: Targets, n_best: int, **options: Any) -> tuple[list[Any], Array]:
        """For each target a sequence of its ``n_best`` objects, best first, and losses (t, n_best)."""

    def inverse(
        self, Z: Any, *, return_loss: bool = False, n_best: int | None = None, **options: Any
    ) -> Any:
        """Return the best object, or the ``n_best`` best, for every row of scores.

        Parameters
        ----------
        Z : array of shape (n_targets, n_components)
            Scores of the targets.
        return_loss : bool, default=False
            Whether to return the full losses too.
        n_best : int, default=None
            Number of answers per target, best first. None gives one answer, not a list of one.
        **options
            What the method takes besides.

        Returns
        -------
        objects : array or list; list of n_targets sequences with ``n_best``
            The answers.
        losses : array of shape (n_targets,) or (n_targets, n_best)
            Their full losses. Only with ``return_loss=True``.
        """
        return super().inverse(Z, return_loss=return_loss, n_best=n_best, **options)

    def _known_options(self) -> set[str]:
        return _named(self._ranked) | {"n_best"}

    def _answer(self, targets: Targets, return_loss: bool, options: dict[str, Any]) -> Any:
        self._check_options(options)
        n_best = options.pop("n_best", None)
        if n_best is not None:
            check_count("n_best", n_best, allowed="None")
        answers, losses = self._ranked(targets, int(n_best or 1), **options)
        if n_best is None:
            answers = _firsts(answers)
            losses = losses[:, 0]
        return (answers, losses) if return_loss else answers

    def _invert(self, targets: Targets, **options: Any) -> Any:
        return _firsts(self._ranked(targets, 1, **options)[0])


def require_vectors(method: Preimage, objects: Any) -> None:
    """Refuse words, graphs and other objects of which there are no sums."""
    if not method._vectors_only or len(getattr(objects, "shape", ())) >= 2:
        return
    first = objects[0] if len(objects) else None
    try:
        found = not isinstance(first, str | bytes) and np.asarray(objects, dtype=np.float64).ndim
    except (TypeError, ValueError):
        found = 0
    if not found:
        raise ValueError(
            f"{type(method).__name__} makes new vectors, but the objects are not vectors of one length: "
            f"the first is of type {type(first).__name__}. Use Nearest(), CandidateSearch() or "
            "preimage='auto'."
        )


def _has_points(embedding: Any) -> bool:
    return getattr(embedding, "points_", None) is not None


def _named(function: Callable[..., Any]) -> set[str]:
    """Arguments with a default."""
    arguments = inspect.signature(function).parameters.values()
    return {a.name for a in arguments if a.default is not a.empty}


def _firsts(answers: Sequence[Any]) -> Any:
    """The best answer of each target; one array where the answers are rows of an array."""
    if len(answers) and isinstance(answers[0], np.ndarray):
        # Slices, because an object may itself look like an array: a tuple, a networkx graph.
        return np.concatenate([ranked[:1] for ranked in answers])
    return [ranked[0] for ranked in answers]


def rank_all(losses: Array, n_best: int) -> NDArray:
    """Places of the ``n_best`` smallest losses, in order; the last again where there are fewer."""
    order = np.argsort(losses, kind="stable")[:n_best]
    return np.pad(order, (0, n_best - len(order)), mode="edge")


def smallest(losses: NDArray, k: int) -> tuple[NDArray, NDArray]:
    """Places and values of the ``k`` smallest entries of each row, in order, ties by place."""
    k = min(k, losses.shape[1])
    order = np.argsort(losses, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(losses, order, axis=1)
