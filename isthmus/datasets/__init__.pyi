from isthmus.datasets.generators import make_curves as make_curves
from isthmus.datasets.generators import make_kappa_regression as make_kappa_regression
from isthmus.datasets.generators import make_low_rank_regression as make_low_rank_regression
from isthmus.datasets.images import load_faces as load_faces
from isthmus.datasets.images import load_objects as load_objects
from isthmus.datasets.images import load_silhouette_pose as load_silhouette_pose
from isthmus.datasets.images import load_statue_face_pose as load_statue_face_pose
from isthmus.datasets.images import load_usps as load_usps
from isthmus.datasets.loaders import load_mulan as load_mulan
from isthmus.datasets.loaders import load_nir as load_nir
from isthmus.datasets.motion import load_letters as load_letters
from isthmus.datasets.motion import load_mocap as load_mocap
from isthmus.datasets.registry import SETS as SETS
from isthmus.datasets.spectra import make_spectra as make_spectra
from isthmus.datasets.store import DatasetNotFoundError as DatasetNotFoundError
from isthmus.datasets.store import isthmus_data_home as isthmus_data_home
from isthmus.datasets.structures import load_cb513 as load_cb513
from isthmus.datasets.structures import load_graphs as load_graphs
from isthmus.datasets.structures import load_jester as load_jester
from isthmus.datasets.structures import load_nettalk as load_nettalk
from isthmus.datasets.structures import load_ocr_words as load_ocr_words
from isthmus.datasets.tables import load_letter as load_letter
from isthmus.datasets.tables import load_multilabel as load_multilabel
from isthmus.datasets.tables import load_raetsch as load_raetsch
from isthmus.datasets.tables import load_sarcos as load_sarcos
from isthmus.datasets.tables import load_table as load_table

__all__ = [
    "DatasetNotFoundError",
    "isthmus_data_home",
    "load_cb513",
    "load_faces",
    "load_graphs",
    "load_jester",
    "load_letter",
    "load_letters",
    "load_mocap",
    "load_mulan",
    "load_multilabel",
    "load_nettalk",
    "load_nir",
    "load_objects",
    "load_ocr_words",
    "load_raetsch",
    "load_sarcos",
    "load_silhouette_pose",
    "load_statue_face_pose",
    "load_table",
    "load_usps",
    "make_curves",
    "make_kappa_regression",
    "make_low_rank_regression",
    "make_spectra",
]
