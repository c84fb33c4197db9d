"""Kernel dependency estimation: Gamma . T . phi as one estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin, clone
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from isthmus._linalg import Array
from isthmus._saved import saved
from isthmus._validation import (
    BaseEstimator,
    check_array,
    check_enough_samples,
    check_flag,
    check_option,
    finite_answer,
)
from isthmus.dependency.expansions import ExpansionMixin
from isthmus.dependency.kernel_score import kernel_score
from isthmus.dependency.linear_part import (
    embed_inputs,
    fit_map,
    for_all_outputs,
    in_kernel_units,
    join_stages,
    scales_columns,
    solve_dual,
)
from isthmus.dependency.stages import StagesMixin
from isthmus.dependency.streamed import fit_source, forget_stages, is_single
from isthmus.dependency.unseen import Training, counted_samples, prepare_learned
from isthmus.expansion import Expansion
from isthmus.features import KernelMap, accepts_sparse, check_samples, set_kernel_tags
from isthmus.kernels import is_precomputed, length, owned, refuse_sparse, takes_vectors
from isthmus.preimages import Learned, make_preimage
from isthmus.problems import Rows, checked_folds
from isthmus.problems.streams import FittedToBlocks, as_rows, by_blocks, score_source

_FLOATS = (np.float64, np.float32)


@saved(expansion___coef="n q|n r", y_loadings_="-|q r", embedding_intercept_="q")
class DependencyRegressor(
    FittedToBlocks, ExpansionMixin, StagesMixin, MultiOutputMixin, RegressorMixin, BaseEstimator
):
    r"""Predict between any two spaces that have kernels.

    .. math::
        x \xrightarrow{\ \phi_x\ } \text{scores} \xrightarrow{\ T\ } \text{scores}
        \xrightarrow{\ \Gamma\ } y

    ``phi`` embeds the inputs in a feature space, a regression ``T`` maps their coordinates to those of the
    outputs, and a pre-image ``Gamma`` returns from there to objects; [WCESV2003]_, [B2006]_ Ch. 1 and 3.
    Inputs and outputs may be vectors, strings, graphs or other objects with a kernel.

    With a linear output kernel (the default), all components and a ridge map, this is kernel ridge
    regression with an intercept, and is computed as such. After the fit, ``phi`` and a linear ``T`` are
    one :class:`~isthmus.Expansion`: a prediction costs n kernel values and ``n r + r q`` operations.

    Parameters
    ----------
    inputs : transformer, default=None
        ``phi`` of the inputs, usually a :class:`~isthmus.KernelMap`. None: for vectors with ``map=None``
        an RBF kernel of one of five widths or the linear kernel, on standardised inputs, whichever has
        the least error of rows left out one by one (of 500; narrower widths also of up to 2000); with a
        map that is given ``KernelMap()``. For strings and lists of strings
        ``SequenceKernel(0.3, normalise=True)``, for graphs and molecules
        ``Gaussian(WeisfeilerLehmanAssignment(3))`` (others: :func:`~isthmus.kernels.graph_kernels`), for
        arrays with one vector or picture per place ``VectorSequenceKernel()``.
    map : regressor, default=None
        ``T``: a regression of this package or of scikit-learn. None: ridge regression, its weight the one
        of 25 with the least error of rows left out one by one, the same for all outputs; each output
        counts in units of its standard deviation, objects in their feature space. Equal inputs are left
        out together. More than 2000 rows are represented by some of them. For graphs and molecules to
        numbers with ``inputs=None`` it is a ``RidgeCV`` from 0.001 to 10. A weight that is a number is on
        the scale of scikit-learn's ``Ridge``. A regressor for a single output is fitted once per
        output. One that would scale its columns (``PLS(scale=True)``) is told not to scale the
        coordinates of a kernel, of which the last are rounding; outputs without a kernel are still scaled.
    outputs : KernelMap, default=None
        ``phi`` of the outputs with its ``preimage`` (there None means ``"auto"``). None: outputs are
        vectors with the linear kernel, or strings or lists of strings with the kernel above.
    candidates : generator, "auto" or None, default="auto"
        What proposes answers for an input: an object of :mod:`isthmus.preimages`, or one of your own with
        ``fit(X, y)`` and ``candidates(X, n_best)``. They are ranked by the loss of the predicted point
        minus a weighted log-probability; ridge (with ``map=None`` or ``RidgeCV``) and weight by
        cross-validation on rows that neither generator nor regression have seen, [BPDR2016]_. "auto":
        of at least 30 sequences from sequences, :class:`~isthmus.preimages.LogPool` or
        ``AlignedClassifier(chain=False)``, if held-out answers are nearer to the truth than neighbours',
        and for strings left to the defaults of an open search, whose kernels (n-grams, words at
        places) are chosen so. None: an open search. Generators do not see ``sample_weight``.
    solver : {"auto", "dual", "stages"}, default="auto"
        "dual": one linear system, for a ridge map on all components of an exact kernel map; up to some
        9000 rows (6000 with an output kernel; any number with ``KernelMap(solver="exact")``). "stages": one
        after the other; "auto": "dual" if possible.
    scale_y : bool, default=False
        Whether to divide outputs by their standard deviations before the map is fitted. Without it, a map
        that shares something between outputs, such as a rank, depends on their units; a ridge does not.
        Only without an output kernel, which has units of its own.
    cv : int, list of splits or None, default=5
        Folds in which the map predicts the scores of held-out samples, on which a learned pre-image is
        trained (leave-one-out, in closed form, for an integer with the dual solver). Its ridge weight is
        chosen on a fifth of the samples that no stage has used, or on the first split. None: train on
        the true scores. Copies of a sample are held out together, unless given splits part them.

    Attributes
    ----------
    inputs_, map_, outputs_, preimage_ : fitted stages
        The first two with ``solver_ == "stages"``, the last two if outputs have a kernel. If a ridge map
        has too many rows for "dual", ``inputs_`` are :class:`~isthmus.Landmarks`.
    expansion_ : Expansion or None
        phi and T as one function, with r outputs; None if T is not linear.
    y_loadings_ : ndarray of shape (n_components_y, r) or None
        Orthonormal columns that map those outputs to the output scores; None: the identity.
    embedding_intercept_ : ndarray of shape (n_components_y,)
        Constant term of the output scores.
    search_ : {"candidates", "open"} or None
        How answers are found, if outputs have a kernel.
    candidates_ : object or None
        The ranking of candidates, with ``generator_``, ``alpha_``, ``weight_`` and ``cv_results_``.
    sizes_ : DependencyRegressor or None
        Predicts the sizes of answers that ``SequenceSearch`` looks for.
    y_scale_ : ndarray of shape (n_targets,) or None
        Standard deviations that the outputs were divided by, or None. The attributes above are those of
        the divided outputs.
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
        candidates: Any = "auto",
        solver: str = "auto",
        scale_y: bool = False,
        cv: int | None = 5,
    ) -> None:
        self.inputs = inputs
        self.map = map
        self.outputs = outputs
        self.candidates = candidates
        self.solver = solver
        self.scale_y = scale_y
        self.cv = cv

    # -- fit -----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> DependencyRegressor:
        """Fit all stages.

        Parameters
        ----------
        X : array of shape (n_samples, n_features) or sequence of objects
            Inputs, rows of a sparse matrix too; kernel values where the kernel is precomputed; ``Rows``
            (vector outputs, landmarks).
        y : array of shape (n_samples,) or (n_samples, n_targets), or sequence of objects
            Outputs.
        sample_weight : array-like of shape (n_samples,), default=None
            A sample of weight w counts as w equal ones in both embeddings, in the map and in a learned
            pre-image; a sample of weight zero is left out.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        check_option("solver", self.solver, ("auto", "dual", "stages"))
        check_flag("scale_y", self.scale_y)
        self._choose_defaults(X, y)
        if (source := as_rows(X, y, sample_weight)) is not None:
            return self._fit_source(source)
        inputs = clone(KernelMap() if self._phi_x is None else self._phi_x)
        for stage in (inputs, self._phi_y):
            if isinstance(stage, KernelMap):
                stage._check_options()
        X, Y = self._check_rows(X, y, inputs)
        folds = None if self._linear_outputs() else checked_folds(self.cv, len(Y))
        X, Y, weights, folds = counted_samples(X, Y, sample_weight, folds, inputs, self.map)
        check_enough_samples(len(Y))
        forget_stages(self)
        inputs = self._fit_candidates(X, Y, inputs)
        chosen = self._make_map()
        map_ = Ridge() if chosen is None else chosen
        self.y_scale_ = self._output_scale(Y, scales_columns(map_, inputs), weights)
        map_ = in_kernel_units(map_, inputs, self._phi_y)
        Y = Y if self.y_scale_ is None else Y / self.y_scale_
        Psi = self._embed_outputs(Y, weights)
        if chosen is None:
            inputs, map_ = self._choose_ridge(X, Y, Psi, inputs, weights)
        dual = self.solver != "stages" and self._fit_dual(X, Psi, inputs, map_, weights)
        if not dual:
            if self.solver == "dual":
                raise ValueError(
                    "solver == 'dual' needs KernelMap(n_components=None), exact and centred, as inputs and "
                    "Ridge or ReducedRankRegression with alpha > 0, of full rank, as map: use 'auto'."
                )
            self._fit_stages(X, Psi, inputs, map_, weights)
        self.solver_ = "dual" if dual else "stages"
        if self.outputs_ is not None:
            self._fit_preimage(Training(self, inputs, map_, X, Psi, weights, folds), Y)
        self.__dict__.pop("_loo_scores", None)
        return self

    def _fit_source(self, source: Rows) -> DependencyRegressor:
        """Fit all stages to blocks of rows."""
        found = fit_source(self, source)
        forget_stages(self)
        self._y_is_1d, self._vector_outputs = source.y_is_1d, True
        for name, value in found.items():
            setattr(self, name, value)
        self._name_columns(source, self.inputs_.n_features_in_)
        return self

    def _check_rows(self, X: Any, y: Any, inputs: Any) -> tuple[Any, Any]:
        if y is None:
            raise ValueError(
                "This DependencyRegressor estimator requires y to be passed, but the target y is None."
            )
        X = self._check_inputs(X, getattr(inputs, "kernel", "linear"), reset=True)
        self._y_is_1d = False
        self._vector_outputs = self._phi_y is None or takes_vectors(self._phi_y.kernel, y)
        if self._vector_outputs:
            Y = check_array(y, dtype=_FLOATS, ensure_2d=False, input_name="y")
            self._y_is_1d = Y.ndim == 1
            Y = Y.reshape(len(Y), -1)
        else:
            Y = y if isinstance(y, np.ndarray) else list(y)
        check_consistent_length(X, Y)
        single = any(getattr(Z, "dtype", None) == np.float32 for Z in (X, Y))
        self._single = single and is_single(X) and is_single(Y)
        return X, Y

    # -- one linear system ---------------------------------------------------------------------

    def _fit_dual(
        self, X: Any, Psi: Array, inputs: Any, map_: Any, weights: Array | None = None
    ) -> bool:
        """Fit phi and T as one ridge problem; return False if they are not one."""
        learns = self.outputs_ is not None and self._learned_preimage() is not None
        unseen = np.isscalar(self.cv) and learns
        found = solve_dual(inputs, map_, X, Psi, leave_one_out=unseen, weights=weights)
        if found is None:
            return False
        kernel, solved = found
        if solved.left_out is not None:
            self._loo_scores = solved.left_out
        points = np.arange(len(Psi)) if is_precomputed(kernel) else owned(X)
        # As large as a kernel matrix where outputs have one; candidates keep one more.
        values = solved.values if self.candidates_ is None else None
        self.expansion_ = Expansion(points, solved.dual_coef, kernel, values=values)
        self.embedding_intercept_ = solved.intercept
        self.y_loadings_ = None
        return True

    # -- stages --------------------------------------------------------------------------------

    def _fit_stages(
        self, X: Any, Psi: Array, inputs: Any, map_: Any, weights: Array | None = None
    ) -> None:
        self.inputs_, Phi = embed_inputs(inputs, map_, X, weights)
        self.map_ = for_all_outputs(map_, Psi.shape[1])
        fit_map(self.map_, Phi, Psi[:, 0] if Psi.shape[1] == 1 else Psi, weights)
        self.expansion_, self.y_loadings_ = None, None
        self.embedding_intercept_ = np.zeros(Psi.shape[1])
        joined = join_stages(self.inputs_, self.map_, Phi)
        if joined is not None:
            self.expansion_, self.y_loadings_, self.embedding_intercept_ = joined

    # -- pre-image -----------------------------------------------------------------------------

    def _fit_preimage(self, training: Training, Y: Any) -> None:
        chosen = self._phi_y.preimage
        method = make_preimage("auto" if chosen is None else chosen, self.outputs_.kernel_, Y)
        if isinstance(method, Learned):
            coordinates = prepare_learned(method, training, Y)
            weights = training.weights
            self.preimage_ = method.fit(Y, coordinates, self.outputs_, sample_weight=weights)
        else:
            self.preimage_ = method.fit(Y, training.Psi, self.outputs_)
        self._fit_sizes(training.X, Y, method)

    # -- prediction ----------------------------------------------------------------------------

    @by_blocks
    def predict_embedding(self, X: Any) -> Array:
        """Return output scores (n_samples, n_components_y); with a linear output kernel, the outputs."""
        check_is_fitted(self)
        X = self._check_new(X)
        scores = self._in_units(self._scores(X)).astype(self._out_dtype(X), copy=False)
        return finite_answer(self, scores)

    def _out_dtype(self, X: Any) -> Any:
        """Return float32 if the training and query data are float32; computations are in float64."""
        return np.float32 if self._single and is_single(X) else np.float64

    def _scores(self, X: Any) -> Array:
        if self.expansion_ is None:
            return np.reshape(self.map_.predict(self.inputs_.transform(X)), (length(X), -1))
        values = self.expansion_(X)
        if self.y_loadings_ is not None:
            values = values @ self.y_loadings_.T
        values += self.embedding_intercept_
        return values

    @by_blocks
    def predict(self, X: Any, *, return_loss: bool = False, **options: Any) -> Any:
        """Predict objects.

        Parameters
        ----------
        X : array of shape (n_samples, n_features) or sequence of objects
            New inputs.
        return_loss : bool, default=False
            Whether to return, for each prediction, the squared distance of its image from the predicted
            point of the feature space. Only if outputs have a kernel of their own.
        **options
            Options of the pre-image: ``start``, ``anchor``, ``n_best``, ...; candidates have ``n_best``
            alone, and other options lead to an open search.

        Returns
        -------
        y : array of shape (n_samples[, n_targets]) or list
            Predictions, in the shape of the training outputs.
        losses : array of shape (n_samples,)
            Only with ``return_loss=True``.
        """
        check_is_fitted(self)
        X = self._check_new(X)
        scores = finite_answer(self, self._scores(X))
        dtype = self._out_dtype(X)
        self._warn_unrelated(X, scores)
        if self.outputs_ is None:
            if return_loss or options:
                raise ValueError(
                    "return_loss and options of a pre-image need outputs=KernelMap(...) with a kernel that "
                    "is not linear."
                )
            scores = self._in_units(scores).astype(dtype, copy=False)
            return finite_answer(self, scores[:, 0] if self._y_is_1d else scores)
        if self.candidates_ is not None and not set(options) - {"n_best"}:
            found = self._by_candidates(X, scores, options.get("n_best"), return_loss)
            return found if return_loss else found[0]
        options = self._with_sizes(X, options)
        found = self.preimage_.inverse(scores, return_loss=return_loss, **options)
        answers = found[0] if return_loss else found
        if self._y_is_1d and isinstance(answers, np.ndarray) and answers.ndim == 2:
            answers = answers[:, 0]
        if self._vector_outputs and isinstance(answers, np.ndarray):
            answers = answers.astype(dtype, copy=False)
        return (answers, found[1]) if return_loss else answers

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R2 for vectors, else 1 - ``mean |phi(y) - phi(predicted)|^2 / mean |phi(y) - mean|^2``."""
        if self._vector_outputs and (source := as_rows(X, y, sample_weight)) is not None:
            return score_source(self, source, len(self.embedding_intercept_))
        predicted = self.predict(X)
        if self._vector_outputs:
            return float(r2_score(y, predicted, sample_weight=sample_weight))
        truth = y if isinstance(y, np.ndarray) else list(y)
        return kernel_score(self.outputs_, truth, predicted, sample_weight)

    def _check_new(self, X: Any) -> Any:
        kernel = getattr(self._phi_x, "kernel", "rbf" if self._phi_x is None else "linear")
        return self._check_inputs(X, kernel, reset=False)

    def _check_inputs(self, X: Any, kernel: Any, *, reset: bool) -> Any:
        if not accepts_sparse(kernel):
            refuse_sparse(kernel, X)
        return check_samples(self, X, kernel, reset=reset)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return set_kernel_tags(tags, getattr(self.inputs, "kernel", "rbf"))
