"""Yu, Yu and Tresp 2005, *Multi-Output Regularized Projection* [YYT2005]_.

==================================  ========================================================
in the paper                        here
==================================  ========================================================
Sec. 2, MORP, linear and kernel     ``isthmus.MORP``, with the ridge where it keeps the outputs
(14), the dual as printed           ``InverseMORP``
Sec. 2, structured outputs          ``isthmus.MORP(kernel_y=...)``
Sec. 4, missing outputs as zeros    ``isthmus.MORP(missing="zero")``
figure 2 and Sec. 4, labels         ``labels.py``
Sec. 4, preferences                 ``RatingsRegressor`` (``ratings_regressor.py``), ``ratings.py``
==================================  ========================================================
"""

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {
        "inverse": "InverseMORP",
        "ratings_regressor": "RatingsRegressor",
    },
)
