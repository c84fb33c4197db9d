"""Pre-images of sequences."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import RidgeCV
from sklearn.utils import check_random_state

from isthmus._linalg import Array
from isthmus._solvers import InversionCodes, cross_entropy, decode_inversions
from isthmus._validation import check_count, check_option, warn
from isthmus.kernels import gram, gram_diagonal, is_precomputed
from isthmus.kernels.sequences import Alphabet, Ints, NgramKernel, as_sequences
from isthmus.preimages.base import RankingPreimage, smallest
from isthmus.preimages.beam import beam_search
from isthmus.preimages.best_seen import BestSeen
from isthmus.preimages.euler import euler_sequence
from isthmus.preimages.ngram_index import NgramIndex, NgramTarget, largest_remainder
from isthmus.preimages.sequence_moves import Budget, descend_sequence, note_sequences
from isthmus.preimages.sizes import check_sizes, mean_size, sizes_around
from isthmus.preimages.targets import Targets

METHODS = ("auto", "read", "euler", "beam", "local", "cross_entropy", "nearest")
SIZES = ("auto", "mean", "ridge", "exact")
_KEPT_SEQUENCES = 256  # sequences of a search that compete at its end
_EXACT_SEQUENCE = 1e-10  # a loss below this share of |Psi|^2 is that of the pre-image itself
_LENGTH_WINDOW = 5  # symbols on either side of the length that is read off the target
_READ = 1e-3  # how near to 1/m the weight of a whole sequence must be


class SequenceSearch(RankingPreimage):
    r"""Search for sequences whose images are near a point of feature space.

    .. math::
        \min_z \|\Psi\|^2 - 2 \langle \Psi, \phi(z) \rangle + k(z, z)

    over all sequences of the fitted alphabet, [B2006]_ Sec. 3.4.4. For kernels of n-grams
    (``SequenceKernel``, ``SpectrumKernel``) all losses are exact and come from one table of n-grams;
    other kernels are evaluated directly.

    Parameters
    ----------
    method : str, default="auto"
        "read": the one n-gram of weight 1/m, if the target is an image; "euler": the path through all
        n-grams, for a kernel with ``max_length``; "beam": beam search; "local": local search from the
        nearest fitted sequences; "cross_entropy": the method of the source; "nearest": the nearest
        fitted sequence. "auto" reads, then tries a path, then searches with a beam and improves the
        best locally; kernels without n-grams have the last three but the beam. A local search of more than
        some forty symbols is stopped early, with a warning.
    beam_width : int, default=50
        Prefixes that are kept at each step.
    size : {"auto", "mean", "ridge", "exact"}, default="auto"
        Estimate of the size. "mean": weighted mean of the sizes of the expansion; "ridge": ridge
        regression of sizes on kernel rows, the best if targets are projected on few axes; "exact":
        ``1 / (1 - sum of bigram weights)``, exact if the target is an image (of a kernel that
        divides by the length; others use the mean). "auto": "mean", unless the targets are predictions.
        In a ``DependencyRegressor``, "auto" and "ridge" mean sizes that its inputs and map predict.
    size_window : int, default=None
        All sizes this far around the estimate are tried and the best loss is kept; 0: the estimate.
        None: 5, and 0 around sizes that are predicted: predicted targets are shrunk, and their losses
        prefer sizes whose images are near the mean.
    n_starts : int, default=3
        Sequences from which local search begins.
    n_samples, max_void : int, default=200, 20
        Cross-entropy method: candidates per round, and rounds without improvement before it stops.
    random_state : int, RandomState or None, default=None
        Seed for the cross-entropy method.

    Examples
    --------
    >>> from isthmus.features import KernelMap
    >>> from isthmus.kernels import SequenceKernel
    >>> from isthmus.preimages import SequenceSearch
    >>> words = ["banana", "bandana", "cabana", "canada"]
    >>> embedding = KernelMap(kernel=SequenceKernel(0.2), preimage=SequenceSearch()).fit(words)
    >>> embedding.inverse_transform(embedding.transform(["banana"]))
    ['banana']
    """

    def __init__(
        self,
        method: str = "auto",
        *,
        beam_width: int = 50,
        size: str = "auto",
        size_window: int | None = None,
        n_starts: int = 3,
        n_samples: int = 200,
        max_void: int = 20,
        random_state: Any = None,
    ) -> None:
        self.method = method
        self.beam_width = beam_width
        self.size = size
        self.size_window = size_window
        self.n_starts = n_starts
        self.n_samples = n_samples
        self.max_void = max_void
        self.random_state = random_state

    @property
    def predicts_sizes(self) -> bool:
        """Whether a regression may predict the sizes of the answers."""
        return self.size in ("auto", "ridge")

    def _prepare(self) -> None:
        check_option("method", self.method, METHODS)
        check_option("size", self.size, SIZES)
        if is_precomputed(self.kernel_):
            raise ValueError(
                "SequenceSearch needs kernel values of new sequences, but the kernel is "
                "'precomputed': use Nearest(), or hand over the sequences."
            )
        check_count("beam_width", self.beam_width)
        check_count("n_starts", self.n_starts)
        points = as_sequences(self.embedding_.points_, "points")
        self.index_: NgramIndex | None = None
        counted = isinstance(self.kernel_, NgramKernel)
        if counted and getattr(self.kernel_, "label_kernel", None) is None:
            self.index_ = NgramIndex(self.kernel_, points)
            self.alphabet_ = self.index_.alphabet
        elif self.method in ("read", "euler", "beam"):
            raise ValueError(
                f"method == {self.method!r} needs a kernel of n-grams, not {self.kernel_!r}: "
                "take 'local' or 'cross_entropy'."
            )
        else:
            self.alphabet_ = Alphabet(points)
        self.point_lengths_ = np.array([len(x) for x in points])
        self._shares = _symbol_shares(self.alphabet_, points)
        if self.size == "ridge":
            rows = gram(self.kernel_, self.embedding_.points_)
            self._row_scale = float(np.abs(rows).max())
            self.size_model_ = RidgeCV(np.logspace(-8, 2, 21)).fit(
                rows / self._row_scale, self.point_lengths_
            )

    def _ranked(
        self,
        targets: Targets,
        n_best: int,
        sizes: Any = None,
        expected: Any = None,
        **options: Any,
    ) -> tuple[list[Any], Array]:
        """``sizes``: for each target the size, or the sizes, that its answer may have; ``expected``: for
        each target the size that a regression predicts.
        """
        allowed = check_sizes(sizes, len(targets))
        norms = targets.squared_norms
        near, _ = smallest(self._fitted_losses(targets), self.n_starts)
        answers = []
        losses = np.empty((len(targets), n_best))
        rng = check_random_state(self.random_state)
        cut_short = []
        for t, given in enumerate(allowed):
            search = _Search(self, targets, t, float(norms[t]), near[t], rng)
            search.expected = None if expected is None else float(expected[t])
            found, values = search.run(given, n_best)
            answers.append([self.alphabet_.decode(z) for z in found])
            losses[t] = values
            if search.budget.is_spent:
                cut_short.append(t)
        if cut_short:
            first = cut_short[0]
            warn(
                f"The local search for {len(cut_short)} of {len(targets)} answers was stopped early: the "
                f"first is answer {first}, of {len(answers[first][0])} symbols. Its cost grows with the "
                "fourth power of the size. Use smaller sizes, or method='beam', which has no local search.",
            )
        return answers, losses


class _Search:
    """The search for one target."""

    def __init__(
        self, owner: SequenceSearch, targets: Targets, t: int, norm: float, near: Ints, rng: Any
    ) -> None:
        self.owner, self.rng = owner, rng
        self.coef = targets.coef[t]
        self.norm = norm
        self.target: NgramTarget | None = None
        if owner.index_ is not None:
            self.target = owner.index_.target(self.coef, norm)
        self.targets = targets.subset(slice(t, t + 1))
        starts = owner.alphabet_.encode([owner.objects_[i] for i in near])
        pieces = np.split(starts.symbols, starts.offsets[1:-1])
        self.near = [z for z in pieces if z.max() < len(owner.alphabet_)]
        self.seen = BestSeen(_KEPT_SEQUENCES)
        self.budget = Budget()
        self.expected: float | None = None

    def losses(self, Z: Ints, lengths: Ints) -> Array:
        if self.target is not None:
            return self.target.losses(Z, lengths)
        objects = [self.owner.alphabet_.decode(z[:m]) for z, m in zip(Z, lengths)]
        return self.targets.losses(objects)[0]

    def run(self, given: Ints | None, n_best: int) -> tuple[list[Ints], Array]:
        sizes = self._sizes() if given is None else given
        method = self.owner.method
        if given is None or method == "nearest":
            self._look(self.near)
            if self.expected is not None and method != "nearest" and not self._exact():
                self.seen = BestSeen(
                    _KEPT_SEQUENCES
                )  # fitted sequences of other sizes do not compete
        allowed = (int(sizes.min()), int(sizes.max()))
        if method in ("auto", "read"):
            self._look(self._read(allowed if given is not None else None))
        if method == "euler" or (method == "auto" and not self._exact()):
            self._look(self._euler(sizes))
        if self.target is not None and method in ("auto", "beam") and not self._done(n_best):
            note_sequences(self.seen, *beam_search(self.target, sizes, self.owner.beam_width))
        if method == "cross_entropy" or (
            method == "auto" and self.target is None and not self._done(n_best)
        ):
            self._cross_entropy(sizes)
        if method == "local" and given is not None:
            # The nearest fitted sequences, cut or drawn out to a size that is allowed.
            self._look([np.resize(z, int(m)) for z in self.near for m in sizes])
        if method in ("auto", "local") and not self._done(n_best):
            for _, (z,) in self.seen.best(self.owner.n_starts):
                n_symbols = len(self.owner.alphabet_)
                descend_sequence(z, self.losses, n_symbols, allowed, self.seen, self.budget)
                if self._done(n_best):
                    break
        if not len(self.seen):  # reading found nothing
            self._look(self.near)
        ranked = self.seen.best(n_best)
        ranked += [ranked[-1]] * (n_best - len(ranked))  # the last again where there are fewer
        return [z for _, (z,) in ranked], np.array([value for value, _ in ranked])

    def _look(self, sequences: list[Ints]) -> None:
        for z in sequences:
            Z, lengths = z[None], np.array([len(z)])
            note_sequences(self.seen, Z, lengths, self.losses(Z, lengths))

    def _exact(self) -> bool:
        return len(self.seen) > 0 and self.seen.lowest <= _EXACT_SEQUENCE * self.norm

    def _done(self, n_best: int) -> bool:
        return n_best == 1 and self._exact()

    def _sizes(self) -> Ints:
        """Around the estimate of the size, within those that were fitted."""
        estimate = self.estimated_size() if self.expected is None else self.expected
        window = self.owner.size_window
        if window is None:
            window = _LENGTH_WINDOW if self.expected is None else 0
        return sizes_around(estimate, self.owner.point_lengths_, window)

    def estimated_size(self) -> float:
        """One of three estimates, before it is rounded and clipped."""
        owner, lengths = self.owner, self.owner.point_lengths_
        if owner.size == "ridge":
            row = self.targets.inner(self.targets.points) / owner._row_scale
            return float(owner.size_model_.predict(row)[0])
        coef = self.coef
        if owner.size == "exact" and self.target is not None and self.target.index.divides:
            if owner.kernel_.normalise:
                raw = clone(owner.kernel_).set_params(normalise=False)
                coef = coef / np.sqrt(gram_diagonal(raw, self.targets.points))
            # All symbols of a sequence weigh 1 together and all bigrams (m - 1)/m: their ratio is kept
            # by any factor, that of a normalised kernel too.
            inverse = float(coef @ (1.0 / lengths)) / (float(coef.sum()) or 1.0)
            if inverse > 0.0:
                return 1.0 / inverse
        return mean_size(self.coef, lengths, [len(z) for z in self.near])

    def _read(self, allowed: tuple[int, int] | None) -> list[Ints]:
        """The longest n-gram whose weight is that of a whole sequence."""
        if self.target is None or self.owner.kernel_.normalise or not self.target.index.divides:
            return []
        index = self.target.index
        depth = index.depths[1:]
        whole = index.amplitudes[depth - 1] * index.last / depth
        share = self.target.weights[1:-1] / whole
        hits = np.flatnonzero(np.abs(share - 1.0) < _READ)
        if allowed is not None:
            hits = hits[(depth[hits] >= allowed[0]) & (depth[hits] <= allowed[1])]
        if len(hits):
            return [index.word(int(hits[depth[hits].argmax()]) + 1)]
        return []

    def _euler(self, sizes: Ints) -> list[Ints]:
        """A path through all n-grams of the greatest length that counts, for every size."""
        n = getattr(self.owner.kernel_, "max_length", None)
        proper = getattr(self.owner.kernel_, "termination", "constant") == "proper"
        if self.target is None or n is None or self.owner.kernel_.normalise or proper:
            return []
        index, found = self.target.index, []
        words = {}
        for length in {n, n - 1} - {0}:
            nodes = np.flatnonzero(index.depths == length)
            weight = self.target.weights[nodes] / index.amplitudes[length - 1]
            heavy = weight > 0.5 / sizes.max()
            words[length] = [
                (tuple(index.word(int(v))), w) for v, w in zip(nodes[heavy], weight[heavy])
            ]
        for m in sizes:
            counts = {
                length: {word: int(np.rint(w * m)) for word, w in part if np.rint(w * m) > 0}
                for length, part in words.items()
            }
            if sum(counts[n].values()) == m - n + 1:
                z = euler_sequence(counts[n], counts.get(n - 1, {}))
                if z is not None:
                    found.append(np.array(z, dtype=np.int64))
        return found

    def _cross_entropy(self, sizes: Ints) -> None:
        """Permutations of the expected multiset of symbols, for every size."""
        owner = self.owner
        fractions = self.coef @ owner._shares
        for m in sizes:
            letters = np.repeat(np.arange(len(fractions)), largest_remainder(fractions, int(m)))
            if m == 1:
                self._look([letters])
                continue

            def loss(codes: Any, letters: Ints = letters) -> Array:
                Z = arranged(codes, letters)
                values = self.losses(Z, np.full(len(Z), Z.shape[1]))
                note_sequences(self.seen, Z, np.full(len(Z), Z.shape[1]), values)
                return values

            cross_entropy(
                loss,
                InversionCodes(np.full(int(m) - 1, 0.5)),
                n_samples=owner.n_samples,
                max_void=owner.max_void,
                random_state=self.rng,
            )


def arranged(codes: Any, letters: Ints) -> Ints:
    """Sequences from inversion tables: the sorted letters at their places, (n, m)."""
    places = decode_inversions(codes)
    Z = np.empty_like(places)
    np.put_along_axis(Z, places, np.broadcast_to(letters, places.shape), axis=1)
    return Z


def _symbol_shares(alphabet: Alphabet, sequences: list[Any]) -> Array:
    corpus = alphabet.encode(sequences)
    shares = np.zeros((len(corpus), len(alphabet)))
    np.add.at(shares, (corpus.sequence, corpus.symbols), 1.0 / corpus.lengths[corpus.sequence])
    return shares
