"""Pictures: one Display class each, in scikit-learn's manner.

============================ ========================== =========================================
name                         file                       question
============================ ========================== =========================================
``ComponentCurveDisplay``    ``component_curve.py``     how many components?
``ScoresDisplay``            ``scores.py``              how do the rows lie, and which lie apart?
``LoadingsDisplay``          ``loadings.py``            what is a component made of?
``CoefficientsDisplay``      ``coefficients.py``        what does the map weigh, wavelength by wavelength?
``VIPDisplay``               ``importance.py``          which inputs matter?
``ParityDisplay``            ``parity.py``              how near is predicted to observed?
``ExplainedVarianceDisplay`` ``explained_variance.py``  how much does each component explain?
``CompressionDisplay``       ``compression.py``         how many points does a kernel model need?
``PreimageDisplay``          ``preimages.py``           what do the pre-images look like?
``SPlotDisplay``             ``s_plot.py``              which inputs go with the predictive score?
``SubspaceDisplay``          ``subspace.py``            do the coordinates hold on held-out rows?
============================ ========================== =========================================

``from_estimator`` computes and draws, ``compute`` gives the numbers alone, ``plot(ax)`` draws, and
``ax_`` and ``figure_`` are what was drawn in. matplotlib is imported when something is drawn.
"""

from isthmus.inspection.displays.coefficients import CoefficientsDisplay
from isthmus.inspection.displays.component_curve import ComponentCurveDisplay
from isthmus.inspection.displays.compression import CompressionDisplay
from isthmus.inspection.displays.explained_variance import ExplainedVarianceDisplay
from isthmus.inspection.displays.importance import VIPDisplay
from isthmus.inspection.displays.loadings import LoadingsDisplay
from isthmus.inspection.displays.parity import ParityDisplay
from isthmus.inspection.displays.preimages import PreimageDisplay
from isthmus.inspection.displays.s_plot import SPlotDisplay
from isthmus.inspection.displays.scores import ScoresDisplay
from isthmus.inspection.displays.subspace import SubspaceDisplay

__all__ = [
    "CoefficientsDisplay",
    "ComponentCurveDisplay",
    "CompressionDisplay",
    "ExplainedVarianceDisplay",
    "LoadingsDisplay",
    "ParityDisplay",
    "PreimageDisplay",
    "SPlotDisplay",
    "ScoresDisplay",
    "SubspaceDisplay",
    "VIPDisplay",
]
