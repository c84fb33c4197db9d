"""Bakir 2006, *Extensions to Kernel Dependency Estimation, with Applications to Robotics* [B2006]_.

===================================  ========================================================
in the thesis                        here
===================================  ========================================================
Ch. 1, kernel dependency estimation  ``isthmus.DependencyRegressor``
Ch. 2, MRS and S-MRS                 ``isthmus.papers.stiefel_report``, ``StiefelRegression``
Sec. 2.5, A2.7, Bayesian MRS         ``MetropolisedGibbsRegression`` (``sampler.py``)
Sec. 2.5.2, Langevin law             ``matrix_langevin``, ``von_mises_fisher``
Ch. 3, pre-images                    ``isthmus.preimages``
Sec. 3.4, A3.4, cross-entropy        ``cross_entropy.py``: the search and its families
Sec. 3.4.4, probing                  ``probing.py``: weights of n-grams from kernel values
Sec. 4.2, l1 reduced sets            ``reduce_l1``, ``l1_coefficients`` (``sparse.py``)
Sec. 4.3.1, 4.3.2, matching pursuit  ``reduce_by_matching_pursuit``; ``isthmus.compress``
Sec. 4.3.3, l0 reduced sets          ``reduce_l0``, ``l0_coefficients`` (``sparse.py``)
Ch. 5 and 6, imitation               ``isthmus.applications.imitation``
figures of Ch. 2                     ``linear_maps.py``
Sec. 3.4, digits                     ``super_resolution.py``
Sec. 3.5, sequences and graphs       ``structures.py``
tables and figures of Ch. 4          ``reduced_set_tables.py``
figures of Ch. 5 and 6               ``movements.py``; Sec. 6.4 in ``camera.py``
===================================  ========================================================
"""

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {
        "langevin": "matrix_langevin von_mises_fisher",
        "reduced_sets": "reduce_by_matching_pursuit reduce_l0 reduce_l1",
        "sampler": "MetropolisedGibbsRegression",
    },
)
