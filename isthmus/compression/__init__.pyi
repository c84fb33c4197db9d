from isthmus.compression.models import CompressedClassifier as CompressedClassifier
from isthmus.compression.models import CompressedOutlierDetector as CompressedOutlierDetector
from isthmus.compression.models import CompressedRegressor as CompressedRegressor
from isthmus.compression.models import CompressedTransformer as CompressedTransformer
from isthmus.compression.path import CompressionPath as CompressionPath
from isthmus.compression.reduction import compress as compress
from isthmus.compression.select import Problem as Problem
from isthmus.compression.select import make_problem as make_problem
from isthmus.compression.select import order_points as order_points
from isthmus.compression.select import pursue as pursue
from isthmus.kernels.pursuit import greedy_pursuit as greedy_pursuit

__all__ = [
    "compress",
]
