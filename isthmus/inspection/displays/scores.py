"""Rows in the plane of two components."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isthmus.inspection._model import latent_part
from isthmus.inspection.displays._axes import Display
from isthmus.inspection.outliers import hotelling_t2, q_residuals, t2_limit


@dataclass(eq=False)
class ScoresDisplay(Display):
    """Scores of rows in the plane of two components, with the limits of T2 and Q.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, 2)
        The second column is zero where the model has one component.
    components : tuple of int
        Which components, from 0.
    t2, q : OutlierStatistic or None
        Statistics of the rows and their limits.
    radii : tuple of float
        Half axes of the ellipse of T2 in this plane.
    color : ndarray of shape (n_samples,) or None

    Attributes
    ----------
    ax_, figure_ :
        Of matplotlib, once drawn.
    """

    scores: NDArray
    _: KW_ONLY
    components: tuple[int, int] = (0, 1)
    t2: Any = None
    q: Any = None
    radii: tuple[float, float] = (0.0, 0.0)
    color: NDArray | None = None

    @property
    def outlying(self) -> NDArray:
        """Rows above either limit, a boolean array."""
        return self.t2.outlying | (self.q.outlying if self.q is not None else False)

    @classmethod
    def compute(
        cls,
        model: Any,
        X: ArrayLike,
        *,
        components: tuple[int, int] = (0, 1),
        color: ArrayLike | None = None,
        level: float = 0.95,
        training: bool = True,
    ) -> ScoresDisplay:
        """Compute the scores of rows and the limits of T2 and Q.

        Parameters
        ----------
        model : fitted latent regression, or a search, classifier or pipeline of one
        X : array of shape (n_samples, n_features)
            Complete rows.
        components : tuple of int, default=(0, 1)
            Which two components, from 0.
        color : array of shape (n_samples,), default=None
            One value per row, for example one of the outputs.
        level : float, default=0.95
            Share of ordinary rows within the limits.
        training : bool, default=True
            Whether ``X`` are the rows of the fit.

        Returns
        -------
        display : ScoresDisplay
        """
        model, X = latent_part(model, X)
        T = np.asarray(model.transform(X), dtype=float)
        if T.shape[1] == 0:
            raise ValueError("the model has no components to show.")
        first, second = (min(c, T.shape[1] - 1) for c in components)
        plane = np.column_stack([T[:, first], T[:, second] if second != first else 0 * T[:, 0]])
        t2 = hotelling_t2(model, X, level=level, training=training)
        try:
            q = q_residuals(model, X, level=level)
        except ValueError:  # as many components as rows: nothing is left
            q = None
        n = float(model.weight_)
        limit = t2_limit(n, 2, level, training=False) if n > 2 else 0.0
        spread = np.diag(model.score_gram_)[[first, second]] / max(n - 1, 1)
        radii = np.sqrt(limit * spread)
        return cls(
            plane,
            components=(first, second),
            t2=t2,
            q=q,
            radii=(float(radii[0]), float(radii[1]) if second != first else 0.0),
            color=None if color is None else np.asarray(color, dtype=float),
        )

    def _draw(self, ax: Any) -> None:
        drawn = ax.scatter(*self.scores.T, c=self.color, s=18)
        out = self.scores[self.outlying]
        ax.scatter(*out.T, s=70, facecolors="none", edgecolors="tab:red", label="outlying")
        angle = np.linspace(0, 2 * np.pi, 200)
        ax.plot(
            self.radii[0] * np.cos(angle), self.radii[1] * np.sin(angle), "--", lw=1, color="gray"
        )
        a, b = self.components
        ax.set(xlabel=f"component {a + 1}", ylabel=f"component {b + 1}")
        if self.color is not None:
            self.figure_.colorbar(drawn, ax=ax)
        if len(out):
            ax.legend()
