"""Losses: value and gradient of what a fit minimises.

==================== ============================== ===================================
name                 class                          what it is
==================== ============================== ===================================
squared                                             half the squared error
absolute                                            medians; unmoved by outliers
huber                :class:`Huber`                 squares, then absolute values
huber_rows           :class:`HuberRows`             the same of whole rows
epsilon_insensitive  :class:`EpsilonInsensitive`    a tube of errors that cost nothing
quantile             :class:`Quantile`              quantiles instead of the median
log_cosh             :class:`LogCosh`               Huber's without a corner
logistic                                            labels 0 and 1
poisson                                             counts, log link
(two functions)                                     a loss of your own
==================== ============================== ===================================

Estimators take an object, a name or a pair of functions; losses without parameters have a name alone.
Parameters left at None are set from a robust
scale of the residuals.
"""

from isthmus.losses.absolute import Absolute as Absolute
from isthmus.losses.base import Loss
from isthmus.losses.checks import check_gradient as check_gradient
from isthmus.losses.epsilon_insensitive import EpsilonInsensitive
from isthmus.losses.function import FunctionLoss as FunctionLoss
from isthmus.losses.huber import Huber
from isthmus.losses.huber_rows import HuberRows
from isthmus.losses.log_cosh import LogCosh
from isthmus.losses.logistic import Logistic as Logistic
from isthmus.losses.poisson import Poisson as Poisson
from isthmus.losses.quantile import Quantile
from isthmus.losses.squared import Squared as Squared

__all__ = [
    "EpsilonInsensitive",
    "Huber",
    "HuberRows",
    "LogCosh",
    "Loss",
    "Quantile",
]
