from isthmus.losses.absolute import Absolute as Absolute
from isthmus.losses.base import Loss as Loss
from isthmus.losses.checks import check_gradient as check_gradient
from isthmus.losses.checks import check_user_loss as check_user_loss
from isthmus.losses.epsilon_insensitive import EpsilonInsensitive as EpsilonInsensitive
from isthmus.losses.function import FunctionLoss as FunctionLoss
from isthmus.losses.huber import Huber as Huber
from isthmus.losses.huber_rows import HuberRows as HuberRows
from isthmus.losses.log_cosh import LogCosh as LogCosh
from isthmus.losses.logistic import Logistic as Logistic
from isthmus.losses.poisson import Poisson as Poisson
from isthmus.losses.quantile import Quantile as Quantile
from isthmus.losses.registry import get_loss as get_loss
from isthmus.losses.residual import ResidualLoss as ResidualLoss
from isthmus.losses.residual import ScaleParameter as ScaleParameter
from isthmus.losses.residual import check_positive as check_positive
from isthmus.losses.scale import MAD_TO_DEVIATION as MAD_TO_DEVIATION
from isthmus.losses.scale import column_medians as column_medians
from isthmus.losses.scale import robust_scale as robust_scale
from isthmus.losses.scale import robust_scales as robust_scales
from isthmus.losses.smoothing import PiecewiseLinear as PiecewiseLinear
from isthmus.losses.squared import Squared as Squared

__all__ = [
    "EpsilonInsensitive",
    "Huber",
    "HuberRows",
    "LogCosh",
    "Loss",
    "Quantile",
]
