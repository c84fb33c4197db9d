"""Questions to a fitted linear model: what it explains, which inputs matter, what to trust.

=========================  ==================  ==================================================
name                       file                question
=========================  ==================  ==================================================
``explained_variance``     ``variance.py``     how much of X and Y does each component explain?
``vip``                    ``importance.py``   which inputs carry the components that explain Y?
``selectivity_ratio``      ``importance.py``   which inputs carry the prediction, target by target?
``hotelling_t2``           ``outliers.py``     which rows are extreme within the model?
``q_residuals``            ``outliers.py``     which rows does the model not describe?
``leverage``               ``outliers.py``     which rows pull the fit towards themselves?
``coefficient_intervals``  ``coefficients.py`` how sure are the coefficients?
``prediction_interval``    ``prediction.py``   between which bounds will a new output lie?
``permutation_test``       ``permutation.py``  is there anything to learn at all?
``figures_of_merit``       ``merit.py``        how large are the errors, in units of each output?
``Trusted``                ``trusted.py``      which predictions can be trusted? Of any estimator
=========================  ==================  ==================================================

All but the last two take a fitted :class:`~isthmus.PCR`, :class:`~isthmus.PLS`,
:class:`~isthmus.ReducedRankRegression`, :class:`~isthmus.StiefelRegression` or
:class:`~isthmus.ManifoldPLS` and never change it; an error says why where a question has no answer, as for
a map moved by blocks (``online="proximal"``), which keeps nothing of its rows. Sample weights mean what
they mean in ``fit``: a whole number counts as that many copies of the row. Answers with more than one part
are small frozen records with named fields.

Pictures are in ``displays/``, one class per picture; :mod:`isthmus.inspection.displays` lists them.
"""

from isthmus.inspection.coefficients import coefficient_intervals
from isthmus.inspection.displays.columns import CoefficientsDisplay, LoadingsDisplay, VIPDisplay
from isthmus.inspection.displays.component_curve import ComponentCurveDisplay
from isthmus.inspection.displays.compression import CompressionDisplay
from isthmus.inspection.displays.explained_variance import ExplainedVarianceDisplay
from isthmus.inspection.displays.parity import ParityDisplay
from isthmus.inspection.displays.preimages import PreimageDisplay
from isthmus.inspection.displays.s_plot import SPlotDisplay
from isthmus.inspection.displays.scores import ScoresDisplay
from isthmus.inspection.displays.subspace import SubspaceDisplay
from isthmus.inspection.domain import Domain as Domain
from isthmus.inspection.importance import selectivity_ratio, vip
from isthmus.inspection.merit import FiguresOfMerit as FiguresOfMerit
from isthmus.inspection.merit import figures_of_merit
from isthmus.inspection.merit import rmse as rmse
from isthmus.inspection.outliers import hotelling_t2, leverage, q_residuals
from isthmus.inspection.permutation import permutation_test
from isthmus.inspection.prediction import prediction_interval
from isthmus.inspection.trust import OutsideDomainWarning
from isthmus.inspection.trust import Trust as Trust
from isthmus.inspection.trusted import Trusted
from isthmus.inspection.variance import explained_variance

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
