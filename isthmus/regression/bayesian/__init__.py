"""The posterior over maps of low rank.

==================  =====================================================================
``estimator.py``    ``BayesianStiefelRegression``: how draws are made
``prediction.py``   what a posterior is for: predictions, intervals, new outputs
``parameters.py``   what the parameters may be
``ranks.py``        the rank by leave-one-out scores
``problem.py``      data along their principal axes, and the prior
``likelihoods.py``  Gaussian, Laplacian, Student and any loss as a density
``noise.py``        scales and covariance of the noise
``gibbs.py``        Gibbs sampling of both factors, or of the whole map
``orbits.py``       the balance of the two factors of one map, drawn from its own law
``posteriors.py``   densities in the variables that a sampler moves
``manifold.py``     Hamiltonian Monte Carlo, and the thesis' Metropolised Gibbs sampler
``mode.py``         the mode, found directly
``chains.py``       running chains side by side and judging them
``draws.py``        what a chain starts from and leaves behind
``subspaces.py``    ``SubspacePosterior``: aligned singular vectors
``export.py``       draws for ArviZ
==================  =====================================================================
"""

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {
        "chains": "ChainReport",
        "estimator": "BayesianStiefelRegression",
        "subspaces": "SubspacePosterior",
    },
    neighbours={
        "chains": "Settings",
        "draws": "ChainDraws Recorder Start",
        "likelihoods": "Likelihood",
        "mode": "scatter_start",
        "posteriors": "Posterior singular_parts",
        "problem": "Prior Problem",
    },
)
