"""Loaders of the papers' data. Where each set is found, and whose it is: ``registry.py``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from isthmus._validation import check_option
from isthmus.datasets.registry import SETS
from isthmus.datasets.store import Arrays, DatasetNotFoundError, is_at_hand, read_set

_TARGETS = {"gasoline": ("y", "octane"), "yarn": ("y_density", "density")}
# Tecator's source states its range alone; gasoline was measured every 2 nm.
_WAVELENGTHS = {"tecator": (850, 1050, 100), "gasoline": (900, 1700, 401)}
_TECATOR_SPLIT = {
    "train": 129,
    "monitor": 43,
    "test": 43,
    "extrapolation in fat": 8,
    "extrapolation in protein": 17,
}


def _tell_sets() -> str:
    """Which sets of spectra a newcomer can get."""
    sets = SETS["nir"]
    here = [name for name, row in sets.items() if is_at_hand(row)]
    away = [name for name, row in sets.items() if name not in here and row.openml is not None]
    told = [f"give a name: {', '.join(sets)}."]
    told.append(f"At hand: {', '.join(here) or 'none of them'}.")
    if away:
        told.append(f"Fetched from OpenML: {', '.join(away)}.")
    if len(here) + len(away) < len(sets):
        told.append("The others come from their owners: help(load_nir) says whose they are.")
    told.append("isthmus.datasets.make_spectra() simulates spectra without any file.")
    return " ".join(told)


def load_nir(name: str | None = None, *, instrument: str = "m5") -> Bunch:
    """Load near-infrared spectra: ``X`` are absorbances, targets are what a laboratory measured.

    ========  ==============  =======================================  ==========
    name      n x p           targets                                  split
    ========  ==============  =======================================  ==========
    corn      80 x 700        moisture, oil, protein, starch
    tecator   240 x 100       moisture, fat, protein                   129 rows
    dough     72 x 700        fat, sucrose, flour, water               40 rows
    gasoline  60 x 401        octane (1-D)
    yarn      28 x 268        density (1-D)                            21 rows
    ========  ==============  =======================================  ==========

    What a newcomer can get: :func:`make_spectra` needs no file and no network and gives simulated spectra
    of two instruments. Tecator is at OpenML (505) and is fetched from there; that download was tested
    against an imitation of the server, not against the server. The others are read from ``nir.npz`` in the
    directory ``ISTHMUS_DATA`` or in :func:`isthmus_data_home`, which is not distributed: corn is offered by
    Eigenvector Research, gasoline and yarn come with the R package pls, dough with the R packages ppls and
    fds. ``DESCR`` names the origin and what to cite.

    Parameters
    ----------
    name : {"corn", "tecator", "dough", "gasoline", "yarn"} or None, default=None
        The set. None raises an error that says which of them are at hand, and how to get the others.
    instrument : {"m5", "mp5", "mp6"}, default="m5"
        Which of the three instruments, for corn.

    Returns
    -------
    bunch : Bunch
        ``data``, ``target`` (float64), ``feature_names``, ``target_names``, ``DESCR`` (origin,
        terms, what to cite), ``wavelengths`` in nm (None for yarn), ``train_index`` (None where the
        set has no customary split). Tecator also has ``split``, the part each row belongs to, and
        ``principal_components``, the 22 that came with it.
    """
    if name is None:
        raise ValueError(_tell_sets())
    check_option("instrument", instrument, ("m5", "mp5", "mp6"))
    try:
        arrays, description = read_set("nir", name)
    except DatasetNotFoundError as error:
        simulated = "isthmus.datasets.make_spectra() simulates spectra without any file."
        raise DatasetNotFoundError(f"{error} {simulated}") from error
    X = arrays[f"X_{instrument}" if name == "corn" else "X"]
    wavelengths = _wavelengths(name, arrays)
    if wavelengths is None:
        feature_names = [f"channel {i}" for i in range(X.shape[1])]
    else:
        feature_names = [f"{value:.6g} nm" for value in wavelengths]
    if name in _TARGETS:
        key, target_name = _TARGETS[name]
        target, target_names = arrays[key], [target_name]
    else:
        target = arrays["Y"]
        target_names = [str(each) for each in arrays["y_names"]]
    train = np.flatnonzero(arrays["train"]) if "train" in arrays else None
    extra = {}
    if name == "tecator":
        train = np.arange(_TECATOR_SPLIT["train"])
        extra["principal_components"] = arrays["pcs"].astype(np.float64)
        extra["split"] = np.repeat(list(_TECATOR_SPLIT), list(_TECATOR_SPLIT.values()))
    return Bunch(
        data=X.astype(np.float64),
        target=target.astype(np.float64),
        feature_names=feature_names,
        target_names=target_names,
        wavelengths=wavelengths,
        train_index=train,
        DESCR=description,
        **extra,
    )


def load_mulan(name: str) -> Bunch:
    """Load a multi-target regression set of the Mulan collection.

    ======  ===========  =======  =========================================
    name    n x p        targets  what is predicted
    ======  ===========  =======  =========================================
    atp1d   337 x 411    6        prices of air tickets, next day
    atp7d   296 x 411    6        prices of air tickets, least of the week
    edm     154 x 16     2        actions of a machinist
    enb     768 x 8      2        heating and cooling load of buildings
    jura    359 x 15     3        heavy metals in soil
    oes97   334 x 263    16       employment in occupations
    rf1     9125 x 64    8        river flow in 48 hours (inputs have NaN)
    scm20d  8966 x 61    16       prices in a supply chain, 20 days ahead
    wq      1060 x 16    14       species in rivers
    ======  ===========  =======  =========================================

    The file ``mulan_regression.npz`` is looked for in the directory ``ISTHMUS_DATA``, then in
    :func:`isthmus_data_home`; at last OpenML is asked, by the numbers in ``registry.py``. That download
    was tested against an imitation of the server, not against the server: it refuses a table whose
    shape or first target is not the one expected.

    Parameters
    ----------
    name : str
        A name of the table.

    Returns
    -------
    bunch : Bunch
        ``data``, ``target`` (float64), ``feature_names``, ``target_names``, ``DESCR`` (origin,
        terms, what to cite), ``wavelengths`` and ``train_index`` (both None).
    """
    arrays, description = read_set("mulan", name)
    return Bunch(
        data=arrays["X"].astype(np.float64),
        target=arrays["Y"].astype(np.float64),
        feature_names=[str(column) for column in arrays["x_names"]],
        target_names=[str(column) for column in arrays["y_names"]],
        wavelengths=None,
        train_index=None,
        DESCR=description,
    )


def _wavelengths(name: str, arrays: Arrays) -> NDArray | None:
    if "wavelength_nm" in arrays:
        return arrays["wavelength_nm"].astype(np.float64)
    return np.linspace(*_WAVELENGTHS[name]) if name in _WAVELENGTHS else None
