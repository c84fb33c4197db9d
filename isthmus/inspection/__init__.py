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

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {
        "isthmus._validation": "OutsideDomainWarning",
        "coefficients": "coefficient_intervals",
        "displays.columns": "CoefficientsDisplay LoadingsDisplay VIPDisplay",
        "displays.component_curve": "ComponentCurveDisplay",
        "displays.compression": "CompressionDisplay",
        "displays.explained_variance": "ExplainedVarianceDisplay",
        "displays.parity": "ParityDisplay",
        "displays.preimages": "PreimageDisplay",
        "displays.s_plot": "SPlotDisplay",
        "displays.scores": "ScoresDisplay",
        "displays.subspace": "SubspaceDisplay",
        "importance": "selectivity_ratio vip",
        "merit": "figures_of_merit",
        "outliers": "hotelling_t2 leverage q_residuals",
        "permutation": "permutation_test",
        "prediction": "prediction_interval",
        "trusted": "Trusted",
        "variance": "explained_variance",
    },
    neighbours={
        "_domain_parts": "renumber without_rows",
        "_model": "names_of_outputs split_model",
        "displays._axes": "positions unit_of",
        "distances": "is_curve",
        "domain": "Domain",
        "merit": "FiguresOfMerit rmse",
        "order": "Order trend_p_value",
        "outliers": "OutlierStatistic t2_limit",
        "trust": "INSIDE_LEVEL RARE_SHIFT Trust shift_p_value tell_outside",
        "trust_layer": "TrustLayer",
        "unusual": "FitRows",
    },
)
