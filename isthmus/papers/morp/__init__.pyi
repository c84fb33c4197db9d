from isthmus.papers.morp.inverse import InverseMORP as InverseMORP
from isthmus.papers.morp.ratings_regressor import RatingsRegressor as RatingsRegressor

__all__ = [
    "InverseMORP",
    "RatingsRegressor",
]
