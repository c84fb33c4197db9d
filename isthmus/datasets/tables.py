"""Loaders of tables: one output, several outputs of a robot, classes, several labels per row."""

from __future__ import annotations

import string

import numpy as np
from sklearn.utils import Bunch

from isthmus.datasets.store import read_set

_SEXES = ("F", "I", "M")
_SARCOS_GROUPS = ("position", "velocity", "acceleration")
# Of the SARCOS arm: each has a position, a velocity, an acceleration and a torque.
_N_JOINTS = 7


def load_table(name: str) -> Bunch:
    """Load a table with one real output.

    ========  =========  ====================================================================
    name      n x p      what is predicted
    ========  =========  ====================================================================
    abalone   4177 x 10  rings of a shell, which tell its age; three columns are its sex
    kin8nm    8192 x 8   distance of the hand of an eight-link robot arm from a target
    pumadyn   8192 x 32  acceleration of a link of a Puma 560 arm; 32 inputs, few of them matter
    ========  =========  ====================================================================

    The file of its name is looked for in the directory ``ISTHMUS_DATA``, then in
    :func:`isthmus_data_home`.

    Parameters
    ----------
    name : {"abalone", "kin8nm", "pumadyn"}
        The set.

    Returns
    -------
    bunch : Bunch
        ``data``, ``target`` (1-D), both float64, ``feature_names``, ``DESCR`` (origin, terms, what to
        cite).
    """
    arrays, description = read_set("tables", name)
    X = arrays["X"].astype(np.float64)
    names = [str(column) for column in arrays.get("feature_names", np.arange(X.shape[1]))]
    if name == "abalone":
        sex = np.array([str(value) for value in arrays["sex"]])
        X = np.hstack([X, sex[:, None] == np.array(_SEXES)])
        names += [f"sex {value}" for value in _SEXES]
    y = arrays["y_rings" if name == "abalone" else "y"].astype(np.float64)
    return Bunch(data=X, target=y, feature_names=names, DESCR=description)


def load_letter() -> Bunch:
    """Load the UCI letters: 20000 distorted capitals, 16 numbers each, 16000 to learn from.

    The file ``letter.npz`` is looked for in the directory ``ISTHMUS_DATA``, then in
    :func:`isthmus_data_home`.

    Returns
    -------
    bunch : Bunch
        ``data`` (20000, 16), 0 to 15; ``target``, 0 for A; ``target_names``; ``train_index``, the
        customary 16000 rows; ``feature_names``; ``DESCR``.
    """
    arrays, description = read_set("single", "letter")
    return Bunch(
        data=arrays["X"].astype(np.float64),
        target=arrays["y"].astype(np.intp),
        target_names=list(string.ascii_uppercase),
        train_index=np.arange(16000),
        feature_names=[str(column) for column in arrays["feature_names"]],
        DESCR=description,
    )


def load_raetsch(name: str) -> Bunch:
    """Load one of Raetsch's two-class benchmarks.

    =============  ==========
    name           n x p
    =============  ==========
    banana         5300 x 2
    breast_cancer  277 x 9
    flare_solar    1066 x 9
    german         1000 x 20
    image          2310 x 18
    waveform       5000 x 21
    =============  ==========

    The file ``raetsch.npz`` is looked for in the directory ``ISTHMUS_DATA``, then in
    :func:`isthmus_data_home`.

    Parameters
    ----------
    name : str
        A name of the table.

    Returns
    -------
    bunch : Bunch
        ``data``, ``target`` in {-1, 1}, ``feature_names``, ``DESCR``.
    """
    arrays, description = read_set("raetsch", name)
    X = arrays["X"].astype(np.float64)
    names = [str(j) for j in range(X.shape[1])]
    y = arrays["y"].astype(np.intp)
    return Bunch(data=X, target=y, feature_names=names, DESCR=description)


def load_sarcos() -> Bunch:
    """Load the inverse dynamics of a SARCOS arm: 4449 movements, 21 inputs, 7 torques.

    The file ``sarcos_small.npz`` is looked for in the directory ``ISTHMUS_DATA``, then in
    :func:`isthmus_data_home`. It holds the rows of the customary test file.

    Returns
    -------
    bunch : Bunch
        ``data`` (4449, 21): positions, velocities and accelerations of seven joints; ``target``
        (4449, 7); ``feature_names``, ``target_names``, ``DESCR``.
    """
    arrays, description = read_set("single", "sarcos")
    return Bunch(
        data=arrays["X"].astype(np.float64),
        target=arrays["Y"].astype(np.float64),
        feature_names=[f"{group} {j}" for group in _SARCOS_GROUPS for j in range(_N_JOINTS)],
        target_names=[f"torque {j}" for j in range(_N_JOINTS)],
        DESCR=description,
    )


def load_multilabel(name: str) -> Bunch:
    """Load a multi-label set.

    ========  ============  ======  ==================================
    name      n x p         labels  what is labelled
    ========  ============  ======  ==================================
    scene     2407 x 294    6       photographs of landscapes
    yeast     2417 x 103    14      functions of genes
    emotions  593 x 72      6       moods of music
    corel5k   5000 x 499    374     photographs, words of 499 blobs
    ========  ============  ======  ==================================

    The file ``multilabel.npz`` is looked for in the directory ``ISTHMUS_DATA``, then in
    :func:`isthmus_data_home`.

    Parameters
    ----------
    name : {"scene", "yeast", "emotions", "corel5k"}
        The set.

    Returns
    -------
    bunch : Bunch
        ``data`` (float64), ``target`` (n_samples, n_labels) of 0 and 1 (int64), ``target_names``,
        ``train_index``, the customary rows to learn from, ``DESCR`` (origin, terms, what to cite).
    """
    wanted = ("X", "Y", "label_names", "n_train")
    arrays, description = read_set("multilabel", name, wanted)
    return Bunch(
        data=arrays["X"].astype(np.float64),
        target=arrays["Y"].astype(np.int64),
        target_names=[str(label) for label in arrays["label_names"]],
        train_index=np.arange(int(arrays["n_train"])),
        DESCR=description,
    )
