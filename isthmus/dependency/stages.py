"""What the stages are where the user leaves them open, and what belongs to outputs that are sequences."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import Ridge, RidgeCV

from isthmus._linalg import Array, spreads
from isthmus._validation import warn
from isthmus.dependency.candidates import (
    ALPHAS,
    N_CANDIDATES,
    CandidateRanking,
    generators_to_compare,
)
from isthmus.dependency.chosen_ridge import choose_stages
from isthmus.dependency.held_out import HeldOut, rows_of_regression
from isthmus.dependency.linear_part import ridge_weights
from isthmus.dependency.open_choice import beats, choose_open, of_strings
from isthmus.features import KernelMap
from isthmus.kernels import Gaussian, Linear, VectorSequenceKernel, is_precomputed, takes_vectors
from isthmus.kernels.graphs import are_graphs, default_graph_kernel
from isthmus.kernels.sequences import NgramKernel, are_vectors
from isthmus.preimages import CandidateSearch, Learned

_ENOUGH_ROWS = 30  # with fewer a comparison of generators tells nothing

_GRAPH_ALPHAS = tuple(10.0 ** np.arange(-3, 2))  # of a kernel whose values are at most one


class StagesMixin:
    """The part of a dependency regressor that chooses what is not given."""

    inputs: Any
    map: Any
    outputs: Any
    candidates: Any
    solver: str
    scale_y: bool
    expansion_: Any
    y_loadings_: Any
    embedding_intercept_: Any
    outputs_: Any
    _vector_outputs: bool = True
    preimage_: Any
    sizes_: Any = None
    _one_size: float | None = None  # of all training outputs, if it is the same
    candidates_: Any = None
    _default_inputs: Any = None
    _default_outputs: Any = None

    # -- kernels of sequences ------------------------------------------------------------------

    def _choose_defaults(self, X: Any, y: Any) -> None:
        """Kernels of n-grams for strings; for inputs also of graphs and of sequences of vectors."""
        self.candidates_ = None
        self._default_inputs = self._default_outputs = None
        for name, samples, stage in (("inputs", X, self.inputs), ("outputs", y, self.outputs)):
            if stage is None:
                check_default_kernel(name, samples)
        if self.inputs is None and are_graphs(X):
            self._default_inputs = KernelMap(kernel=default_graph_kernel())
        elif self.inputs is None and are_strings(X, "X"):
            self._default_inputs = of_strings()
        elif self.inputs is None and are_vector_sequences(X):
            self._default_inputs = KernelMap(kernel=VectorSequenceKernel())
        if self.outputs is None and are_strings(y, "y"):
            first = next(iter(y))
            if all(other == first for other in y):
                raise ValueError(
                    f"y is constant, every output is {first!r}: nothing can be learned."
                )
            self._default_outputs = of_strings()
        elif self.outputs is None and are_graphs(y):
            raise ValueError(
                "y are graphs, which have no default kernel: give outputs=KernelMap(kernel=GraphKernel())."
            )
        elif self.outputs is None and are_vector_sequences(y):
            raise ValueError(
                "y are sequences of vectors, which have no pre-image: give vectors of one length, or "
                "outputs=KernelMap(kernel=VectorSequenceKernel(), preimage='nearest')."
            )

    def _make_map(self) -> Any:
        """Return T, with the ridge weight by which candidates are ranked best; None where it is open.

        Graphs are few and their kernel is not the user's: the weight is chosen for each output.
        """
        if self.map is not None:
            return clone(self.map)
        if self.candidates_ is not None:
            return Ridge(self.candidates_.alpha_)
        graphs = self.inputs is None and self._default_inputs is not None
        if graphs and self._phi_y is None and self.solver != "dual":
            if isinstance(self._default_inputs.kernel, Gaussian):
                return RidgeCV(_GRAPH_ALPHAS)
        return None

    def _choose_ridge(
        self, X: Any, Y: Any, Psi: Array, inputs: Any, weights: Array | None
    ) -> tuple[Any, Ridge]:
        """Return phi, of vectors with the kernel that suits them, and ridge with its weight."""
        targets = Y / spreads(Y, weights) if self._vector_outputs else Psi
        is_open = self.inputs is None and self._default_inputs is None
        inputs, ridge = choose_stages(None if is_open else inputs, X, targets, weights)
        if is_open:
            self._default_inputs = clone(inputs)
        return inputs, ridge

    @property
    def _phi_x(self) -> Any:
        return self._default_inputs if self.inputs is None else self.inputs

    @property
    def _phi_y(self) -> Any:
        return self._default_outputs if self.outputs is None else self.outputs

    def _embed_outputs(self, Y: Any, weights: Array | None = None) -> Array:
        """Return the output scores; with a linear kernel on vectors, the outputs themselves."""
        self.outputs_ = None
        if self._linear_outputs():
            return np.asarray(Y, dtype=np.float64)
        learned = self._learned_preimage()
        if learned is not None:  # its matrix is needed last: known before the first stage is fitted
            learned.check_rows(len(Y))
        self.outputs_ = clone(self._phi_y).set_params(preimage=None)
        scores = self.outputs_.fit_transform(Y, sample_weight=weights)
        return np.asarray(scores, dtype=np.float64)

    def _learned_preimage(self) -> Learned | None:
        """Return the learned pre-image of outputs, given or by default; None if they have another one."""
        chosen = self._phi_y.preimage
        is_default = chosen is None or (isinstance(chosen, str) and chosen == "auto")
        if is_default and self._vector_outputs and not is_precomputed(self._phi_y.kernel):
            chosen = "learned"
        if isinstance(chosen, str) and chosen == "learned":
            return Learned()
        return chosen if isinstance(chosen, Learned) else None

    def _linear_outputs(self) -> bool:
        if self._phi_y is None:
            return True
        if type(self._phi_y) is not KernelMap or self._phi_y.n_components is not None:
            return False
        kernel, preimage = self._phi_y.kernel, self._phi_y.preimage
        is_linear = isinstance(kernel, Linear) or (isinstance(kernel, str) and kernel == "linear")
        return is_linear and (preimage is None or preimage in ("auto", "exact"))

    def _output_scale(self, Y: Any, by_map: bool, weights: Array | None) -> Array | None:
        if not self.scale_y and not (by_map and self._linear_outputs()):
            return None
        if not self._linear_outputs():
            raise ValueError(
                "scale_y == True is for outputs without a kernel, outputs=None: scale them yourself, as "
                "with scikit-learn's TransformedTargetRegressor, and give the kernel its width."
            )
        return spreads(Y, weights)

    def _warn_unrelated(self, X: Any, scores: Array) -> None:
        """Tell of inputs that have nothing in common with the training inputs: the mean is predicted."""
        if self.expansion_ is None or takes_vectors(self.expansion_.kernel, X):
            return
        if is_precomputed(self.expansion_.kernel):
            return
        constant = np.atleast_1d(self.expansion_.intercept)
        if self.y_loadings_ is not None:
            constant = constant @ self.y_loadings_.T
        apart = np.abs(scores - (constant + self.embedding_intercept_)).max(axis=1)
        places = np.flatnonzero(apart <= 1e-12 * np.abs(scores).max())
        if len(places):
            warn(
                f"{len(places)} of {len(scores)} inputs have nothing in common with the training inputs "
                f"(the first is X[{places[0]}]; its kernel values are zero): they are "
                "predicted by the mean.",
            )

    # -- candidates ----------------------------------------------------------------------------

    def _fit_candidates(self, X: Any, Y: Any, inputs: Any) -> Any:
        """Rank candidates of the generator that is given, or of one that suits aligned sequences.

        If strings are left to the defaults, an open search with kernels of its own may be better. Returns
        phi of the inputs.
        """
        self.candidates_ = None
        generator = self.candidates
        if generator is None:
            return inputs
        is_auto = isinstance(generator, str) and generator == "auto"
        has_methods = all(hasattr(generator, name) for name in ("fit", "candidates"))
        if not is_auto and (isinstance(generator, type) or not has_methods):
            raise ValueError(
                f"candidates == {generator!r}, must be 'auto', None or an object with fit(X, y) and "
                "candidates(X, n_best), such as those of isthmus.preimages."
            )
        obstacle = self._obstacle_to_candidates(inputs)
        if is_auto and (obstacle or not self._may_align(Y)):
            return inputs
        if obstacle:
            raise ValueError(f"candidates == {generator!r} {obstacle}")
        kernel_x = inputs._resolve(X)
        kernel_y = clone(self._phi_y)._resolve(Y)
        tried = generators_to_compare(X, kernel_x) if is_auto else {"given": generator}
        trial = HeldOut(X, Y, rows_of_regression(X, Y), N_CANDIDATES)
        if tried:
            ranking = CandidateRanking(kernel_x, kernel_y, ridge_weights(self.map) or ALPHAS)
            # Outputs as long as sequences of vectors are aligned with them, whichever generator is better.
            align = are_vector_sequences(X) and all(len(a) == len(b) for a, b in zip(X, Y))
            self.candidates_ = ranking.fit(X, Y, tried, or_none=not align, trial=trial)
        is_open = self.inputs is None and self.map is None and self.outputs is None
        if is_auto and is_open and not are_vector_sequences(X) and not self._are_mostly_right():
            regressor: Any = type(self)
            found = choose_open(trial, regressor)
            none = self.candidates_ is None
            if found and (none or beats(found, trial, tried[self.candidates_.name_])):
                self.candidates_ = None
                self._default_inputs, self._default_outputs = found.inputs, found.outputs
                return clone(found.inputs)
        return inputs

    def _are_mostly_right(self) -> bool:
        """Return whether candidates answer most held-out rows: then nothing else is looked for."""
        return self.candidates_ is not None and self.candidates_.cv_results_["exact"].max() > 0.5

    def _obstacle_to_candidates(self, inputs: Any) -> str:
        """Say what stands against a ranking of candidates, if anything does."""
        if self._linear_outputs():
            return "needs outputs that are strings, or outputs=KernelMap(kernel=...)."
        if type(inputs) is not KernelMap or type(self._phi_y) is not KernelMap:
            return "needs a KernelMap, or None, as inputs and as outputs."
        if any(is_precomputed(stage.kernel) for stage in (inputs, self._phi_y)):
            return "needs kernels of objects, and one is 'precomputed'."
        if self.map is not None and not ridge_weights(self.map):
            return (
                f"is ranked by kernel ridge regression: map == {self.map!r}, must be None, Ridge or "
                "RidgeCV with alpha > 0 and an intercept."
            )
        return ""

    def _may_align(self, Y: Any) -> bool:
        """Return whether sequences are predicted from sequences, and the pre-image is left open."""
        open_end = self._phi_y.preimage is None or self._phi_y.preimage == "auto"
        kernel_x, kernel_y = (getattr(phi, "kernel", None) for phi in (self._phi_x, self._phi_y))
        are_sequences = isinstance(kernel_x, NgramKernel | VectorSequenceKernel)
        counted = are_sequences and isinstance(kernel_y, NgramKernel)
        return open_end and counted and len(Y) >= _ENOUGH_ROWS

    @property
    def search_(self) -> str | None:
        """How answers are found: "candidates", "open", or None if outputs have no kernel."""
        if self.outputs_ is None:
            return None
        return "open" if self.candidates_ is None else "candidates"

    def _by_candidates(
        self, X: Any, scores: Array, n_best: int | None, return_loss: bool
    ) -> tuple[list[Any], Array | None]:
        if n_best is not None and (not isinstance(n_best, (int, np.integer)) or n_best < 1):
            raise ValueError(f"n_best == {n_best!r}, must be an integer >= 1 or None.")
        ranked = self.candidates_.rank(X, n_best or 1)
        answers = [found[0] if n_best is None else found[:n_best] for found, _ in ranked]
        if not return_loss:
            return answers, None
        lists = [[z] for z in answers] if n_best is None else answers
        fitted = self.preimage_
        search = CandidateSearch(lists[0]).fit(
            fitted.objects_, fitted.coordinates_, fitted.embedding_
        )
        losses = [  # one place after the other: a list keeps its order
            search.inverse(
                scores, candidates=[[own[min(k, len(own) - 1)]] for own in lists], return_loss=True
            )[1]
            for k in range(max(map(len, lists)))
        ]
        return answers, losses[0] if n_best is None else np.stack(losses, axis=1)

    # -- sizes ---------------------------------------------------------------------------------

    def _fit_sizes(self, X: Any, Y: Any, method: Any) -> None:
        """Regress the sizes of sequences that an open search looks for.

        A ridge shrinks the predicted point towards the mean, where the images of long sequences are if
        the kernel divides by the length: the loss alone prefers answers that are too long. So the size is
        predicted by the same inputs and map as the point; its residuals have mean zero on training rows.
        """
        self.sizes_ = self._one_size = None
        if self.candidates_ is not None or not getattr(method, "predicts_sizes", False):
            return
        lengths = np.array([len(y) for y in Y], dtype=np.float64)
        if np.ptp(lengths) == 0:  # nothing to regress
            self._one_size = float(lengths[0])
            return
        inputs = None if self._phi_x is None else clone(self._phi_x)
        map_ = None if self.map is None else self._make_map()
        regressor: Any = type(self)
        self.sizes_ = regressor(inputs, map_).fit(X, lengths)

    def _with_sizes(self, X: Any, options: dict[str, Any]) -> dict[str, Any]:
        """Options of the search, with the sizes that are expected."""
        if "sizes" in options or (self.sizes_ is None and self._one_size is None):
            return options
        if self.sizes_ is None:
            return {**options, "expected": np.full(len(X), self._one_size)}
        return {**options, "expected": self.sizes_.predict(X)}


def check_default_kernel(stage: str, samples: Any) -> None:
    """Refuse samples without a default kernel: bytes, some graphs, numbers that are no table."""
    if not isinstance(samples, (list, tuple)) or not len(samples):
        return
    name = "X" if stage == "inputs" else "y"
    if any(isinstance(sample, (bytes, bytearray)) for sample in samples):
        raise ValueError(f"{name} has bytes: decode them to strings.")
    kinds = [are_graphs([sample]) for sample in samples]
    if any(kinds) and not all(kinds):
        place = kinds.index(False)
        raise ValueError(f"{name}[{place}] == {samples[place]!r}, must be a graph like the others.")
    nested = [isinstance(s, list | tuple) and _holds_rows(s) for s in samples]
    if any(nested):
        raise ValueError(
            f"{name}[{nested.index(True)}] is a list of lists of numbers: give an array, one vector per "
            "place."
        )
    rows = [s for s in samples if isinstance(s, (list, tuple, np.ndarray))]
    are_numbers = len(rows) == len(samples) and all(
        len(row) and np.isscalar(row[0]) and not isinstance(row[0], str) for row in rows
    )
    if are_numbers and len({len(row) for row in rows}) > 1:
        raise ValueError(
            f"{name} has rows of different lengths, which are not vectors: if they are sequences of "
            f"symbols, give {stage}=KernelMap(kernel=SequenceKernel(0.3, normalise=True))."
        )


def _holds_rows(sample: Any) -> bool:
    """Return whether all entries of a list are lists of numbers, as those of a graph are not."""
    return len(sample) > 0 and all(
        isinstance(row, list | tuple) and len(row) and all(isinstance(v, Real) for v in row)
        for row in sample
    )


def are_vector_sequences(samples: Any) -> bool:
    """Return whether samples are arrays with one vector or picture per place."""
    is_column = isinstance(samples, np.ndarray) and samples.dtype == object and samples.ndim == 1
    is_list = is_column or isinstance(samples, list | tuple)
    return is_list and len(samples) > 0 and all(are_vectors(sample) for sample in samples)


def are_strings(samples: Any, name: str) -> bool:
    """Return whether samples are strings or lists of strings: words, or lists of words or phonemes.

    One that is empty, or of another kind than the others, is an error.
    """
    if isinstance(samples, str):
        raise ValueError(f"{name} is one string; give a list of them, as [{samples[:20]!r}].")
    is_column = (
        getattr(getattr(samples, "dtype", None), "kind", "") in ("O", "U") and samples.ndim == 1
    )
    if not isinstance(samples, (list, tuple)) and not is_column:
        return False
    kinds = [_is_string(sample) for sample in samples]
    if not any(kinds):
        return False
    for index, sample in enumerate(samples):
        if hasattr(sample, "__len__") and not len(sample):
            raise ValueError(f"{name}[{index}] is an empty sequence; leave it out.")
        if not kinds[index]:
            raise ValueError(
                f"{name}[{index}] == {sample!r}, must be a string or a list of strings like the others."
            )
    return True


def _is_string(sample: Any) -> bool:
    if isinstance(sample, str):
        return True
    is_list = isinstance(sample, (list, tuple)) and len(sample) > 0
    return is_list and all(isinstance(token, str) for token in sample)
