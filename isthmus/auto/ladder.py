"""The ladder of methods, from the simplest up. A new method joins by one row of ``LADDER``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.model_selection import KFold

from isthmus.auto.stages import KernelSearch, RobustSearch
from isthmus.model_selection import ComponentSearchCV
from isthmus.regression import PCR, PLS, ReducedRankRegression
from isthmus.validation import check_option

_INNER_FOLDS = 5
_KERNEL_ROWS = 20_000  # beyond, exact kernel methods are left to those who ask for them by name


@dataclass(frozen=True)
class Problem:
    """What a method is to be built for.

    Attributes
    ----------
    n_samples, n_features, n_targets : int
        Shape of the training rows.
    scale : bool
        Whether columns of the inputs are divided by their standard deviations, those of the training
        rows; those of the outputs always are.
    missing : bool
        Whether values are missing.
    n_components : int or None
        A rank asked for; None leaves it to cross-validation.
    loss, kernel : str
        For the methods that take one.
    random_state : int
        Of the folds and whatever else is drawn.
    """

    n_samples: int
    n_features: int
    n_targets: int
    scale: bool = True
    missing: bool = False
    n_components: int | None = None
    loss: str = "huber"
    kernel: str = "rbf"
    random_state: int = 0

    @property
    def folds(self) -> KFold:
        """Inner folds, in which a method chooses its own numbers."""
        n_splits = max(2, min(_INNER_FOLDS, self.n_samples))
        return KFold(n_splits, shuffle=True, random_state=self.random_state)

    @property
    def options(self) -> dict[str, Any]:
        """How a ComponentSearchCV is asked to choose."""
        few = self.n_samples < 4 * _INNER_FOLDS  # R2 of a fold of two rows says nothing
        return {"cv": self.folds, "scoring": "q2" if few else "r2", "rule": "one_se"}

    @property
    def common(self) -> dict[str, Any]:
        # Outputs are always scaled: what is shared between them must not go by their units.
        return {"scale": self.scale or "y", "missing": "em" if self.missing else "error"}

    def ranks(self, most: int) -> Any:
        """Candidates for the rank, no more than there are, for ComponentSearchCV."""
        return None if self.n_components is None else [min(self.n_components, max(most, 1))]


@dataclass(frozen=True)
class Rung:
    """A method: how it is built for a problem, and how it is told in a paper.

    Attributes
    ----------
    name, label : str
        For the command line and for the reader.
    build : callable of a Problem
        An estimator that chooses its own numbers in ``fit``; ``best_estimator_``, where it has one,
        is the model.
    takes_missing : bool
        Whether NaN is allowed.
    text, formula, latex, references : str, str, str, tuple of str
        The paragraph of the method, its equation in HTML and in LaTeX, and its literature.
    is_kernel : bool
        Whether its cost grows with the square of the rows or more.
    """

    name: str
    label: str
    build: Callable[[Problem], Any]
    takes_missing: bool
    text: str
    formula: str
    latex: str
    references: tuple[str, ...]
    is_kernel: bool = False

    def as_dict(self) -> dict[str, Any]:
        """What a saved model keeps of its method."""
        return {
            "name": self.name,
            "label": self.label,
            "text": self.text,
            "formula": self.formula,
            "latex": self.latex,
            "references": list(self.references),
        }


def _pls(problem: Problem) -> Any:
    most = min(problem.n_samples - 1, problem.n_features)
    return ComponentSearchCV(
        PLS(**problem.common), n_components=problem.ranks(most), **problem.options
    )


def _pcr(problem: Problem) -> Any:
    most = min(problem.n_samples - 1, problem.n_features)
    return ComponentSearchCV(
        PCR(**problem.common), n_components=problem.ranks(most), **problem.options
    )


def _ridge(problem: Problem) -> Any:
    full = min(problem.n_features, problem.n_targets)
    return ComponentSearchCV(
        ReducedRankRegression(**problem.common), n_components=[full], **problem.options
    )


def _reduced_rank(problem: Problem) -> Any:
    most = min(problem.n_features, problem.n_targets, problem.n_samples - 1)
    return ComponentSearchCV(
        ReducedRankRegression(**problem.common),
        n_components=problem.ranks(most),
        **problem.options,
    )


def _robust(problem: Problem) -> Any:
    most = min(problem.n_features, problem.n_targets, problem.n_samples - 1)
    return RobustSearch(
        loss=problem.loss,
        n_components=problem.ranks(most),
        scale=problem.scale,
        cv=problem.folds,
    )


def _kernel(problem: Problem) -> Any:
    return KernelSearch(
        kernel=problem.kernel,
        n_components=problem.ranks(min(problem.n_targets, problem.n_samples - 1)),
        scale=problem.scale,
        cv=problem.folds,
        random_state=problem.random_state,
    )


_HTF = (
    "T. Hastie, R. Tibshirani, J. Friedman. The Elements of Statistical Learning, 2nd ed. "
    "Springer, 2009."
)

LADDER: tuple[Rung, ...] = (
    Rung(
        name="pls",
        label="partial least squares",
        build=_pls,
        takes_missing=True,
        text="Partial least squares regression: each component is the direction of the inputs whose "
        "scores have the largest covariance with the outputs, given the components before.",
        formula="w<sub>a</sub> = <span>arg max</span><sub>‖w‖ = 1</sub> ‖Y<sup>T</sup>X<sub>a</sub>w‖, "
        "&emsp; t<sub>a</sub> = X<sub>a</sub>w<sub>a</sub>, "
        "&emsp; X<sub>a+1</sub> = (I &minus; t<sub>a</sub>t<sub>a</sub><sup>T</sup> / "
        "t<sub>a</sub><sup>T</sup>t<sub>a</sub>) X<sub>a</sub>, "
        "&emsp; &#374; = X W (W<sup>T</sup>X<sup>T</sup>X W)<sup>&minus;1</sup> W<sup>T</sup>"
        "X<sup>T</sup>Y",
        latex=r"w_a = \arg\max_{\|w\| = 1} \|Y^\top X_a w\|, \quad t_a = X_a w_a, \quad "
        r"X_{a+1} = (I - t_a t_a^\top / t_a^\top t_a) X_a, \quad "
        r"\hat Y = X\, W (W^\top X^\top X W)^{-1} W^\top X^\top Y",
        references=(
            "H. Wold. Soft modelling by latent variables: the non-linear iterative partial least "
            "squares approach. In Perspectives in Probability and Statistics, 1975.",
            "S. Wold, M. Sjostrom, L. Eriksson. PLS-regression: a basic tool of chemometrics. "
            "Chemometrics and Intelligent Laboratory Systems 58, 109-130, 2001.",
        ),
    ),
    Rung(
        name="pcr",
        label="principal component regression",
        build=_pcr,
        takes_missing=True,
        text="Principal component regression: least squares of the outputs on the leading principal "
        "components of the inputs.",
        formula="X = U D B<sup>T</sup>, &emsp; &#374; = X B<sub>r</sub> D<sub>r</sub><sup>&minus;1</sup> "
        "U<sub>r</sub><sup>T</sup> Y",
        latex=r"X = U D B^\top, \qquad \hat Y = X B_r D_r^{-1} U_r^\top Y",
        references=(_HTF,),
    ),
    Rung(
        name="ridge",
        label="ridge regression",
        build=_ridge,
        takes_missing=True,
        text="Ridge regression: least squares with a penalty on the size of the coefficients, without "
        "a constraint on the rank.",
        formula="<span>min</span><sub>C</sub> ‖Y &minus; X C‖² + &alpha; ‖C‖²",
        latex=r"\min_C \|Y - X C\|_F^2 + \alpha \|C\|_F^2",
        references=(_HTF,),
    ),
    Rung(
        name="reduced_rank",
        label="reduced rank regression",
        build=_reduced_rank,
        takes_missing=True,
        text="Reduced rank ridge regression: the least squares map under a constraint on its rank and "
        "a penalty on its size; the global optimum in closed form.",
        formula="<span>min</span><sub>rank C &le; r</sub> ‖Y &minus; X C‖² + &alpha; ‖C‖²",
        latex=r"\min_{\operatorname{rank} C \le r} \|Y - X C\|_F^2 + \alpha \|C\|_F^2",
        references=(
            "A. J. Izenman. Reduced-rank regression for the multivariate linear model. Journal of "
            "Multivariate Analysis 5, 248-264, 1975.",
            "A. Mukherjee, J. Zhu. Reduced rank ridge regression and its kernel extensions. "
            "Statistical Analysis and Data Mining 4, 612-622, 2011.",
        ),
    ),
    Rung(
        name="stiefel",
        label="Stiefel regression, robust loss",
        build=_robust,
        takes_missing=False,
        text="Stiefel regression: a map of low rank that minimises a loss which outliers do not "
        "dominate, with orthonormal factors on both sides.",
        formula="<span>min</span><sub>W, s, V, b</sub> &Sigma;<sub>i</sub> L(y<sub>i</sub>, "
        "V <span>diag</span>(s) W<sup>T</sup>x<sub>i</sub> + b) + &frac12; &alpha; ‖s‖², &emsp; "
        "W<sup>T</sup>W = V<sup>T</sup>V = I<sub>r</sub>",
        latex=r"\min_{W, s, V, b} \sum_i L(y_i, V \operatorname{diag}(s) W^\top x_i + b) + "
        r"\tfrac{\alpha}{2} \|s\|^2, \qquad W^\top W = V^\top V = I_r",
        references=(
            "G. H. Bakir, A. Gretton, M. O. Franz, B. Scholkopf. Multivariate regression via Stiefel "
            "manifold constraints. DAGM Symposium, 262-269, 2004.",
        ),
    ),
    Rung(
        name="kernel",
        label="kernel dependency estimation",
        build=_kernel,
        takes_missing=False,
        is_kernel=True,
        text="Kernel dependency estimation: the inputs are mapped to the feature space of a kernel, and "
        "a reduced rank ridge regression leads from its principal components to the outputs.",
        formula="<span>min</span><sub>rank C &le; r</sub> ‖Y &minus; &Phi; C‖² + &alpha; ‖C‖², &emsp; "
        "&Phi; &Phi;<sup>T</sup> = K, &emsp; K<sub>ij</sub> = k(x<sub>i</sub>, x<sub>j</sub>)",
        latex=r"\min_{\operatorname{rank} C \le r} \|Y - \Phi C\|_F^2 + \alpha \|C\|_F^2, \qquad "
        r"\Phi \Phi^\top = K, \quad K_{ij} = k(x_i, x_j)",
        references=(
            "J. Weston, O. Chapelle, A. Elisseeff, B. Scholkopf, V. Vapnik. Kernel dependency "
            "estimation. Advances in Neural Information Processing Systems 15, 2003.",
            "A. Mukherjee, J. Zhu. Reduced rank ridge regression and its kernel extensions. "
            "Statistical Analysis and Data Mining 4, 612-622, 2011.",
        ),
    ),
)


def rungs_for(methods: Any, problem: Problem) -> list[Rung]:
    """The rungs that are asked for by name, in the order of the ladder; "auto" is all that can be."""
    able = [rung for rung in LADDER if rung.takes_missing or not problem.missing]
    if isinstance(methods, str) and methods == "auto":
        few = problem.n_samples <= _KERNEL_ROWS
        return [rung for rung in able if few or not rung.is_kernel]
    asked = [methods] if isinstance(methods, str) else list(methods)
    if not asked:
        raise ValueError("methods is empty: name at least one, or 'auto'.")
    for name in asked:
        check_option("methods", name, tuple(rung.name for rung in LADDER))
        if name not in [rung.name for rung in able]:
            raise ValueError(
                f"X or y has missing values and the method {name!r} does not take them: fill them, "
                f"or use one of: {', '.join(rung.name for rung in able)}."
            )
    return [rung for rung in LADDER if rung.name in asked]
