"""Data whose answer is known, and the data of the papers.

============================  =================  ================================
name                          file               what it gives
============================  =================  ================================
``make_low_rank_regression``  ``generators.py``  a planted map of chosen rank
``make_kappa_regression``     ``generators.py``  the collinear design of [B2006]_
``load_nir``                  ``loaders.py``     near-infrared spectra
``load_mulan``                ``loaders.py``     sets with several targets
``load_faces``                ``images.py``      Yale, ORL and CBCL faces
``load_objects``              ``images.py``      COIL-20 and ETH-80 views of objects
``load_usps``                 ``images.py``      USPS handwritten digits
``isthmus_data_home``         ``store.py``       where downloads are kept
``DatasetNotFoundError``      ``store.py``       says where was looked
============================  =================  ================================

A generator returns ``X, Y, coef`` with ``coef`` of shape (n_targets, n_features): the map that a
regression should find. A loader returns a :class:`~sklearn.utils.Bunch`. It looks for its file in
the directory named by the environment variable ``ISTHMUS_DATA``, then in the cache directory
(:func:`isthmus_data_home`), and at last asks OpenML where the set is kept there. ``registry.py``
has one row a set.
"""

from isthmus.datasets.generators import make_kappa_regression, make_low_rank_regression
from isthmus.datasets.images import load_faces, load_objects, load_usps
from isthmus.datasets.loaders import load_mulan, load_nir
from isthmus.datasets.store import DatasetNotFoundError, isthmus_data_home

__all__ = [
    "DatasetNotFoundError",
    "isthmus_data_home",
    "load_faces",
    "load_mulan",
    "load_nir",
    "load_objects",
    "load_usps",
    "make_kappa_regression",
    "make_low_rank_regression",
]
