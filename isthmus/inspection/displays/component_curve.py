"""The curve that chooses the number of components."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from isthmus.inspection.displays._axes import Display


@dataclass(eq=False)
class ComponentCurveDisplay(Display):
    """Cross-validated score of every number of components, with standard errors.

    Where a ridge weight was searched too, each number of components shows its best.

    Parameters
    ----------
    n_components : ndarray of shape (m,)
    score, standard_error : ndarray of shape (m,)
    chosen : int
        The number of components that was chosen.

    Attributes
    ----------
    ax_, figure_ :
        Of matplotlib, once drawn.

    Examples
    --------
    >>> from isthmus import PLS, ComponentSearchCV
    >>> from isthmus.datasets import make_low_rank_regression
    >>> from isthmus.inspection import ComponentCurveDisplay
    >>> X, Y, _ = make_low_rank_regression(100, 12, 4, rank=2, random_state=0)
    >>> search = ComponentSearchCV(PLS(), n_components=6, rule="one_se").fit(X, Y)
    >>> ComponentCurveDisplay.compute(search).n_components
    array([1, 2, 3, 4, 5, 6])
    """

    n_components: NDArray
    score: NDArray
    standard_error: NDArray
    chosen: int

    @classmethod
    def compute(cls, search: Any) -> ComponentCurveDisplay:
        """Compute the curve of a fitted search.

        Parameters
        ----------
        search : ComponentSearchCV or MethodSearchCV, fitted

        Returns
        -------
        display : ComponentCurveDisplay
        """
        check_is_fitted(search)
        curve = getattr(search, "curves_", None)  # of a search over methods
        if curve:
            return cls(**curve)
        results = getattr(search, "cv_results_", {})
        if "param_n_components" not in results:
            raise TypeError(
                f"search is a {type(search).__name__}, must be a fitted search over n_components."
            )
        ranks = np.asarray(results["param_n_components"].data, dtype=int)
        means = np.asarray(results["mean_test_score"], dtype=float)
        n = search.n_splits_
        # std_test_score divides by n: n - 1 here makes it the standard error of the mean.
        errors = np.asarray(results["std_test_score"]) / np.sqrt(max(n - 1, 1))
        # Of several ridge weights at a rank the best, which the search would take.
        kept = [
            rows[np.nanargmax(means[rows])]
            for rows in (np.flatnonzero(ranks == rank) for rank in np.unique(ranks))
            if np.isfinite(means[rows]).any()
        ]
        return cls(ranks[kept], means[kept], errors[kept], int(ranks[search.best_index_]))

    def _draw(self, ax: Any) -> None:
        ax.errorbar(
            self.n_components, self.score, yerr=self.standard_error, marker="o", ms=4, capsize=2
        )
        at = int(np.flatnonzero(self.n_components == self.chosen)[0])
        ax.plot([self.chosen], [self.score[at]], "o", ms=12, mfc="none", label="chosen")
        ax.set(xlabel="number of components", ylabel="cross-validated score")
        ax.legend()
