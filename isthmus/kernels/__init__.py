"""Kernels: how alike are two objects?

``gram(kernel, X, Y)`` is the one door. ``kernel`` is an object from this list or one of scikit-learn's
Gaussian-process kernels, a name, a function of two samples, or ``"precomputed"``.

======================== =================================== =====================================
name                     class                               what it is
======================== =================================== =====================================
rbf                      :class:`RBF`                        ``exp(-gamma |x - y|^2)``
laplacian                :class:`Laplacian`                  ``exp(-gamma |x - y|_1)``
l2_laplacian             :class:`L2Laplacian`                ``exp(-gamma |x - y|)``
polynomial, poly         :class:`Polynomial`                 ``(gamma x'y + coef0) ^ degree``
linear                   :class:`Linear`                     ``x'y``
cosine                   :class:`Cosine`                     ``x'y / (|x| |y|)``
exponential              :class:`Exponential`                ``exp(gamma x'y)``
histogram_intersection   :class:`HistogramIntersection`      ``sum min(x, y)``
chi2, sigmoid, ...       :class:`Metric`                     scikit-learn's other metrics
(postures of an arm)     :class:`PoseKernel`                 inner products of the arm's points
(a function)             :class:`Function`                   your own, of two samples
precomputed              :class:`Precomputed`                values that are there already
``k1 + k2``, ``2 * k``   :class:`Sum`, :class:`Product`      with :class:`Constant` for numbers
``k ** 2``               :class:`Power`                      whole powers stay kernels
(sequences)              :class:`SequenceKernel`             all substrings, long ones for less
(sequences)              :class:`SpectrumKernel`             words of one length
(sequences)              :class:`MismatchKernel`             words of one length, a few symbols off
(sequences)              :class:`SubsequenceKernel`          words with gaps
(graphs)                 :class:`GraphKernel`                random walks that meet the same labels
(graphs)                 :class:`WeisfeilerLehman`           counts of refined labels
(objects by number)      :class:`Indexed`                    for estimators that take tables alone
(any kernel)             :class:`Normalised`                 every object at unit length
======================== =================================== =====================================
"""

from isthmus.kernels.bandwidth import median_gamma
from isthmus.kernels.base import Kernel, VectorKernel
from isthmus.kernels.centering import center_test, center_train
from isthmus.kernels.checks import check_precomputed
from isthmus.kernels.composite import Constant, Normalised, Power, Product, Sum
from isthmus.kernels.distances import RBF, L2Laplacian, Laplacian
from isthmus.kernels.gram import gram, gram_blocks, gram_diagonal
from isthmus.kernels.graphs import Graph, GraphKernel, WeisfeilerLehman, as_graph
from isthmus.kernels.histograms import HistogramIntersection, HistogramTables
from isthmus.kernels.indexed import Indexed
from isthmus.kernels.postures import PoseKernel
from isthmus.kernels.products import Cosine, Exponential, Linear, Polynomial
from isthmus.kernels.report import KernelReport, check_kernel
from isthmus.kernels.resolve import resolve_kernel
from isthmus.kernels.sequences import (
    MismatchKernel,
    SequenceKernel,
    SpectrumKernel,
    SubsequenceKernel,
)
from isthmus.kernels.wrappers import Function, Metric, Precomputed

__all__ = [
    "RBF",
    "Constant",
    "Cosine",
    "Exponential",
    "Function",
    "Graph",
    "GraphKernel",
    "HistogramIntersection",
    "HistogramTables",
    "Indexed",
    "Kernel",
    "KernelReport",
    "L2Laplacian",
    "Laplacian",
    "Linear",
    "Metric",
    "MismatchKernel",
    "Normalised",
    "Polynomial",
    "PoseKernel",
    "Power",
    "Precomputed",
    "Product",
    "SequenceKernel",
    "SpectrumKernel",
    "SubsequenceKernel",
    "Sum",
    "VectorKernel",
    "WeisfeilerLehman",
    "as_graph",
    "center_test",
    "center_train",
    "check_kernel",
    "check_precomputed",
    "gram",
    "gram_blocks",
    "gram_diagonal",
    "median_gamma",
    "resolve_kernel",
]
