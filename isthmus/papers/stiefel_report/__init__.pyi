from isthmus.papers.stiefel_report.geodesic import GeodesicStiefelRegression as GeodesicStiefelRegression
from isthmus.papers.stiefel_report.steepest_descents import steepest_descent as steepest_descent
from isthmus.papers.stiefel_report.tanh_absolute import TanhAbsolute as TanhAbsolute

__all__ = [
    "GeodesicStiefelRegression",
    "TanhAbsolute",
    "steepest_descent",
]
