"""Simulated data with known answers, and loaders of public data sets.

============================  =================  ================================
name                          file               what it gives
============================  =================  ================================
``make_low_rank_regression``  ``generators.py``  a planted map of chosen rank
``make_kappa_regression``     ``generators.py``  the collinear design of [B2006]_
``make_curves``               ``generators.py``  an output of two directions of the inputs
``make_spectra``              ``spectra.py``     near-infrared spectra of mixtures, simulated
``load_nir``                  ``loaders.py``     near-infrared spectra
``load_mulan``                ``loaders.py``     sets with several targets
``load_faces``                ``images.py``      Yale, ORL and CBCL faces
``load_objects``              ``images.py``      COIL-20 and ETH-80 views of objects
``load_usps``                 ``images.py``      USPS handwritten digits
``load_silhouette_pose``      ``images.py``      silhouettes and postures
``load_statue_face_pose``     ``images.py``      a statue's head, its view and light
``load_multilabel``           ``tables.py``      sets with several labels per row
``load_table``                ``tables.py``      abalone, kin8nm and pumadyn: one real output
``load_sarcos``               ``tables.py``      torques of a robot arm, seven outputs
``load_letter``               ``tables.py``      capital letters, 26 classes
``load_raetsch``              ``tables.py``      six two-class benchmarks
``load_graphs``               ``structures.py``  MUTAG, PTC and ENZYMES
``load_nettalk``              ``structures.py``  spelling to phonemes
``load_ocr_words``            ``structures.py``  letter images to words
``load_cb513``                ``structures.py``  residues to secondary structure
``load_jester``               ``structures.py``  jokes and their ratings, with gaps
``load_mocap``                ``motion.py``      CMU motion capture: arms and walks
``load_letters``              ``motion.py``      handwritten letters as movements
``isthmus_data_home``         ``store.py``       where downloads are kept
``DatasetNotFoundError``      ``store.py``       says where was looked
============================  =================  ================================

A generator returns ``X, Y, coef`` with ``coef`` of shape (n_targets, n_features): the map that a
regression should find. A loader returns a :class:`~sklearn.utils.Bunch`. It looks for its file in
the directory named by the environment variable ``ISTHMUS_DATA``, then in the cache directory
(:func:`isthmus_data_home`), and last on OpenML if the set is there. ``registry.toml``
has one row a set.
"""

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {
        "generators": "make_curves make_kappa_regression make_low_rank_regression",
        "images": "load_faces load_objects load_silhouette_pose load_statue_face_pose load_usps",
        "loaders": "load_mulan load_nir",
        "motion": "load_letters load_mocap",
        "spectra": "make_spectra",
        "store": "DatasetNotFoundError isthmus_data_home",
        "structures": "load_cb513 load_graphs load_jester load_nettalk load_ocr_words",
        "tables": "load_letter load_multilabel load_raetsch load_sarcos load_table",
    },
    neighbours={
        "registry": "SETS",
    },
)
