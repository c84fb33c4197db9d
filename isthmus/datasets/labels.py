"""Sets with several labels per row."""

from __future__ import annotations

import numpy as np
from sklearn.utils import Bunch

from isthmus._validation import check_option
from isthmus.datasets.registry import MULTILABEL
from isthmus.datasets.store import read_arrays


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
    check_option("name", name, tuple(MULTILABEL))
    row = MULTILABEL[name]
    arrays = read_arrays(row, only=("X", "Y", "label_names", "n_train"))
    return Bunch(
        data=arrays["X"].astype(np.float64),
        target=arrays["Y"].astype(np.int64),
        target_names=[str(label) for label in arrays["label_names"]],
        train_index=np.arange(int(arrays["n_train"])),
        DESCR=row.description,
    )
