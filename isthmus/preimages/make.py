"""Pre-images by name."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from isthmus.kernels import GraphKernel, Linear, PositionKernel, as_graph, is_precomputed
from isthmus.kernels.sequences import NgramKernel
from isthmus.preimages.base import Preimage, require_vectors
from isthmus.preimages.candidate_search import CandidateSearch
from isthmus.preimages.distance import Distance
from isthmus.preimages.exact import Exact
from isthmus.preimages.fixed_point import FixedPoint
from isthmus.preimages.gradient import Gradient
from isthmus.preimages.graphs import GraphSearch
from isthmus.preimages.learned import Learned
from isthmus.preimages.nearest import Nearest
from isthmus.preimages.paths import PathSearch
from isthmus.preimages.sequences import SequenceSearch

NAMES: dict[str, type[Preimage]] = {
    "candidate_search": CandidateSearch,
    "distance": Distance,
    "exact": Exact,
    "fixed_point": FixedPoint,
    "gradient": Gradient,
    "graphs": GraphSearch,
    "learned": Learned,
    "nearest": Nearest,
    "paths": PathSearch,
    "sequences": SequenceSearch,
}


def make_preimage(preimage: Any = "auto", kernel: Any = None, objects: Any = None) -> Preimage:
    """Return a pre-image method, not fitted: a copy of the one given, or the one of a name.

    Parameters
    ----------
    preimage : Preimage or str, default="auto"
        A method, ``"auto"``, or one of ``"candidate_search"``,
        ``"graphs"``, ``"sequences"``, ``"distance"``, ``"exact"``,
        ``"fixed_point"``, ``"gradient"``, ``"learned"``, ``"nearest"``, ``"paths"``.
    kernel : kernel, default=None
        What ``"auto"`` is chosen by: ``Exact`` for the linear kernel, ``Learned`` for other kernels of
        vectors, ``SequenceSearch`` for those that count n-grams (``SequenceKernel``,
        ``SpectrumKernel``), ``PathSearch`` for ``PositionKernel``,
        ``GraphSearch`` for ``GraphKernel``, both with a fixed ``random_state``, and
        ``Nearest`` for other objects and for precomputed kernels.
    objects : sequence of objects, default=None
        What will be fitted: directed graphs, which ``GraphSearch`` does not make, have ``Nearest``.

    Returns
    -------
    method : Preimage
        The method.

    Examples
    --------
    >>> from isthmus.kernels import RBF
    >>> from isthmus.preimages import make_preimage
    >>> make_preimage("auto", RBF(0.5))
    Learned()
    """
    if isinstance(preimage, str) and preimage == "auto":
        return _by_kernel(kernel, objects)
    if isinstance(preimage, str):
        if preimage in NAMES:
            return _for_objects(NAMES[preimage](), objects)
    elif hasattr(preimage, "inverse") and hasattr(preimage, "fit"):
        return _for_objects(clone(preimage), objects)
    names = ", ".join(map(repr, ["auto", *NAMES]))
    raise ValueError(
        f"preimage == {preimage!r}, must be one of {names}, or an object with fit and inverse."
    )


def _for_objects(method: Any, objects: Any) -> Any:
    if objects is not None and isinstance(method, Preimage):
        require_vectors(method, objects)
    return method


def _by_kernel(kernel: Any, objects: Any) -> Preimage:
    if isinstance(kernel, NgramKernel) and getattr(kernel, "label_kernel", None) is None:
        return SequenceSearch(random_state=0)
    if isinstance(kernel, PositionKernel) and not kernel.normalise:
        return PathSearch()
    if isinstance(kernel, GraphKernel) and not kernel.refine and not _directed(kernel, objects):
        return GraphSearch(random_state=0)
    if isinstance(kernel, Linear):
        return Exact()
    has_vectors = getattr(kernel, "requires_vector_input", True) and not is_precomputed(kernel)
    return Learned() if has_vectors else Nearest()


def _directed(kernel: GraphKernel, objects: Any) -> bool:
    found = [] if objects is None else objects
    return any(as_graph(g, kernel.node_label, kernel.edge_label).directed for g in found)
