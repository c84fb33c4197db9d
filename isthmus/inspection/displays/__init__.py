"""Pictures: one Display class each, in scikit-learn's manner.

============================ ========================== =========================================
name                         file                       question
============================ ========================== =========================================
``ComponentCurveDisplay``    ``component_curve.py``     how many components?
``ScoresDisplay``            ``scores.py``              how do the rows lie, and which lie apart?
``LoadingsDisplay``          ``columns.py``             what is a component made of?
``CoefficientsDisplay``      ``columns.py``             what does the map weigh, wavelength by wavelength?
``VIPDisplay``               ``columns.py``             which inputs matter?
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
