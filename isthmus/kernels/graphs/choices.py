"""Kernels of graphs to choose among."""

from __future__ import annotations

from isthmus.kernels.base import Kernel
from isthmus.kernels.gaussian import Gaussian
from isthmus.kernels.graphs.cycles import Cycles
from isthmus.kernels.graphs.marginalised import GraphKernel
from isthmus.kernels.graphs.shortest_path import ShortestPath
from isthmus.kernels.graphs.weisfeiler_lehman import (
    WeisfeilerLehman,
    WeisfeilerLehmanAssignment,
    WeisfeilerLehmanWasserstein,
)

_ROUNDS = (1, 3, 5)  # of refinement: the neighbours, a benzene ring, most of a drug
_RING = 6  # most nodes of a ring
_STOP = 0.2  # walks of five nodes on average


def graph_kernels() -> list[Kernel]:
    """Return graph kernels for cross-validation to choose from.

    No kernel is best for all graphs. The list has counts of refined labels, assignments and transports of
    nodes by them, rings, shortest paths and walks, most as :class:`Gaussian` of their distances with the
    width of the median rule. One kernel, without normalisation, tells small graphs from large ones, as
    boiling points and other sums over atoms need.

    Returns
    -------
    kernels : list of kernels
        New objects, to be given to ``GridSearchCV`` as the values of a kernel.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import SVC
    >>> from isthmus import KernelMap
    >>> from isthmus.kernels import graph_kernels
    >>> rings = [([0] * m, [(i, (i + 1) % m) for i in range(m)]) for m in range(3, 9)]
    >>> stars = [([0] * m, [(0, i) for i in range(1, m)]) for m in range(3, 9)]
    >>> model = make_pipeline(KernelMap(), SVC(kernel="linear"))
    >>> grid = {"kernelmap__kernel": graph_kernels(), "svc__C": [1.0, 10.0]}
    >>> search = GridSearchCV(model, grid, cv=3).fit(rings + stars, [0] * 6 + [1] * 6)
    >>> search.predict([([0] * 9, [(0, i) for i in range(1, 9)])])
    array([1])
    """
    assignments = [WeisfeilerLehmanAssignment(h, normalise=True) for h in _ROUNDS]
    return [
        *(WeisfeilerLehman(h, normalise=True) for h in _ROUNDS),
        *(Gaussian(kernel) for kernel in assignments),
        *(Gaussian(WeisfeilerLehmanWasserstein(h)) for h in _ROUNDS),
        *(Gaussian(kernel + Cycles(_RING, normalise=True)) for kernel in assignments),
        Gaussian(ShortestPath(normalise=True)),
        Gaussian(GraphKernel(_STOP, refine=1, normalise=True)),
        default_graph_kernel(),
    ]


def default_graph_kernel() -> Kernel:
    """The kernel of graphs where the user names none."""
    return Gaussian(WeisfeilerLehmanAssignment(3))
