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

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {
        "base": "Loss",
        "epsilon_insensitive": "EpsilonInsensitive",
        "huber": "Huber",
        "huber_rows": "HuberRows",
        "log_cosh": "LogCosh",
        "quantile": "Quantile",
    },
    neighbours={
        "absolute": "Absolute",
        "checks": "check_gradient check_user_loss",
        "function": "FunctionLoss",
        "logistic": "Logistic",
        "poisson": "Poisson",
        "registry": "get_loss",
        "residual": "ResidualLoss ScaleParameter check_positive",
        "scale": "MAD_TO_DEVIATION column_medians robust_scale robust_scales",
        "smoothing": "PiecewiseLinear",
        "squared": "Squared",
    },
)
