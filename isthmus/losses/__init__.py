"""Losses: value and gradient of what a fit minimises.

==================== ============================== ===================================
name                 class                          what it is
==================== ============================== ===================================
squared              :class:`Squared`               half the squared error
absolute             :class:`Absolute`              medians; unmoved by outliers
huber                :class:`Huber`                 squares, then absolute values
huber_rows           :class:`HuberRows`             the same of whole rows
epsilon_insensitive  :class:`EpsilonInsensitive`    a tube of errors that cost nothing
quantile             :class:`Quantile`              quantiles instead of the median
log_cosh             :class:`LogCosh`               Huber's without a corner
logistic             :class:`Logistic`              labels 0 and 1
poisson              :class:`Poisson`               counts, log link
(two functions)      :class:`FunctionLoss`          a loss of your own
==================== ============================== ===================================

``get_loss`` finds them by name, ``check_gradient`` compares a gradient with finite differences, and
``robust_scale`` is the scale from which parameters left at None are set.
"""

from isthmus.losses.absolute import Absolute
from isthmus.losses.base import Loss
from isthmus.losses.checks import check_gradient
from isthmus.losses.epsilon_insensitive import EpsilonInsensitive
from isthmus.losses.function import FunctionLoss
from isthmus.losses.huber import Huber
from isthmus.losses.huber_rows import HuberRows
from isthmus.losses.log_cosh import LogCosh
from isthmus.losses.logistic import Logistic
from isthmus.losses.poisson import Poisson
from isthmus.losses.quantile import Quantile
from isthmus.losses.squared import Squared

__all__ = [
    "Absolute",
    "EpsilonInsensitive",
    "FunctionLoss",
    "Huber",
    "HuberRows",
    "LogCosh",
    "Logistic",
    "Loss",
    "Poisson",
    "Quantile",
    "Squared",
    "check_gradient",
]
