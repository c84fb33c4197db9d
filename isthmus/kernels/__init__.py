"""Kernels: similarities of vectors, sequences, graphs and other objects.

``gram(kernel, X, Y)`` computes every Gram matrix. ``kernel`` is an object from this list or one of
scikit-learn's Gaussian-process kernels, a name, a function of two samples, or ``"precomputed"``.
Sums, products and powers of kernels are written with ``+``, ``*`` and ``**``.

======================== ==================================== =====================================
name                     class                                what it is
======================== ==================================== =====================================
rbf                      :class:`RBF`                         ``exp(-gamma |x - y|^2)``
laplacian                :class:`Laplacian`                   ``exp(-gamma |x - y|_1)``
l2_laplacian                                                  ``exp(-gamma |x - y|)``
polynomial, poly         :class:`Polynomial`                  ``(gamma x'y + coef0) ^ degree``
linear                   :class:`Linear`                      ``x'y``
cosine                                                        ``x'y / (|x| |y|)``
exponential                                                   ``exp(gamma x'y)``
histogram_intersection                                        ``sum min(x, y)``
chi2, sigmoid, ...                                            scikit-learn's other metrics
(a function)                                                  your own, of two samples
precomputed                                                   ready kernel values
(sequences)              :class:`SequenceKernel`              all substrings, discounted by length
(sequences)              :class:`SpectrumKernel`              words of one length
(sequences)              :class:`MismatchKernel`              words of one length, a few symbols off
(sequences)              :class:`SubsequenceKernel`           words with gaps
(sequences)              :class:`PositionKernel`              short words at about the same place
(sequences of vectors)   :class:`VectorSequenceKernel`        vectors or pictures at the same place
(graphs)                 :class:`GraphKernel`                 random walks that meet the same labels
(graphs)                 :class:`WeisfeilerLehman`            counts of refined labels
(graphs)                 :class:`WeisfeilerLehmanAssignment`  nodes, assigned by refined labels
(graphs)                 :class:`WeisfeilerLehmanWasserstein` shares of nodes, moved by refined labels
(graphs)                 :class:`ShortestPath`                pairs of nodes at the same distance
(graphs)                 :class:`Cycles`                      rings with the same labels around them
(several of graphs)      :func:`graph_kernels`                to choose among by cross-validation
(objects by number)      :class:`Indexed`                     for estimators that take only tables
(any kernel)             :class:`Normalised`                  every object at unit length
(any kernel)             :class:`Gaussian`                    ``exp(-gamma d^2)`` of its distances d
======================== ==================================== =====================================
"""

from isthmus.kernels.bandwidth import median_gamma
from isthmus.kernels.base import Kernel as Kernel
from isthmus.kernels.base import VectorKernel as VectorKernel
from isthmus.kernels.centering import center_train as center_train
from isthmus.kernels.checks import check_precomputed as check_precomputed
from isthmus.kernels.composite import Constant as Constant
from isthmus.kernels.composite import Normalised
from isthmus.kernels.composite import Power as Power
from isthmus.kernels.composite import Product as Product
from isthmus.kernels.composite import Standardised as Standardised
from isthmus.kernels.composite import Sum as Sum
from isthmus.kernels.distances import RBF, Laplacian
from isthmus.kernels.distances import L2Laplacian as L2Laplacian
from isthmus.kernels.gaussian import Gaussian
from isthmus.kernels.gram import gram
from isthmus.kernels.gram import gram_blocks as gram_blocks
from isthmus.kernels.gram import shifted_gram as shifted_gram
from isthmus.kernels.graphs.choices import graph_kernels
from isthmus.kernels.graphs.cycles import Cycles
from isthmus.kernels.graphs.graph import Graph
from isthmus.kernels.graphs.graph import as_graph as as_graph
from isthmus.kernels.graphs.marginalised import GraphKernel
from isthmus.kernels.graphs.molecules import from_smiles, to_smiles
from isthmus.kernels.graphs.molecules import to_molecule as to_molecule
from isthmus.kernels.graphs.shortest_path import ShortestPath
from isthmus.kernels.graphs.weisfeiler_lehman import (
    WeisfeilerLehman,
    WeisfeilerLehmanAssignment,
    WeisfeilerLehmanWasserstein,
)
from isthmus.kernels.histograms import HistogramIntersection as HistogramIntersection
from isthmus.kernels.indexed import Indexed
from isthmus.kernels.postures import PoseKernel as PoseKernel
from isthmus.kernels.products import Cosine as Cosine
from isthmus.kernels.products import Exponential as Exponential
from isthmus.kernels.products import Linear, Polynomial
from isthmus.kernels.report import KernelReport as KernelReport
from isthmus.kernels.report import check_kernel
from isthmus.kernels.sequences.marginalised import SequenceKernel
from isthmus.kernels.sequences.mismatch import MismatchKernel
from isthmus.kernels.sequences.positions import PositionKernel
from isthmus.kernels.sequences.spectrum import SpectrumKernel
from isthmus.kernels.sequences.subsequence import SubsequenceKernel
from isthmus.kernels.sequences.vectors import VectorSequenceKernel
from isthmus.kernels.wrappers import Function as Function
from isthmus.kernels.wrappers import Metric as Metric
from isthmus.kernels.wrappers import Precomputed as Precomputed

__all__ = [
    "RBF",
    "Cycles",
    "Gaussian",
    "Graph",
    "GraphKernel",
    "Indexed",
    "Laplacian",
    "Linear",
    "MismatchKernel",
    "Normalised",
    "Polynomial",
    "PositionKernel",
    "SequenceKernel",
    "ShortestPath",
    "SpectrumKernel",
    "SubsequenceKernel",
    "VectorSequenceKernel",
    "WeisfeilerLehman",
    "WeisfeilerLehmanAssignment",
    "WeisfeilerLehmanWasserstein",
    "check_kernel",
    "from_smiles",
    "gram",
    "graph_kernels",
    "median_gamma",
    "to_smiles",
]
