"""Fitted kernel models as expansions: ``f(x) = sum_i a_i k(x_i, x) + b``.

================  =========================================================================
``expansion.py``  ``Expansion``: points, coefficients, kernel, intercept
``models.py``     scikit-learn's models as expansions
``noise.py``      kernels of noise, which is nothing between one sample and another
================  =========================================================================
"""

from isthmus.expansion.expansion import Expansion

__all__ = ["Expansion"]
