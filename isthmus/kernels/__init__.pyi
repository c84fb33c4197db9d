from isthmus.kernels.bandwidth import median_gamma as median_gamma
from isthmus.kernels.base import Kernel as Kernel
from isthmus.kernels.base import VectorKernel as VectorKernel
from isthmus.kernels.centering import center_train as center_train
from isthmus.kernels.checks import CHEAP_ORDER as CHEAP_ORDER
from isthmus.kernels.checks import PSD_TOL as PSD_TOL
from isthmus.kernels.checks import ROUGH as ROUGH
from isthmus.kernels.checks import check_gram_finite as check_gram_finite
from isthmus.kernels.checks import check_precomputed as check_precomputed
from isthmus.kernels.checks import check_psd as check_psd
from isthmus.kernels.checks import extreme_eigenvalues as extreme_eigenvalues
from isthmus.kernels.checks import missing_part as missing_part
from isthmus.kernels.composite import Constant as Constant
from isthmus.kernels.composite import Normalised as Normalised
from isthmus.kernels.composite import Power as Power
from isthmus.kernels.composite import Product as Product
from isthmus.kernels.composite import Standardised as Standardised
from isthmus.kernels.composite import Sum as Sum
from isthmus.kernels.composite import is_psd as is_psd
from isthmus.kernels.distances import EuclideanKernel as EuclideanKernel
from isthmus.kernels.distances import L2Laplacian as L2Laplacian
from isthmus.kernels.distances import Laplacian as Laplacian
from isthmus.kernels.distances import PROFILE_FLOOR as PROFILE_FLOOR
from isthmus.kernels.distances import RBF as RBF
from isthmus.kernels.distinct import content_places as content_places
from isthmus.kernels.distinct import copy_groups as copy_groups
from isthmus.kernels.distinct import deal_by_content as deal_by_content
from isthmus.kernels.distinct import distinct_samples as distinct_samples
from isthmus.kernels.distinct import sample_groups as sample_groups
from isthmus.kernels.gaussian import Gaussian as Gaussian
from isthmus.kernels.gram_matrix import gram as gram
from isthmus.kernels.gram_matrix import gram_blocks as gram_blocks
from isthmus.kernels.gram_matrix import gram_diagonal as gram_diagonal
from isthmus.kernels.gram_matrix import length as length
from isthmus.kernels.gram_matrix import owned as owned
from isthmus.kernels.gram_matrix import shifted_gram as shifted_gram
from isthmus.kernels.gram_matrix import take as take
from isthmus.kernels.graphs.choices import graph_kernels as graph_kernels
from isthmus.kernels.graphs.cycles import Cycles as Cycles
from isthmus.kernels.graphs.graph import Graph as Graph
from isthmus.kernels.graphs.graph import as_graph as as_graph
from isthmus.kernels.graphs.marginalised import GraphKernel as GraphKernel
from isthmus.kernels.graphs.molecules import from_smiles as from_smiles
from isthmus.kernels.graphs.molecules import to_molecule as to_molecule
from isthmus.kernels.graphs.molecules import to_smiles as to_smiles
from isthmus.kernels.graphs.shortest_path import ShortestPath as ShortestPath
from isthmus.kernels.graphs.weisfeiler_lehman import WeisfeilerLehman as WeisfeilerLehman
from isthmus.kernels.graphs.weisfeiler_lehman import WeisfeilerLehmanAssignment as WeisfeilerLehmanAssignment
from isthmus.kernels.graphs.weisfeiler_lehman import WeisfeilerLehmanWasserstein as WeisfeilerLehmanWasserstein
from isthmus.kernels.histograms import HistogramIntersection as HistogramIntersection
from isthmus.kernels.indexed import Indexed as Indexed
from isthmus.kernels.postures import PoseKernel as PoseKernel
from isthmus.kernels.products import Cosine as Cosine
from isthmus.kernels.products import DotProductKernel as DotProductKernel
from isthmus.kernels.products import Exponential as Exponential
from isthmus.kernels.products import Linear as Linear
from isthmus.kernels.products import Polynomial as Polynomial
from isthmus.kernels.pursuit import Pursuit as Pursuit
from isthmus.kernels.pursuit import back_to_points as back_to_points
from isthmus.kernels.pursuit import greedy_pursuit as greedy_pursuit
from isthmus.kernels.report import KernelReport as KernelReport
from isthmus.kernels.report import check_kernel as check_kernel
from isthmus.kernels.resolve import NAMES as NAMES
from isthmus.kernels.resolve import kernel_names as kernel_names
from isthmus.kernels.resolve import resolve_kernel as resolve_kernel
from isthmus.kernels.samples import looks_like_vectors as looks_like_vectors
from isthmus.kernels.samples import needs_vectors as needs_vectors
from isthmus.kernels.samples import takes_vectors as takes_vectors
from isthmus.kernels.selection import METHODS as METHODS
from isthmus.kernels.selection import kernel_columns as kernel_columns
from isthmus.kernels.selection import landmark_factor as landmark_factor
from isthmus.kernels.selection import pivot_tol as pivot_tol
from isthmus.kernels.selection import pivoted_cholesky as pivoted_cholesky
from isthmus.kernels.selection import select_landmarks as select_landmarks
from isthmus.kernels.sequences.marginalised import SequenceKernel as SequenceKernel
from isthmus.kernels.sequences.mismatch import MismatchKernel as MismatchKernel
from isthmus.kernels.sequences.positions import PositionKernel as PositionKernel
from isthmus.kernels.sequences.spectrum import SpectrumKernel as SpectrumKernel
from isthmus.kernels.sequences.subsequence import SubsequenceKernel as SubsequenceKernel
from isthmus.kernels.sequences.vectors import VectorSequenceKernel as VectorSequenceKernel
from isthmus.kernels.sparse_rows import refuse_sparse as refuse_sparse
from isthmus.kernels.sparse_rows import takes_sparse_rows as takes_sparse_rows
from isthmus.kernels.wrappers import Function as Function
from isthmus.kernels.wrappers import Metric as Metric
from isthmus.kernels.wrappers import Precomputed as Precomputed
from isthmus.kernels.wrappers import is_precomputed as is_precomputed

__all__ = [
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
    "RBF",
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
