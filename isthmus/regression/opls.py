"""Orthogonal projections to latent structures: the map of PLS, turned into predictive and other scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isthmus._linalg import GRAM_RANK_TOL, Array
from isthmus.regression.factors import Factors
from isthmus.regression.pls import PLS


class OPLS(PLS):
    r"""Split the map of ``PLS`` into predictive and orthogonal components (O-PLS).

    For one output the first score is proportional to the fitted output and the others are orthogonal to it,
    to each other and to y, [TW2002]_. The published algorithm removes one orthogonal component from X after
    another; the scores it finds are a rotation of those of PLS with as many components. With the loadings
    :math:`q_i` and the squared lengths :math:`g_i` of the PLS scores :math:`t_i` that rotation has a closed
    form,

    .. math::
        t_p = \frac{g_1 q_1}{\sum_i g_i q_i^2} \sum_i q_i t_i, \qquad
        t_{o,j} = t_{j+1} - \frac{g_{j+1} q_{j+1}}{\sum_{i \le j} g_i q_i^2} \sum_{i \le j} q_i t_i

    so that predictions are those of ``PLS(n_components)``. For several outputs the predictive scores span
    the fitted outputs: as many as these have dimensions. ``IndicatorClassifier(OPLS())`` is O-PLS-DA.

    Parameters
    ----------
    n_components : int, "auto" or None, default=2
        Number of all components, predictive and orthogonal, as in ``PLS``.
    scale : bool or "y", default=True
        Whether columns of X and y are divided by their standard deviations; "y": those of y alone.
    missing : {"error", "em"}, default="error"
        What to do with NaN, see ``PLS``.
    max_iter : int, default=500
        Largest number of iterations of ``missing="em"``; nothing else iterates.
    tol : float, default=1e-6
        Relative change of the log-likelihood at which ``missing="em"`` stops.

    Attributes
    ----------
    n_predictive_ : int
        Number of predictive components, which come first: 1 for one output, or for two classes.
    coef_, intercept_, coef_path_, n_components_ :
        As in ``PLS``, and so are the means, scales, loadings and explained variances.
    x_rotations_, x_loadings_, y_loadings_ : ndarray of shape (n_features or n_targets, n_components_)
        Those of the turned scores; ``y_loadings_`` are zero for orthogonal components.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.regression import OPLS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 3)) @ rng.normal(size=(3, 20))
    >>> y = X[:, 0] + 0.1 * rng.normal(size=50)
    >>> model = OPLS(3).fit(X, y)
    >>> scores = model.transform(X)
    >>> bool(abs(scores[:, 1:].T @ (y - y.mean())).max() < 1e-9)  # orthogonal to y
    True
    """

    algorithm = "auto"

    def __init__(
        self,
        n_components: Any = 2,
        *,
        scale: bool | str = True,
        missing: str = "error",
        max_iter: int = 500,
        tol: float = 1e-6,
    ) -> None:
        self.n_components = n_components
        self.scale = scale
        self.missing = missing
        self.max_iter = max_iter
        self.tol = tol

    def _turn(self, factors: Factors) -> tuple[Array, Array]:
        self._plain_weights = factors.weights
        lengths = np.sqrt(factors.gram.diagonal())
        self.n_predictive_, turn = turn_to_predictive(lengths, factors.y_loadings.T)
        return turn, np.asarray(np.linalg.inv(turn), dtype=np.float64)

    def _store(self, *args: Any, **options: Any) -> None:
        super()._store(*args, **options)
        weights = self.__dict__.pop("_plain_weights")
        r = self.n_predictive_
        self.y_loadings_[:, r:] = 0.0  # but for rounding they are
        if r == 1 and weights is not None:
            signs = np.einsum("pk,pk->k", weights, self.x_rotations_)
            self.x_weights_ = weights * np.where(signs < 0, -1.0, 1.0)

    def remove_orthogonal(self, X: ArrayLike) -> NDArray:
        """Return inputs without their orthogonal components, as a treatment before another model.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        corrected : ndarray of shape (n_samples, n_features)
        """
        rows = self._check_new(X)
        r = self.n_predictive_
        scores = self._affine(rows, self.x_rotations_[:, r:] / self.x_scale_[:, None])
        unwanted = (scores @ self.x_loadings_[:, r:].T) * self.x_scale_
        return np.asarray((rows - unwanted).astype(rows.dtype, copy=False))


def turn_to_predictive(lengths: Array, loadings: Array) -> tuple[int, Array]:
    """Return the number of predictive components and the turn (k, k) that puts them first.

    ``lengths`` are those of orthogonal scores, (k,), and ``loadings`` the outputs on them, (k, q).
    """
    fitted = lengths[:, None] * loadings  # in orthonormal coordinates of the scores
    k = len(lengths)
    if k == 0:
        return 0, np.zeros((0, 0))
    U, strengths, _ = np.linalg.svd(fitted, full_matrices=False)
    r = int((strengths > GRAM_RANK_TOL * strengths[0]).sum())
    basis = U[:, :r]
    for m in range(r + 1, k + 1):  # one more that lies in the first m scores
        column = np.zeros(k)
        column[:m] = np.linalg.qr(basis[:m], mode="complete")[0][:, m - 1]
        basis = np.column_stack([basis, column])
    turn = basis / lengths[:, None]
    # One predictive score has the scale of the published one, see the class; of several, the turns have
    # unit length.
    turn[:, :r] *= basis[0, 0] * lengths[0] if r == 1 else 1 / np.linalg.norm(turn[:, :r], axis=0)
    last = turn[np.arange(r, k), np.arange(r, k)]
    turn[:, r:] /= np.where(last == 0, 1.0, last)
    return r, turn
