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

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {
        "bandwidth": "median_gamma",
        "composite": "Normalised",
        "distances": "Laplacian RBF",
        "gaussian": "Gaussian",
        "gram_matrix": "gram",
        "graphs.choices": "graph_kernels",
        "graphs.cycles": "Cycles",
        "graphs.graph": "Graph",
        "graphs.marginalised": "GraphKernel",
        "graphs.molecules": "from_smiles to_smiles",
        "graphs.shortest_path": "ShortestPath",
        "graphs.weisfeiler_lehman": "WeisfeilerLehman WeisfeilerLehmanAssignment "
        "WeisfeilerLehmanWasserstein",
        "indexed": "Indexed",
        "products": "Linear Polynomial",
        "report": "check_kernel",
        "sequences.marginalised": "SequenceKernel",
        "sequences.mismatch": "MismatchKernel",
        "sequences.positions": "PositionKernel",
        "sequences.spectrum": "SpectrumKernel",
        "sequences.subsequence": "SubsequenceKernel",
        "sequences.vectors": "VectorSequenceKernel",
    },
    neighbours={
        "base": "Kernel VectorKernel",
        "centering": "center_train",
        "checks": "CHEAP_ORDER PSD_TOL ROUGH check_gram_finite check_precomputed "
        "check_psd extreme_eigenvalues missing_part",
        "composite": "Constant Power Product Standardised Sum is_psd",
        "distances": "EuclideanKernel L2Laplacian PROFILE_FLOOR",
        "distinct": "content_places copy_groups deal_by_content distinct_samples sample_groups",
        "gram_matrix": "gram_blocks gram_diagonal length owned shifted_gram take",
        "graphs.graph": "as_graph",
        "graphs.molecules": "to_molecule",
        "histograms": "HistogramIntersection",
        "postures": "PoseKernel",
        "products": "Cosine DotProductKernel Exponential",
        "pursuit": "Pursuit back_to_points greedy_pursuit",
        "report": "KernelReport",
        "resolve": "NAMES kernel_names resolve_kernel",
        "samples": "looks_like_vectors needs_vectors takes_vectors",
        "selection": "METHODS kernel_columns landmark_factor pivot_tol pivoted_cholesky "
        "select_landmarks",
        "sparse_rows": "refuse_sparse takes_sparse_rows",
        "wrappers": "Function Metric Precomputed is_precomputed",
    },
)
