"""The methods that the ladder compares: each chooses its own numbers in ``fit``.

================== ====================== =========================================================
class              file                   what it is
================== ====================== =========================================================
``InnerSearch``    ``maps.py``            what all of them share, and the plain maps that they find
``PathSearch``     ``treated.py``         partial least squares, every number of components;
                                          ``pls_stack.py`` solves all folds at once
``RidgeSearch``    ``treated.py``         ridge regression, a weight for each target
``TreatedSearch``  ``treated.py``         any of these with each treatment of curves
``PrincipalSearch`` ``principal.py``      principal components, ranks and ridge weights
``SparseSearch``   ``sparse.py``          the lasso, its path from corner to corner
``RobustSearch``   ``stages.py``          a robust loss
``KernelSearch``   ``kernel_search.py``   kernel ridge regression; ``input_widths.py`` for each input,
                                          ``tails.py`` for columns with long tails
``Chain``          ``chains.py``          each target corrected by what the others are predicted to be
``EvidenceSearch`` ``evidence.py``        treatments, kernels and widths averaged by their evidence
``LogSearch``      ``logarithms.py``      Gaussian processes of the logarithms of positive outputs
``TreeSearch``     ``trees.py``           trees of scikit-learn, as tables
``BlockSearch``    ``block_search.py``    several blocks of inputs, each with its own weight
================== ====================== =========================================================
"""
