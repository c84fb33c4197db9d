"""The classes that may be in a model file. What is not in this table is neither written nor built.

A class of scikit-learn belongs here if its fitted state is numbers and text that Python code reads.
Trees, forests and neighbours are left out: their compiled code follows indices of its state wherever
they point. A search keeps trees as tables of its own (``isthmus.auto.methods.trees.Forest``), which are
walked with numpy and checked here.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

# Module, and the classes that are asked of it.
_CLASSES = {
    "isthmus.auto": "MethodSearchCV",
    "isthmus.auto.blends": "Blend Mean",
    "isthmus.auto.methods.block_search": "BlockSearch",
    "isthmus.auto.methods.evidence": "EvidenceSearch",
    "isthmus.auto.methods.kernel_search": "KernelSearch",
    "isthmus.auto.methods.logarithms": "LogModel LogScaler",
    "isthmus.auto.methods.maps": "KernelModel LinearMap",
    "isthmus.auto.methods.principal": "PrincipalSearch",
    "isthmus.auto.methods.stages": "RobustSearch",
    "isthmus.auto.methods.tails": "TailScaler",
    "isthmus.auto.methods.treated": "PathSearch RidgeSearch TreatedSearch",
    "isthmus.auto.methods.trees": "Forest TreeSearch",
    "isthmus.compression": "CompressedClassifier CompressedOutlierDetector CompressedRegressor "
    "CompressedTransformer CompressionPath",
    "isthmus.compression.deviations": "Deviations",
    "isthmus.inspection": "Domain Trusted",
    "isthmus.inspection.distances": "FeatureDistance Neighbours Ranges Subspace",
    "isthmus.inspection.spacing": "Spacing",
    "isthmus.dependency": "DependencyRegressor",
    "isthmus.dependency.candidates": "CandidateRanking",
    "isthmus.expansion": "Expansion",
    "isthmus.expansion.models": "MatrixFunction",
    "isthmus.features": "BlockTreatments FourierFeatures InstrumentTransfer KernelMap Landmarks",
    "isthmus.features.treatments": "Absorbance Baseline Detrend GapDerivative "
    "NormalVariate SavitzkyGolay ScatterCorrection Whittaker",
    "isthmus.kernels": "RBF Constant Cosine Cycles Exponential Gaussian Graph GraphKernel "
    "HistogramIntersection Indexed L2Laplacian Laplacian Linear Metric MismatchKernel "
    "Normalised Polynomial PoseKernel PositionKernel Power Precomputed Product SequenceKernel "
    "ShortestPath SpectrumKernel Standardised SubsequenceKernel Sum VectorSequenceKernel WeisfeilerLehman "
    "WeisfeilerLehmanAssignment WeisfeilerLehmanWasserstein",
    "isthmus.kernels.sequences.encoding": "Alphabet",
    "isthmus.losses": "Absolute EpsilonInsensitive Huber HuberRows LogCosh Logistic Poisson "
    "Quantile Squared",
    "isthmus.losses.smoothing": "PiecewiseLinear Smoothed",
    "isthmus.model_selection": "ComponentSearchCV",
    "isthmus.papers.kernel_dependency_thesis": "MetropolisedGibbsRegression",
    "isthmus.papers.morp": "InverseMORP RatingsRegressor",
    "isthmus.papers.riemannian_pls": "RiemannianPLS",
    "isthmus.papers.stiefel_report": "GeodesicStiefelRegression TanhAbsolute",
    "isthmus.preimages": "AlignedClassifier CandidateSearch Dictionary Distance Exact FixedPoint Gradient "
    "GraphSearch JointNgrams Learned LogPool MoleculeLibrary Nearest NeighbourAnswers PathSearch "
    "SequenceSearch",
    "isthmus.preimages.forms": "DistanceForm DotForm",
    "isthmus.preimages.ngram_index": "NgramIndex",
    "isthmus.preimages.object_losses": "ObjectLosses",
    "isthmus.problems": "MissingModel Moments",
    "isthmus.projections": "COIR KDR MORP SIR KernelCCA KernelSIR",
    "isthmus.regression": "OPLS PCR PLS BayesianStiefelRegression IndicatorClassifier ManifoldPLS "
    "BlockRidge MultiblockPLS ReducedRankRegression SequentialPLS SlopeBias SparseFactors "
    "StiefelRegression",
    "isthmus.regression.bayesian.chains": "ChainReport",
    "isthmus.regression.bayesian.likelihoods": "Likelihood ScaledLoss StudentLoss",
    "isthmus.regression.online": "ProximalState",
    "isthmus.preimages.generators.places": "Kind PlaceClassifier",
    "isthmus.preimages.generators.windows": "SymbolWindows VectorWindows",
    "sklearn.compose": "TransformedTargetRegressor",
    "sklearn.cross_decomposition": "CCA PLSCanonical PLSRegression",
    "sklearn.decomposition": "PCA KernelPCA TruncatedSVD",
    "sklearn.dummy": "DummyRegressor",
    "sklearn.gaussian_process": "GaussianProcessClassifier GaussianProcessRegressor",
    "sklearn.gaussian_process._gpc": "_BinaryGaussianProcessClassifierLaplace",
    "sklearn.gaussian_process.kernels": "RBF CompoundKernel ConstantKernel DotProduct ExpSineSquared "
    "Exponentiation Matern PairwiseKernel Product RationalQuadratic Sum WhiteKernel",
    "sklearn.impute": "SimpleImputer",
    "sklearn.kernel_approximation": "Nystroem RBFSampler",
    "sklearn.kernel_ridge": "KernelRidge",
    "sklearn.linear_model": "BayesianRidge ElasticNet ElasticNetCV HuberRegressor Lasso LassoCV "
    "LinearRegression LogisticRegression MultiTaskElasticNet MultiTaskElasticNetCV MultiTaskLasso "
    "MultiTaskLassoCV Ridge RidgeClassifier RidgeCV",
    "sklearn.metrics._scorer": "_PassthroughScorer _Scorer",
    "sklearn.model_selection": "GridSearchCV GroupKFold KFold LeaveOneOut RepeatedKFold ShuffleSplit "
    "StratifiedKFold TimeSeriesSplit",
    "sklearn.multiclass": "OneVsOneClassifier OneVsRestClassifier",
    "sklearn.multioutput": "MultiOutputRegressor",
    "sklearn.pipeline": "FeatureUnion Pipeline",
    "sklearn.preprocessing": "KernelCenterer LabelBinarizer LabelEncoder MaxAbsScaler MinMaxScaler "
    "Normalizer OneHotEncoder OrdinalEncoder PolynomialFeatures PowerTransformer QuantileTransformer "
    "RobustScaler StandardScaler",
    "sklearn.svm": "SVC SVR LinearSVC LinearSVR NuSVC NuSVR OneClassSVM",
}
# What a scorer holds: functions of arrays.
_FUNCTIONS = {
    "sklearn.metrics": "accuracy_score balanced_accuracy_score brier_score_loss d2_absolute_error_score "
    "explained_variance_score f1_score log_loss matthews_corrcoef max_error mean_absolute_error "
    "mean_absolute_percentage_error mean_gamma_deviance mean_pinball_loss mean_poisson_deviance "
    "mean_squared_error mean_squared_log_error mean_tweedie_deviance median_absolute_error "
    "precision_score r2_score recall_score roc_auc_score root_mean_squared_error "
    "root_mean_squared_log_error",
}
CLASSES = {f"{module}.{name}" for module, names in _CLASSES.items() for name in names.split()}
FUNCTIONS = {f"{module}.{name}" for module, names in _FUNCTIONS.items() for name in names.split()}


@cache
def find_listed(name: str) -> Any:
    """The class or function of a name of the table; no other is ever imported."""
    if name not in CLASSES and name not in FUNCTIONS:
        raise KeyError(name)
    module, _, last = name.rpartition(".")
    return getattr(import_module(module), last)


def name_of(thing: Any) -> str | None:
    """The name in the table of a class or function; None if it is not in it."""
    home = getattr(thing, "__module__", None) or ""
    name = listed_name(home, getattr(thing, "__qualname__", ""))
    return name if name is not None and find_listed(name) is thing else None


def listed_name(home: str, last: str) -> str | None:
    """The name in the table of what lives in a module, wherever in its room that is today."""
    parts = home.split(".")
    for k in range(len(parts), 0, -1):
        name = ".".join([*parts[:k], last])
        if name in CLASSES or name in FUNCTIONS:
            return name
    return None


def is_function(value: Any) -> bool:
    """Whether a value is a function, not a class."""
    return callable(value) and hasattr(value, "__qualname__") and not isinstance(value, type)


def full_name(value: Any) -> str:
    """What a message calls a value that a file cannot hold."""
    kind = value if isinstance(value, type) or is_function(value) else type(value)
    name = f"{getattr(kind, '__module__', '')}.{getattr(kind, '__qualname__', kind)}"
    return (
        f"the {'type' if isinstance(value, type) else 'function'} {name}" if kind is value else name
    )
