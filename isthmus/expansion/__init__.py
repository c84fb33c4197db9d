"""Fitted kernel models as expansions: ``f(x) = sum_i a_i k(x_i, x) + b``.

================  =========================================================================
``expansion.py``  ``Expansion``: points, coefficients, kernel, intercept
``models.py``     scikit-learn's models as expansions
``noise.py``      kernels of noise, which is nothing between one sample and another
================  =========================================================================
"""

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {
        "expansion": "Expansion",
    },
    neighbours={
        "models": "has_common_expansion is_latent_binary",
    },
)
