"""The papers behind the library, one folder each: what they print as algorithm, callable and corrected.

============================  ======================================================================
``stiefel_report/``           Bakir et al. 2004, regression with Stiefel constraints: geodesic descent
``riemannian_pls/``           Chen et al., PLS on Riemannian manifolds: conjugate gradients, image sets
``coir/``                     Kim and Pavlovic, covariance operator inverse regression
``morp/``                     Yu, Yu and Tresp 2005, multi-output regularised projection: (14)
``kernel_dependency_thesis/`` Bakir 2006, the thesis: its sampler, reduced sets, cross-entropy
``linear.py``                 what the linear estimators here share
============================  ======================================================================

The estimators of the library reach the same answers by better ways and show those alone. Each folder
says in its first lines where everything in its paper is to be found.
"""
