"""The papers behind the library, one folder each: their algorithms as printed, their tables run again.

============================  ======================================================================
``stiefel_report/``           Bakir et al. 2004, regression with Stiefel constraints: geodesic descent
``riemannian_pls/``           Chen et al., PLS on Riemannian manifolds: conjugate gradients, image sets
``coir/``                     Kim and Pavlovic, covariance operator inverse regression
``morp/``                     Yu, Yu and Tresp 2005, multi-output regularised projection: (14)
``kernel_dependency_thesis/`` Bakir 2006, the thesis: its sampler, reduced sets, cross-entropy
``linear.py``                 what the linear estimators here share
``experiment.py``             ``Experiment``, ``Result``, ``Claim``: published numbers beside measured ones
``registry.py``               ``EXPERIMENTS``: the rows of ``experiments.toml`` in each folder
``sources.py``                the papers' data where they are found, otherwise stand-ins
``trials.py``                 many methods on one set of pictures
``page.py``                   ``render_page``: one HTML page of several results
============================  ======================================================================

The estimators of the library reach the same answers by better methods and offer only those. Each folder
lists in its docstring where everything in its paper is, and in ``experiments.toml`` the tables and
figures that ``isthmus reproduce`` runs. ``benchmarks/`` calls the same functions.
"""

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {},
    neighbours={
        "experiment": "Result",
        "page": "render_page summarise",
        "registry": "EXPERIMENTS",
    },
)
