"""Expansions with fewer points: faster predictions of any kernel model that is already fitted.

=================  ====================================================================
``compress.py``    ``compress``: any model, any method, the errors of every size
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

from isthmus.compression.compress import compress
from isthmus.compression.models import CompressedClassifier as CompressedClassifier
from isthmus.compression.models import CompressedOutlierDetector as CompressedOutlierDetector
from isthmus.compression.models import CompressedRegressor as CompressedRegressor
from isthmus.compression.models import CompressedTransformer as CompressedTransformer
from isthmus.compression.path import CompressionPath as CompressionPath
from isthmus.kernels.pursuit import greedy_pursuit as greedy_pursuit

__all__ = [
    "compress",
]
