"""The ladder of methods, from the simplest up. A new method joins by one row of ``LADDER``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from isthmus._validation import check_option
from isthmus.auto import builders
from isthmus.auto.blends import Mean
from isthmus.auto.problem import Problem, Rung

_HTF = (
    "T. Hastie, R. Tibshirani, J. Friedman. The Elements of Statistical Learning, 2nd ed. "
    "Springer, 2009."
)

_KERNEL_FORMULA = (
    "<span>min</span><sub>f, b</sub> &Sigma;<sub>i</sub> (y<sub>i</sub> &minus; f(x<sub>i</sub>) &minus; "
    "b)² + &alpha; ‖f‖², &emsp; f(x) = &Sigma;<sub>i</sub> a<sub>i</sub> k(x<sub>i</sub>, x)"
)
_KERNEL_LATEX = (
    r"\min_{f, b} \sum_i (y_i - f(x_i) - b)^2 + \alpha \|f\|_k^2, \qquad "
    r"f(x) = \sum_i a_i k(x_i, x)"
)
_KERNEL_REFERENCES = (
    "C. Saunders, A. Gammerman, V. Vovk. Ridge regression learning algorithm in dual variables. "
    "International Conference on Machine Learning, 515-521, 1998.",
    "J. Weston, O. Chapelle, A. Elisseeff, B. Scholkopf, V. Vapnik. Kernel dependency "
    "estimation. Advances in Neural Information Processing Systems 15, 2003.",
)

_SMOOTH_KERNEL = Rung(
    name="kernel",
    label="kernel ridge regression",
    build=builders.kernel,
    text="Kernel ridge regression: least squares in the feature space of a smooth kernel, with a ridge "
    "weight for each output, and a width for each input where there are rows enough.",
    formula=_KERNEL_FORMULA,
    latex=_KERNEL_LATEX,
    references=_KERNEL_REFERENCES,
)

_PROCESS = Rung(
    name="process",
    label="Gaussian process",
    build=builders.process,
    is_wanted=builders.wants_process,
    text="Gaussian processes with linear, RBF and exponential kernels on scaled columns, averaged for "
    "each output over widths and noises by their evidence, the probability of the outputs given the "
    "inputs.",
    formula="&#374; = &Sigma;<sub>m</sub> p(m | Y) K<sub>m</sub>(x, X) (K<sub>m</sub> + "
    "&alpha;<sub>m</sub> I)<sup>&minus;1</sup> Y",
    latex=r"\hat y = \sum_m p(m \mid Y)\, K_m(x, X) (K_m + \alpha_m I)^{-1} Y",
    references=(
        "C. E. Rasmussen, C. K. I. Williams. Gaussian Processes for Machine Learning. MIT Press, 2006.",
    ),
)

LADDER: tuple[Rung, ...] = (
    Rung(
        name="pls",
        label="partial least squares",
        build=builders.pls,
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
        build=builders.pcr,
        is_blended=builders.adds_to_blend,
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
        build=builders.ridge,
        text="Ridge regression: least squares with a penalty on the size of the coefficients, without "
        "a constraint on the rank.",
        formula="<span>min</span><sub>C</sub> ‖Y &minus; X C‖² + &alpha; ‖C‖²",
        latex=r"\min_C \|Y - X C\|_F^2 + \alpha \|C\|_F^2",
        references=(_HTF,),
    ),
    Rung(
        name="reduced_rank",
        label="reduced rank regression",
        build=builders.reduced_rank,
        is_blended=builders.adds_to_blend,
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
        name="lasso",
        label="lasso",
        build=builders.lasso,
        is_wanted=builders.wants_lasso,
        may_stop=True,
        text="The lasso: least squares with a penalty on the absolute values of the coefficients, which "
        "leaves inputs out that say little.",
        formula="<span>min</span><sub>C</sub> &frac12; ‖Y &minus; X C‖² + &Sigma;<sub>j</sub> "
        "&alpha;<sub>j</sub> ‖C<sub>j</sub>‖<sub>1</sub>",
        latex=r"\min_C \tfrac12 \|Y - X C\|_F^2 + \sum_j \alpha_j \|C_j\|_1",
        references=(
            "R. Tibshirani. Regression shrinkage and selection via the lasso. Journal of the Royal "
            "Statistical Society B 58, 267-288, 1996.",
            "B. Efron, T. Hastie, I. Johnstone, R. Tibshirani. Least angle regression. Annals of "
            "Statistics 32, 407-499, 2004.",
        ),
    ),
    Rung(
        name="stiefel",
        label="Stiefel regression, robust loss",
        build=builders.robust,
        is_wanted=lambda problem: problem.heavy or problem.rule == "one_se",
        is_blended=lambda problem: False,
        may_stop=True,
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
    _SMOOTH_KERNEL,
    replace(
        _SMOOTH_KERNEL,
        name="rough_kernel",
        label="kernel ridge regression, rough kernel",
        build=builders.rough_kernel,
        is_wanted=lambda problem: problem.kernel == "auto" and not problem.treatments,
        text="Kernel ridge regression with the exponential of a distance, which follows functions with "
        "kinks and steps; a ridge weight for each output.",
    ),
    _PROCESS,
    replace(
        _PROCESS,
        name="treated_process",
        label="Gaussian process on treated curves",
        build=builders.treated_process,
        is_wanted=builders.wants_treated_process,
        text="Gaussian processes with an RBF kernel on treated curves, averaged for each output over "
        "treatments, widths and noises by their evidence.",
    ),
    replace(
        _PROCESS,
        name="log_process",
        label="Gaussian process of logarithms",
        build=builders.log_process,
        is_wanted=builders.wants_log_process,
        may_stop=True,
        text="Gaussian processes of the logarithms of the outputs, on inputs as they are and on the "
        "logarithms of those that are positive, averaged for each output over widths and noises by their "
        "evidence; the exponential of what they predict.",
        formula="&#374; = c <span>exp</span>(&Sigma;<sub>m</sub> p(m | Y) K<sub>m</sub>(x, X) "
        "(K<sub>m</sub> + &alpha;<sub>m</sub> I)<sup>&minus;1</sup> <span>log</span> Y)",
        latex=r"\hat y = c \exp \sum_m p(m \mid Y)\, K_m(x, X) (K_m + \alpha_m I)^{-1} \log Y",
    ),
    Rung(
        name="chain",
        label="kernel ridge regression, chain of outputs",
        build=builders.chain,
        is_wanted=lambda problem: (
            problem.kernel == "auto"
            and not problem.treatments
            and problem.n_components is None
            and 1 < problem.n_targets <= problem.n_samples // 4
        ),
        may_stop=True,
        text="Kernel ridge regression with the exponential of a distance, after which what is predicted "
        "for all outputs, in rows left out, corrects each of them.",
        formula=_KERNEL_FORMULA + ", &emsp; &#374; = f(X) (I + D)",
        latex=_KERNEL_LATEX + r", \qquad \hat Y = f(X) (I + D)",
        references=(
            *_KERNEL_REFERENCES[:1],
            "L. Breiman, J. H. Friedman. Predicting multivariate responses in multiple linear "
            "regression. Journal of the Royal Statistical Society B 59, 3-54, 1997.",
            "E. Spyromitros-Xioufis, G. Tsoumakas, W. Groves, I. Vlahavas. Multi-target regression via "
            "input space expansion: treating targets as inputs. Machine Learning 104, 55-98, 2016.",
        ),
    ),
    Rung(
        name="trees",
        label="extremely randomised trees",
        build=builders.trees,
        is_wanted=lambda problem: (
            problem.n_samples >= builders.TREE_ROWS and not problem.treatments
        ),
        may_stop=True,
        text="Extremely randomised trees of scikit-learn: the mean of many regression trees whose "
        "thresholds are drawn at random and compared by the squared error.",
        formula="&#374;(x) = <sup>1</sup>/<sub>M</sub> &Sigma;<sub>m</sub> T<sub>m</sub>(x)",
        latex=r"\hat y(x) = \frac{1}{M} \sum_m T_m(x)",
        references=(
            "P. Geurts, D. Ernst, L. Wehenkel. Extremely randomized trees. Machine Learning 63, 3-42, "
            "2006.",
        ),
    ),
    Rung(
        name="boosting",
        label="gradient boosting",
        build=builders.boosting,
        is_wanted=builders.has_rows_for_boosting,
        may_stop=True,
        text="Histogram gradient boosting of scikit-learn, one model for each output: every tree is "
        "fitted to what the trees before it leave over.",
        formula="F<sub>m</sub>(x) = F<sub>m&minus;1</sub>(x) + &nu; T<sub>m</sub>(x)",
        latex=r"F_m(x) = F_{m-1}(x) + \nu T_m(x)",
        references=(
            "J. H. Friedman. Greedy function approximation: a gradient boosting machine. Annals of "
            "Statistics 29, 1189-1232, 2001.",
        ),
    ),
)

BLOCKS: tuple[Rung, ...] = (
    Rung(
        name="block_pls",
        label="multiblock PLS",
        build=builders.block_pls,
        text="Multiblock partial least squares: each block of inputs is treated by itself and divided by "
        "the root of its total variance, so that all count the same; the super-scores are those of partial "
        "least squares on all blocks.",
        formula="t<sub>a</sub> = &Sigma;<sub>b</sub> X<sub>b,a</sub> w<sub>b,a</sub>, &emsp; "
        "&Sigma;<sub>b</sub> ‖w<sub>b,a</sub>‖² = 1",
        latex=r"t_a = \sum_b X_{b,a} w_{b,a}, \qquad \sum_b \|w_{b,a}\|^2 = 1",
        references=(
            "J. A. Westerhuis, T. Kourti, J. F. MacGregor. Analysis of multiblock and hierarchical PCA "
            "and PLS models. Journal of Chemometrics 12, 301-321, 1998.",
        ),
    ),
    Rung(
        name="block_ridge",
        label="banded ridge regression",
        build=builders.block_ridge,
        text="Banded ridge regression: each block of inputs is treated by itself and has a ridge weight of "
        "its own for each output, chosen by exact cross-validation without refitting.",
        formula="<span>min</span><sub>C</sub> ‖Y &minus; &Sigma;<sub>b</sub> X<sub>b</sub> "
        "C<sub>b</sub>‖² + &Sigma;<sub>b</sub> &alpha;<sub>b</sub> ‖C<sub>b</sub>‖²",
        latex=r"\min_C \|Y - \sum_b X_b C_b\|_F^2 + \sum_b \alpha_b \|C_b\|_F^2",
        references=(
            "A. O. Nunez-Elizalde, A. G. Huth, J. L. Gallant. Voxelwise encoding models with non-spherical "
            "multivariate normal priors. NeuroImage 197, 482-492, 2019.",
        ),
    ),
)

BLEND = Rung(
    name="blend",
    label="blend",
    build=lambda problem: None,
    text="A convex blend of methods: for each output the weights, none negative and their sum one, with "
    "the least squared error of predictions of rows left out.",
    formula="<span>min</span><sub>w &ge; 0, &Sigma; w = 1</sub> ‖y &minus; &Sigma;<sub>m</sub> "
    "w<sub>m</sub> &#375;<sub>m</sub>‖²",
    latex=r"\min_{w \ge 0,\ \sum_m w_m = 1} \|y - \sum_m w_m \hat y_m\|^2",
    references=("L. Breiman. Stacked regressions. Machine Learning 24, 49-64, 1996.",),
)

MEAN = Rung("mean", "mean of the outputs", lambda problem: Mean(), "", "", "", ())


def rungs_for(methods: Any, problem: Problem) -> list[Rung]:
    """The rungs that are asked for by name, in the order of the ladder; "auto" is all that can be."""
    ladder = LADDER if problem.blocks is None else BLOCKS
    if isinstance(methods, str) and methods == "auto":
        return [rung for rung in ladder if rung.is_wanted(problem)]
    asked = [methods] if isinstance(methods, str) else list(methods)
    if not asked:
        raise ValueError("methods is empty: name at least one, or 'auto'.")
    if problem.blocks is not None:  # the same methods, one name each for the user
        asked = [f"block_{name}" if name in ("pls", "ridge") else name for name in asked]
    for name in asked:
        check_option("methods", name, tuple(rung.name for rung in ladder))
    return [rung for rung in ladder if rung.name in asked]
