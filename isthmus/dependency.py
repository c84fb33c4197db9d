"""Kernel dependency estimation: Gamma . T . phi as one estimator."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin, clone
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from isthmus.expansion import Expansion
from isthmus.features import KernelMap
from isthmus.features.samples import check_samples, set_kernel_tags, takes_vectors
from isthmus.kernels import gram, gram_diagonal
from isthmus.kernels.gram import take
from isthmus.kernels.products import Linear
from isthmus.kernels.wrappers import is_precomputed
from isthmus.linalg import Array, spreads
from isthmus.preimages import Learned, make_preimage
from isthmus.regression import ReducedRankRegression
from isthmus.validation import check_enough_samples, check_flag, check_option

_COLLAPSE_TOL = 1e-6
_FACTOR_TOL = 1e-12
_ENOUGH_TO_HOLD_OUT = 20
_FLOATS = (np.float64, np.float32)


class DependencyRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):
    r"""Regression between any two spaces that have kernels.

    .. math::
        x \xrightarrow{\ \phi_x\ } \text{scores} \xrightarrow{\ T\ } \text{scores}
        \xrightarrow{\ \Gamma\ } y

    A map of coordinates brings inputs to a feature space, a regression ``T`` maps its coordinates to those
    of the outputs' feature space, and a pre-image ``Gamma`` brings these back to objects; [WCESV2003]_,
    [B2006]_ Ch. 1 and 3. Inputs and outputs may be vectors, strings, graphs or anything else with a kernel.

    With a linear output kernel (the default), all components and a ridge map, this is kernel ridge
    regression with an intercept, and is computed as such. After the fit, ``phi`` and a linear ``T``
    collapse into an :class:`~isthmus.Expansion`: a prediction costs n kernel values and ``n r + r q``
    operations.

    Parameters
    ----------
    inputs : transformer, default=None
        ``phi`` of the inputs, as a rule a :class:`~isthmus.KernelMap`; None: ``KernelMap()``.
    map : regressor, default=None
        ``T``: ours or any regressor of scikit-learn; None: ``Ridge()``, whose weight is 1 on the scale of
        scikit-learn's ``Ridge``: repeated rows weigh more against it. One that predicts a single output is
        fitted once for each.
    outputs : KernelMap, default=None
        ``phi`` of the outputs with its ``preimage`` (None in it means ``"auto"``). None: outputs are
        vectors and taken as they are, the linear kernel.
    solver : {"auto", "dual", "stages"}, default="auto"
        ``"dual"``: one linear system, for a ridge map on all components of an exact kernel map;
        ``"stages"``: each stage fitted for itself; told in ``solver_``.
    scale_y : bool, default=False
        Whether outputs are divided by their standard deviations before the map sees them. A map that
        shares something between outputs, such as a rank, goes by their units otherwise; plain ridge
        regression does not. Only without an output kernel: that is in units of its own.
    cv : int or None, default=5
        A learned pre-image is trained on the scores that the map predicts for samples it has not seen, in
        this many folds (leave-one-out, in closed form, with the dual solver), and its ridge weight is
        chosen by a fifth of the samples that no stage has seen. None: on the true ones.

    Attributes
    ----------
    inputs_, map_, outputs_, preimage_ : fitted stages
        ``inputs_`` and ``map_`` with ``solver_ == "stages"``; the last two where outputs have a kernel.
    expansion_ : Expansion or None
        What phi and T collapsed into, r functions; None where T is not linear.
    y_loadings_ : ndarray of shape (n_components_y, r) or None
        Orthonormal columns that bring those functions to the output scores; None means the identity.
    embedding_intercept_ : ndarray of shape (n_components_y,)
        Constant term of the output scores.
    y_scale_ : ndarray of shape (n_targets,) or None
        What the outputs were divided by; None means nothing. The attributes above are of the outputs so
        divided.
    solver_ : str
        The solver that was used.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from isthmus import DependencyRegressor, KernelMap
    >>> x = np.linspace(0, 3, 40)[:, None]
    >>> y = np.hstack([np.sin(2 * x), np.cos(2 * x)])  # a circle
    >>> model = DependencyRegressor(
    ...     KernelMap(gamma=2.0),
    ...     Ridge(1e-3),
    ...     KernelMap(gamma=0.5, preimage="fixed_point"),
    ... ).fit(x, y)
    >>> model.predict([[0.5]]).round(1)
    array([[0.8, 0.5]])
    """

    expansion_: Expansion | None
    y_loadings_: Array | None
    y_scale_: Array | None = None

    def __init__(
        self,
        inputs: Any = None,
        map: Any = None,
        outputs: Any = None,
        *,
        solver: str = "auto",
        scale_y: bool = False,
        cv: int | None = 5,
    ) -> None:
        self.inputs = inputs
        self.map = map
        self.outputs = outputs
        self.solver = solver
        self.scale_y = scale_y
        self.cv = cv

    # -- fit -----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any) -> DependencyRegressor:
        """Fit all stages.

        Parameters
        ----------
        X : array of shape (n_samples, n_features) or sequence of objects
            Inputs; a square matrix of kernel values where the inputs' kernel is precomputed.
        y : array of shape (n_samples,) or (n_samples, n_targets), or sequence of objects
            Outputs.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        check_option("solver", self.solver, ("auto", "dual", "stages"))
        check_flag("scale_y", self.scale_y)
        inputs = KernelMap() if self.inputs is None else clone(self.inputs)
        map_ = Ridge() if self.map is None else clone(self.map)
        for stage in (inputs, self.outputs):
            if isinstance(stage, KernelMap):
                stage._check_options()
        X, Y = self._check_rows(X, y, inputs)
        check_enough_samples(len(Y))
        for name in ("inputs_", "map_", "outputs_", "preimage_", "expansion_", "y_loadings_"):
            self.__dict__.pop(name, None)
        self.y_scale_ = self._output_scale(Y)
        Y = Y if self.y_scale_ is None else Y / self.y_scale_
        Psi = self._embed_outputs(Y)
        dual = self.solver != "stages" and self._fit_dual(X, Psi, inputs, map_)
        if not dual:
            if self.solver == "dual":
                raise ValueError(
                    "solver == 'dual' needs KernelMap(n_components=None), exact and centred, as inputs and "
                    "Ridge or ReducedRankRegression with alpha > 0, of full rank, as map: use 'auto'."
                )
            self._fit_stages(X, Psi, inputs, map_)
        self.solver_ = "dual" if dual else "stages"
        if self.outputs_ is not None:
            self._fit_preimage(X, Y, Psi, inputs, map_)
        self.__dict__.pop("_loo_scores", None)
        return self

    def _check_rows(self, X: Any, y: Any, inputs: Any) -> tuple[Any, Any]:
        if y is None:
            raise ValueError(
                "This DependencyRegressor estimator requires y to be passed, but the target y is None."
            )
        kernel = getattr(inputs, "kernel", "linear")
        vectors = takes_vectors(kernel, X)
        if vectors:
            X = validate_data(self, X, dtype=_FLOATS, ensure_min_samples=1)
        else:
            X = check_samples(self, X, kernel, reset=True)
        self._y_is_1d = False
        self._vector_outputs = self.outputs is None or takes_vectors(self.outputs.kernel, y)
        if self._vector_outputs:
            Y = check_array(y, dtype=_FLOATS, ensure_2d=False, input_name="y")
            self._y_is_1d = Y.ndim == 1
            Y = Y.reshape(len(Y), -1)
        else:
            Y = y if isinstance(y, np.ndarray) else list(y)
        check_consistent_length(X, Y)
        single = any(getattr(Z, "dtype", None) == np.float32 for Z in (X, Y))
        self._single = single and _is_single(X) and _is_single(Y)
        return X, Y

    def _output_scale(self, Y: Any) -> Array | None:
        if not self.scale_y:
            return None
        if not self._linear_outputs():
            raise ValueError(
                "scale_y == True is for outputs without a kernel, outputs=None: scale them yourself, as "
                "with scikit-learn's TransformedTargetRegressor, and give the kernel its width."
            )
        return spreads(np.asarray(Y, dtype=np.float64))

    def _in_units(self, Y: Any) -> Any:
        """From the outputs that the stages know to those of the user."""
        return Y if self.y_scale_ is None else Y * self.y_scale_

    def _embed_outputs(self, Y: Any) -> Array:
        """Output scores; a linear kernel on vectors needs none but the outputs themselves."""
        self.outputs_: Any = None
        if self._linear_outputs():
            return np.asarray(Y, dtype=np.float64)
        self.outputs_ = clone(self.outputs).set_params(preimage=None)
        return np.asarray(self.outputs_.fit_transform(Y), dtype=np.float64)

    def _linear_outputs(self) -> bool:
        if self.outputs is None:
            return True
        if type(self.outputs) is not KernelMap or self.outputs.n_components is not None:
            return False
        kernel, preimage = self.outputs.kernel, self.outputs.preimage
        is_linear = isinstance(kernel, Linear) or (isinstance(kernel, str) and kernel == "linear")
        return is_linear and (preimage is None or preimage in ("auto", "exact"))

    # -- one linear system ---------------------------------------------------------------------

    def _fit_dual(self, X: Any, Psi: Array, inputs: Any, map_: Any) -> bool:
        """Kernel ridge with an intercept, ``(K + alpha I) a + 1 b' = Psi``, ``1'a = 0``; False if not.

        It equals ridge on all centred kernel components, whose eigenvectors are never needed.
        """
        alpha = _ridge_weight(map_)
        if type(inputs) is not KernelMap or alpha is None:
            return False
        if (
            inputs.n_components is not None
            or not inputs.center
            or inputs._chosen_solver(len(X)) != "exact"
        ):
            return False
        kernel = inputs._resolve(X)
        K = gram(kernel, X, n_jobs=inputs.n_jobs)
        if getattr(kernel, "positive_semidefinite", False) is False:
            return False  # the kernel map knows what to do with negative eigenvalues
        K = np.asarray(K, dtype=np.float64, order="F")
        if np.ptp(K[:, 0]) == 0 and np.ptp(K) == 0:
            raise ValueError("The kernel does not tell any two samples apart: X is constant.")
        n, q = Psi.shape
        K.flat[:: n + 1] += alpha
        factor, info = lapack.dpotrf(
            K.T if K.flags.c_contiguous else K, lower=1, overwrite_a=1, clean=0
        )
        if info:  # a ridge too small for a singular kernel matrix
            return False
        # Centred outputs lose no digits to a large mean.
        mean = Psi.mean(axis=0)
        solved, _ = lapack.dpotrs(factor, np.column_stack([Psi - mean, np.ones(n)]), lower=1)
        a, u = solved[:, :q], solved[:, q]
        total = float(u.sum())
        offset = a.sum(axis=0) / total
        a = a - np.outer(u, offset)
        intercept = mean + offset
        if self.cv is not None and self.outputs_ is not None:
            inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
            self._loo_scores = Psi - a / (inverse.diagonal() - u**2 / total)[:, None]
        points = np.arange(n) if is_precomputed(kernel) else X
        self.expansion_ = Expansion(points, a, kernel, values=Psi - alpha * a - intercept)
        self.embedding_intercept_, self.y_loadings_ = intercept, None
        return True

    # -- stages --------------------------------------------------------------------------------

    def _fit_stages(self, X: Any, Psi: Array, inputs: Any, map_: Any) -> None:
        self.inputs_ = inputs
        Phi = inputs.fit_transform(X)
        self.map_ = self._for_all_outputs(map_, Psi.shape[1])
        self.map_.fit(Phi, Psi[:, 0] if Psi.shape[1] == 1 else Psi)
        self.expansion_, self.y_loadings_ = None, None
        self.embedding_intercept_ = np.zeros(Psi.shape[1])
        self._collapse(Phi)

    @staticmethod
    def _for_all_outputs(map_: Any, n_outputs: int) -> Any:
        single = n_outputs > 1 and not get_tags(map_).target_tags.multi_output
        return MultiOutputRegressor(map_) if single else map_

    def _collapse(self, Phi: Array) -> None:
        """Make an expansion of phi and a linear T, where T proves to be linear."""
        if (
            not hasattr(self.inputs_, "collapse")
            or getattr(self.inputs_, "solver_", "") == "fourier"
        ):
            return
        factors = _map_factors(self.map_)
        if factors is None:
            return
        W, V, intercept = factors
        rows = Phi[:5]
        linear = rows @ W @ (np.eye(W.shape[1]) if V is None else V.T) + intercept
        direct = np.asarray(self.map_.predict(rows)).reshape(linear.shape)
        if np.abs(linear - direct).max() > _COLLAPSE_TOL * max(float(np.abs(direct).max()), 1e-300):
            return
        coef, offset = self.inputs_.collapse(W)
        values = Phi @ W - offset
        if len(self.inputs_.points_) != len(Phi):
            values = None
        self.expansion_ = Expansion(
            self.inputs_.points_, coef, self.inputs_.kernel_, offset, values=values
        )
        self.y_loadings_, self.embedding_intercept_ = V, intercept

    # -- pre-image -----------------------------------------------------------------------------

    def _fit_preimage(self, X: Any, Y: Any, Psi: Array, inputs: Any, map_: Any) -> None:
        chosen = self.outputs.preimage
        method = make_preimage("auto" if chosen is None else chosen, self.outputs_.kernel_, Y)
        coordinates = Psi
        if isinstance(method, Learned) and self.cv is not None:
            coordinates = self._unseen_scores(X, Psi, inputs, map_)
            if np.size(method.alpha) > 1 and len(Psi) >= _ENOUGH_TO_HOLD_OUT:
                method.set_params(alpha=self._held_out_alpha(X, Y, Psi, inputs, map_, method))
        self.preimage_ = method.fit(Y, coordinates, self.outputs_)

    def _unseen_scores(self, X: Any, Psi: Array, inputs: Any, map_: Any) -> Array:
        """Output scores predicted for samples that were left out."""
        if hasattr(self, "_loo_scores"):
            return self._loo_scores
        folds = min(int(self.cv), len(Psi)) if self.cv is not None else 2
        if folds < 2:
            raise ValueError(f"cv == {self.cv}, must be >= 2 or None.")
        road = make_pipeline(clone(inputs), self._for_all_outputs(clone(map_), Psi.shape[1]))
        splits = KFold(folds, shuffle=True, random_state=0)
        return np.asarray(cross_val_predict(road, X, Psi, cv=splits)).reshape(Psi.shape)

    def _held_out_alpha(
        self, X: Any, Y: Any, Psi: Array, inputs: Any, map_: Any, method: Learned
    ) -> float:
        """Ridge weight of the pre-image by a fifth of the samples that no stage has seen.

        The scores predicted for one left-out sample depend on all others, so the pre-image's own
        leave-one-out error looks better than it is and asks for too little ridge.
        """
        order = np.random.default_rng(0).permutation(len(Psi))
        held, rest = order[: len(Psi) // 5], order[len(Psi) // 5 :]
        X_rest, X_held, Psi_rest = take(X, rest), take(X, held), Psi[rest]
        if get_tags(self).input_tags.pairwise:
            X_rest, X_held = X_rest[:, rest], X_held[:, rest]
        part = clone(self)
        part.outputs_ = self.outputs_
        inputs, map_ = clone(inputs), clone(map_)
        if self.solver == "stages" or not part._fit_dual(X_rest, Psi_rest, inputs, map_):
            part._fit_stages(X_rest, Psi_rest, inputs, map_)
        unseen, predicted = (
            part._unseen_scores(X_rest, Psi_rest, inputs, map_),
            part._scores(X_held),
        )
        errors, unit = [], spreads(np.asarray(Y, dtype=np.float64))
        for alpha in np.atleast_1d(method.alpha):
            trial = clone(method).set_params(alpha=float(alpha), refine=None)
            answers = trial.fit(Y[rest], unseen, self.outputs_).inverse(predicted)
            errors.append(float((((answers - Y[held]) / unit) ** 2).mean()))
        return float(np.atleast_1d(method.alpha)[int(np.argmin(errors))])

    # -- prediction ----------------------------------------------------------------------------

    def predict_embedding(self, X: Any) -> Array:
        """Points of the output feature space, as scores (n_samples, n_components_y).

        With a linear output kernel they are the predicted outputs themselves.
        """
        check_is_fitted(self)
        X = self._check_new(X)
        return self._in_units(self._scores(X)).astype(self._out_dtype(X), copy=False)

    def _out_dtype(self, X: Any) -> Any:
        """Single precision where all that was fitted and what is asked for is; inside it is double."""
        return np.float32 if self._single and _is_single(X) else np.float64

    def _scores(self, X: Any) -> Array:
        if self.expansion_ is None:
            scores = np.asarray(self.map_.predict(self.inputs_.transform(X)))
            return scores.reshape(len(scores), -1)
        values = self.expansion_(X)
        if self.y_loadings_ is not None:
            values = values @ self.y_loadings_.T
        values += self.embedding_intercept_
        return values

    def predict(self, X: Any, *, return_loss: bool = False, **options: Any) -> Any:
        """Predict objects.

        Parameters
        ----------
        X : array of shape (n_samples, n_features) or sequence of objects
            New inputs.
        return_loss : bool, default=False
            Whether to return, for each prediction, the squared distance of its image from the predicted
            point of the feature space. Only where outputs have a kernel of their own.
        **options
            What the pre-image takes: ``start``, ``anchor``, ``n_best``, ...

        Returns
        -------
        y : array of shape (n_samples[, n_targets]) or list
            Predictions, in the shape of what was fitted.
        losses : array of shape (n_samples,)
            Only with ``return_loss=True``.
        """
        check_is_fitted(self)
        X = self._check_new(X)
        scores, dtype = self._scores(X), self._out_dtype(X)
        if self.outputs_ is None:
            if return_loss or options:
                raise ValueError(
                    "return_loss and options of a pre-image need outputs=KernelMap(...) with a kernel that "
                    "is not linear: here the predicted point is the prediction."
                )
            scores = self._in_units(scores).astype(dtype, copy=False)
            return scores[:, 0] if self._y_is_1d else scores
        found = self.preimage_.inverse(scores, return_loss=return_loss, **options)
        answers = found[0] if return_loss else found
        if self._y_is_1d and isinstance(answers, np.ndarray) and answers.ndim == 2:
            answers = answers[:, 0]
        if self._vector_outputs and isinstance(answers, np.ndarray):
            answers = answers.astype(dtype, copy=False)
        return (answers, found[1]) if return_loss else answers

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R2 for vectors, else one less the normalised loss of the output kernel.

        The loss is ``mean |phi(y) - phi(predicted)|^2 / mean |phi(y) - mean|^2``: 1 is perfect, 0 as good
        as the mean of the training outputs, which no object need attain.
        """
        predicted = self.predict(X)
        if self._vector_outputs:
            return float(r2_score(y, predicted, sample_weight=sample_weight))
        assert self.outputs_ is not None
        kernel = self.outputs_.kernel_
        truth = y if isinstance(y, np.ndarray) else list(y)
        own = gram_diagonal(kernel, truth)
        losses = own + gram_diagonal(kernel, predicted) - 2.0 * _paired(kernel, truth, predicted)
        spread = own.astype(np.float64)
        if self.outputs_.center:
            cross = gram(kernel, truth, self.outputs_.points_) @ self.outputs_.mean_coef_
            spread = own - 2.0 * cross + self.outputs_.mean_
        return 1.0 - float(np.average(losses, weights=sample_weight)) / float(
            np.average(spread, weights=sample_weight)
        )

    def _check_new(self, X: Any) -> Any:
        kernel = getattr(self.inputs, "kernel", "rbf" if self.inputs is None else "linear")
        if takes_vectors(kernel, X):
            return validate_data(self, X, reset=False, dtype=_FLOATS)
        return check_samples(self, X, kernel, reset=False)

    # -- compression ---------------------------------------------------------------------------

    def to_expansion(self) -> Expansion:
        """Functions whose values are those of ``predict``, or of ``predict_embedding``.

        The former where the output kernel is linear, the latter where it is not.
        """
        inner = self.inner_expansion()
        coef, constant = inner.coef.reshape(inner.n_points, -1), inner.intercept
        values = None if inner.values is None else inner.values.reshape(coef.shape)
        if self.y_loadings_ is not None:
            V = self.y_loadings_
            constant = np.broadcast_to(constant, (V.shape[1],)) @ V.T
            coef, values = coef @ V.T, None if values is None else values @ V.T
        constant = constant + self.embedding_intercept_
        coef, constant = self._in_units(coef), self._in_units(constant)
        values = None if values is None else self._in_units(values)
        if self.outputs_ is None and self._y_is_1d:
            coef, constant = coef[:, 0], constant[0]
            values = None if values is None else values[:, 0]
        return Expansion(inner.points, coef, inner.kernel, constant, values=values)

    def with_expansion(self, expansion: Expansion) -> DependencyRegressor:
        """The same fitted model with other functions in place of those of :meth:`to_expansion`."""
        self.inner_expansion()
        q = len(self.embedding_intercept_)
        if expansion.n_outputs != q:
            raise ValueError(f"expansion has {expansion.n_outputs} outputs, must have {q}.")
        other = copy.copy(self)
        coef, constant = expansion.coef.reshape(-1, q), np.broadcast_to(expansion.intercept, (q,))
        other.expansion_ = Expansion(expansion.points, coef, expansion.kernel)
        other.y_scale_ = None  # they are in the units of the outputs
        other.y_loadings_, other.embedding_intercept_ = None, np.array(constant)
        return other

    def inner_expansion(self) -> Expansion:
        """The r functions that phi and T collapsed into, which :func:`isthmus.compress` makes smaller.

        Their values times ``y_loadings_.T``, plus ``embedding_intercept_``, are the output scores; of
        outputs divided by ``y_scale_``, where there is one.
        """
        check_is_fitted(self)
        if self.expansion_ is None:
            raise ValueError(
                f"{type(self.map).__name__} is not a linear map of kernel coordinates, so there is no "
                "expansion."
            )
        return self.expansion_

    def with_inner_expansion(self, expansion: Expansion) -> DependencyRegressor:
        """The same fitted model with as many other functions before the loadings."""
        old = self.inner_expansion()
        if expansion.n_outputs != old.n_outputs:
            raise ValueError(
                f"expansion has {expansion.n_outputs} outputs, must have {old.n_outputs}."
            )
        other = copy.copy(self)
        other.expansion_ = expansion
        return other

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        kernel = getattr(self.inputs, "kernel", "rbf")
        return set_kernel_tags(tags, kernel)


def _is_single(samples: Any) -> bool:
    """Whether samples are in single precision; objects have none of their own and follow the others."""
    kind = getattr(getattr(samples, "dtype", None), "kind", "O")
    return kind != "f" or samples.dtype == np.float32


def _ridge_weight(map_: Any) -> float | None:
    """The ridge weight of a map that is plain ridge regression with an intercept, else None."""
    if type(map_) is Ridge:
        plain = map_.fit_intercept and not map_.positive and np.ndim(map_.alpha) == 0
        return float(map_.alpha) if plain and map_.alpha > 0 else None
    if type(map_) is ReducedRankRegression:
        plain = map_.n_components is None and not map_.scale and map_.missing == "error"
        number = isinstance(map_.alpha, int | float) and map_.alpha > 0
        return float(map_.alpha) if plain and number else None
    return None


def _map_factors(map_: Any) -> tuple[Array, Array | None, Array] | None:
    """``W, V, b`` of a linear map ``Phi @ W @ V' + b`` with orthonormal V; None where there is no such."""
    if not hasattr(map_, "coef_") or np.ndim(map_.coef_) not in (1, 2):
        return None
    coef = np.atleast_2d(np.asarray(map_.coef_, dtype=np.float64))
    # What it predicts at zero: some keep the constant of centred features.
    intercept = np.asarray(map_.predict(np.zeros((1, coef.shape[1]))), dtype=np.float64).ravel()
    rank = np.shape(getattr(map_, "x_rotations_", coef.T))[1]
    factors = _two_factors(coef, rank) if rank < min(coef.shape) else None
    W, V = (coef.T, None) if factors is None else factors
    return W, V, intercept


def _two_factors(coef: Array, rank: int) -> tuple[Array, Array] | None:
    """``coef.T == W V'`` of a known rank, V orthonormal: coef times as many random columns spans its range.

    The factors that a map keeps are those of scaled features and targets; these hold whatever the scaling.
    """
    columns = np.random.default_rng(0).normal(size=(coef.shape[1], rank))
    V = np.linalg.qr(coef @ columns)[0]
    W = coef.T @ V
    scale = float(np.abs(coef).max(initial=0.0))
    exact = np.allclose(W @ V.T, coef.T, rtol=1e-10, atol=_FACTOR_TOL * scale)
    return (W, V) if exact else None


def _paired(kernel: Any, A: Any, B: Any, size: int = 32) -> NDArray:
    """``k(a_t, b_t)``, by small square blocks."""
    parts = [
        np.diagonal(gram(kernel, A[i : i + size], B[i : i + size])) for i in range(0, len(A), size)
    ]
    return np.concatenate(parts)
