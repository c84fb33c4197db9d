"""Loaders of movements: motion capture and writing. Whose they are: ``registry.py``."""

from __future__ import annotations

import numpy as np
from sklearn.utils import Bunch

from isthmus.datasets.store import read_set

# The rate at which the data base was recorded.
_FPS = 120.0


def load_mocap(name: str) -> Bunch:
    """Load motion capture from the CMU database: positions of a person's joints over time.

    ====  ====================  ==================================================
    name  frames                movements
    ====  ====================  ==================================================
    arm   10580, 6 clips        writing, painting, washing a window, directing traffic
    walk  11672, 31 clips       walks of three persons
    ====  ====================  ==================================================

    The file ``cmu_mocap_<name>.npz`` is looked for in the directory ``ISTHMUS_DATA``, then in
    :func:`isthmus_data_home`.

    Parameters
    ----------
    name : {"arm", "walk"}
        The set.

    Returns
    -------
    bunch : Bunch
        ``data`` (n_frames, n_channels), joint angles in degrees and the root's place, as in the motion
        files; ``positions`` (n_frames, n_joints, 3) in metres, y up; ``trial`` (n_frames,), the number
        of the clip; ``trial_names``, ``trial_descriptions``, ``trial_offsets``; ``feature_names``;
        ``joint_names``, ``joint_parents`` (-1 at the root); ``fps``; ``DESCR`` (origin, terms, what to
        cite).
    """
    arrays, description = read_set("mocap", name)
    offsets = arrays["trial_offsets"].astype(np.intp)
    return Bunch(
        data=arrays["channels"].astype(np.float64),
        positions=arrays["positions_m"].astype(np.float64),
        trial=np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)),
        trial_names=[str(text) for text in arrays["trial_names"]],
        trial_descriptions=[str(text) for text in arrays["trial_description"]],
        trial_offsets=offsets,
        feature_names=[str(text) for text in arrays["channel_names"]],
        joint_names=[str(text) for text in arrays["joint_names"]],
        joint_parents=arrays["joint_parent"].astype(np.intp),
        fps=float(arrays.get("fps", _FPS)),
        DESCR=description,
    )


def load_letters() -> Bunch:
    """Load 340 handwritten capital letters as movements of a pen.

    The file ``writing_letters.npz`` is looked for in the directory ``ISTHMUS_DATA``, then in
    :func:`isthmus_data_home`.

    Returns
    -------
    bunch : Bunch
        ``data`` (340, 200, 2), places of the pen; ``velocities`` (340, 200, 2), about a hundred times
        the step; ``target``, 0 for A to 25 for Z; ``DESCR`` (origin, terms, what to cite).
    """
    wanted = ("positions", "velocities", "letter")
    arrays, description = read_set("single", "writing_letters", wanted)
    return Bunch(
        data=arrays["positions"].astype(np.float64),
        velocities=arrays["velocities"].astype(np.float64),
        target=arrays["letter"].astype(np.intp),
        DESCR=description,
    )
