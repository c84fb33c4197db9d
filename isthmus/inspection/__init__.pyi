from isthmus._validation import OutsideDomainWarning as OutsideDomainWarning
from isthmus.inspection._domain_parts import renumber as renumber
from isthmus.inspection._domain_parts import without_rows as without_rows
from isthmus.inspection._model import names_of_outputs as names_of_outputs
from isthmus.inspection._model import split_model as split_model
from isthmus.inspection.coefficients import coefficient_intervals as coefficient_intervals
from isthmus.inspection.displays._axes import positions as positions
from isthmus.inspection.displays._axes import unit_of as unit_of
from isthmus.inspection.displays.columns import CoefficientsDisplay as CoefficientsDisplay
from isthmus.inspection.displays.columns import LoadingsDisplay as LoadingsDisplay
from isthmus.inspection.displays.columns import VIPDisplay as VIPDisplay
from isthmus.inspection.displays.component_curve import ComponentCurveDisplay as ComponentCurveDisplay
from isthmus.inspection.displays.compression import CompressionDisplay as CompressionDisplay
from isthmus.inspection.displays.explained_variance import ExplainedVarianceDisplay as ExplainedVarianceDisplay
from isthmus.inspection.displays.parity import ParityDisplay as ParityDisplay
from isthmus.inspection.displays.preimages import PreimageDisplay as PreimageDisplay
from isthmus.inspection.displays.s_plot import SPlotDisplay as SPlotDisplay
from isthmus.inspection.displays.scores import ScoresDisplay as ScoresDisplay
from isthmus.inspection.displays.subspace import SubspaceDisplay as SubspaceDisplay
from isthmus.inspection.distances import is_curve as is_curve
from isthmus.inspection.domain import Domain as Domain
from isthmus.inspection.importance import selectivity_ratio as selectivity_ratio
from isthmus.inspection.importance import vip as vip
from isthmus.inspection.merit import FiguresOfMerit as FiguresOfMerit
from isthmus.inspection.merit import figures_of_merit as figures_of_merit
from isthmus.inspection.merit import rmse as rmse
from isthmus.inspection.order import Order as Order
from isthmus.inspection.order import trend_p_value as trend_p_value
from isthmus.inspection.outliers import OutlierStatistic as OutlierStatistic
from isthmus.inspection.outliers import hotelling_t2 as hotelling_t2
from isthmus.inspection.outliers import leverage as leverage
from isthmus.inspection.outliers import q_residuals as q_residuals
from isthmus.inspection.outliers import t2_limit as t2_limit
from isthmus.inspection.permutation import permutation_test as permutation_test
from isthmus.inspection.prediction import prediction_interval as prediction_interval
from isthmus.inspection.trust import INSIDE_LEVEL as INSIDE_LEVEL
from isthmus.inspection.trust import RARE_SHIFT as RARE_SHIFT
from isthmus.inspection.trust import Trust as Trust
from isthmus.inspection.trust import shift_p_value as shift_p_value
from isthmus.inspection.trust import tell_outside as tell_outside
from isthmus.inspection.trust_layer import TrustLayer as TrustLayer
from isthmus.inspection.trusted import Trusted as Trusted
from isthmus.inspection.unusual import FitRows as FitRows
from isthmus.inspection.variance import explained_variance as explained_variance

__all__ = [
    "CoefficientsDisplay",
    "ComponentCurveDisplay",
    "CompressionDisplay",
    "ExplainedVarianceDisplay",
    "LoadingsDisplay",
    "OutsideDomainWarning",
    "ParityDisplay",
    "PreimageDisplay",
    "SPlotDisplay",
    "ScoresDisplay",
    "SubspaceDisplay",
    "Trusted",
    "VIPDisplay",
    "coefficient_intervals",
    "explained_variance",
    "figures_of_merit",
    "hotelling_t2",
    "leverage",
    "permutation_test",
    "prediction_interval",
    "q_residuals",
    "selectivity_ratio",
    "vip",
]
