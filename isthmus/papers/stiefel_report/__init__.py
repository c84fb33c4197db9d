"""Bakir, Gretton, Franz, Schoelkopf 2004, *Multivariate Regression with Stiefel Constraints* [BGFS2004]_.

=================================  ==========================================================
in the report                      here
=================================  ==========================================================
Sec. 3, PCR, PLS, KDE              ``isthmus.PCR``, ``PLS``, ``DependencyRegressor``
Sec. 4.1, geodesics, Algorithm 1   ``isthmus._geometry.Stiefel.exp``
Sec. 4.2, Algorithm 2              ``GeodesicStiefelRegression`` (``geodesic.py``)
Sec. 4.3, Algorithm 3, (4.16)      the same with ``loss="absolute"``; ``TanhAbsolute``
Sec. 4.5, Algorithm 4 (S-MRS)      ``isthmus.StiefelRegression(online="proximal")``
one step length for all parts      ``steepest_descent``, on any geometry
Sec. 6.1, Tables 2 and 3           ``kinematics.py``: an arm, with and without an outlier
Sec. 6.2 and 6.3, Table 4          ``restore_pictures.py``: digits and faces
=================================  ==========================================================

``isthmus.StiefelRegression`` reaches the same optima in closed form or by L-BFGS.
"""

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {
        "geodesic": "GeodesicStiefelRegression",
        "steepest_descents": "steepest_descent",
        "tanh_absolute": "TanhAbsolute",
    },
)
