"""Expansions with fewer points: faster predictions of any kernel model that is already fitted.

=================  ====================================================================
``reduction.py``   ``compress``: any model, any method, the errors of every size
``arguments.py``   checks of its arguments, and limits
``sizes.py``       compressed models of every size, and the size that is taken
``output_rows.py`` rows at which outputs are fitted
``path.py``        ``CompressionPath``: those errors
``models.py``      compressed models of scikit-learn, ``CompressedClassifier`` and its kin
``composite.py``   pipelines, searches and classifiers made of several
``exchange.py``    chosen points against better ones in their place
``construct.py``   points that may move
``indefinite.py``  points by the outputs, where the kernel is no inner product
``select.py``      which points stay, one function a method
``refit.py``       coefficients that fit the outputs, all sizes at once, and their ridge
``thresholds.py``  thresholds of classifiers
=================  ====================================================================
"""

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {
        "reduction": "compress",
    },
    neighbours={
        "models": "CompressedClassifier CompressedOutlierDetector "
        "CompressedRegressor CompressedTransformer",
        "path": "CompressionPath",
        "select": "Problem make_problem order_points pursue",
        "isthmus.kernels.pursuit": "greedy_pursuit",
    },
)
