"""From two tables to a model in one call: the ladder of methods, compared by honest cross-validation.

==================== =================== ==========================================================
name                 file                what it is
==================== =================== ==========================================================
``fit_auto``         ``front.py``        one call: compare, choose, fit, write the report
``MethodSearchCV``   ``search.py``       the comparison as an estimator; ``fitted.py`` once it is fitted
``LADDER``           ``ladder.py``       the table of methods, from the simplest up; a row is a method
``pls``, ...         ``builders.py``     how each method is built for a problem
``Problem, Rung``    ``problem.py``      what a method is built for, and what is known of it
``Trial``            ``trials.py``       a method in the outer folds; the blend of several
``Answers``          ``answers.py``      the most accurate, the simplest and the smallest answer
``KernelSearch``     ``kernel_search.py`` kernel ridge regression; ``input_widths.py`` for each input
``Chain``            ``chains.py``       each target corrected by what the others are predicted to be
``TreatedSearch``    ``treated.py``      a search with each treatment of curves; ridge and PLS paths
``EvidenceSearch``   ``evidence.py``     treatments, kernels and widths averaged by their evidence
``pls_paths``        ``pls_stack.py``    PLS of all folds at once, every number of components
``TailScaler``       ``tails.py``        columns with long tails, bent in and scaled
``PrincipalSearch``  ``principal.py``    principal components, ranks and ridge weights of all treatments
``SparseSearch``     ``sparse.py``       the lasso, its path from corner to corner
``LogSearch``        ``logarithms.py``   Gaussian processes of the logarithms of positive outputs
``BlockSearch``      ``block_search.py`` several blocks of inputs, each with its own weight
``TreeSearch``       ``trees.py``        trees of scikit-learn, as tables
``RobustSearch``     ``stages.py``       a robust loss
``Blend``            ``blends.py``       convex blends
``check_time``       ``clock.py``        a limit of time, kept between the steps of a search
``half_widths``      ``intervals.py``    intervals, from the errors of rows left out
==================== =================== ==========================================================
"""

from isthmus.auto.front import fit_auto
from isthmus.auto.search import MethodSearchCV

__all__ = [
    "MethodSearchCV",
    "fit_auto",
]
