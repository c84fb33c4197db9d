from isthmus.dependency.regressor import DependencyRegressor as DependencyRegressor

__all__ = [
    "DependencyRegressor",
]
