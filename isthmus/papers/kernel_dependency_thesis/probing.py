"""Weights of n-grams from kernel values alone, [B2006] Sec. 3.4.4.

``NgramIndex`` reads the same weights off the expansion.
"""

from __future__ import annotations

from typing import Any


def probed_weight(word: Any, inner: Any, stop: float) -> float:
    r"""Weight of an n-gram in a point of feature space, from kernel values alone.

    .. math::
        w_h = \frac{f(h) - f(h_{:-1}) - f(h_{1:}) + f(h_{1:-1})}{\lambda^2 (1 - \lambda)^{2(|h| - 1)}},
        \qquad f(h) = |h| \langle \Psi, \phi(h) \rangle.

    It is ``sum_i a_i c_h(x_i) / m_i`` of the expansion; [B2006]_ Sec. 3.4.4 for single symbols.
    ``inner(word)`` returns the inner product with a word; constant termination.
    """

    def f(part: Any) -> float:
        return len(part) * float(inner(part)) if len(part) else 0.0

    raw = f(word) - (f(word[:-1]) + f(word[1:]) - f(word[1:-1]) if len(word) > 1 else 0.0)
    return raw / (stop**2 * (1.0 - stop) ** (2 * (len(word) - 1)))
