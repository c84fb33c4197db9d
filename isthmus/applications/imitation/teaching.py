"""Teach an imitator from a rendered actor: film, pick skin, label, learn, and measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isthmus.applications.imitation.actor import Film, Scene, pick_skin
from isthmus.applications.imitation.clips import ArmClip, make_clip
from isthmus.applications.imitation.learning import Imitator
from isthmus.applications.imitation.pictures import Camera, watch
from isthmus.applications.imitation.shoulder_elbow import ShoulderElbowArm
from isthmus.applications.imitation.vision import SkinModel

Array = NDArray[np.float64]
LABEL_ERROR = 3.0  # degrees by which a person misses the posture that is to be copied


@dataclass(frozen=True)
class Lesson:
    """An imitator, the camera it looks through, and the pictures it was taught with."""

    imitator: Imitator
    camera: Camera
    labels: Array
    label_images: NDArray[np.uint8]
    background: NDArray[np.uint8]


def join_clips(clips: Sequence[ArmClip]) -> ArmClip:
    """One clip of the frames of several."""
    upper = np.concatenate([clip.upper for clip in clips])
    return ArmClip("joined", upper, np.concatenate([clip.fore for clip in clips]), clips[0].fps)


def posture_pool(arm: ShoulderElbowArm, n: int = 1000, random_state: int = 1) -> Array:
    """Postures of generated human movements: the library of what the arm may do."""
    return make_clip(n, random_state=random_state).postures(arm)


def teach(
    arm: ShoulderElbowArm,
    clips: Sequence[ArmClip],
    *,
    scene: Scene | None = None,
    n_labels: int = 50,
    n_unlabelled: int = 500,
    roi: str = "tight",
    road: str = "soft_maps",
    preimage: str = "constrained",
    lam: float = 0.02,
    size: int = 160,
    random_state: int = 0,
    progress: Callable[[str, int, int], None] | None = None,
) -> Lesson:
    """Film an actor and teach an arm to follow.

    A few frames of the clips are labelled: the arm shows a posture, the actor copies it with an error
    of three degrees and is filmed. More frames are filmed without labels.

    Parameters
    ----------
    arm : ShoulderElbowArm
        The arm.
    clips : sequence of ArmClip
        Movements to learn from.
    scene : Scene, default=None
        The actor and the room.
    n_labels, n_unlabelled : int, default=50, 500
        Frames with and without postures.
    roi, road, preimage, lam
        See :func:`region` and :class:`Imitator`.
    size : int, default=160
        Height and width of the pictures.
    random_state : int, default=0
        Of the choice of frames and of all noise.
    progress : callable, default=None
        Called with a text, what is done and what is to do.
    """
    rng = np.random.default_rng(random_state)
    every = join_clips(clips)
    order = rng.permutation(len(every))
    labelled = every[np.sort(order[:n_labels])]
    others = every[np.sort(order[n_labels : n_labels + n_unlabelled])]
    with Film(scene, size=size, random_state=rng.integers(2**31)) as film:
        background = film.background()
        images = _film(film, labelled.with_error(LABEL_ERROR, rng), "labels", progress)
        more = _film(film, others, "frames without labels", progress)
        picks = np.linspace(0, len(labelled) - 1, 5).astype(int)
        pixels = [pick_skin(film, labelled.upper[i], labelled.fore[i], n=20) for i in picks]
    camera = Camera(background, SkinModel.from_pixels(np.concatenate(pixels)), roi=roi)
    q = labelled.postures(arm)
    imitator = Imitator(arm, road=road, preimage=preimage, lam=lam, library=posture_pool(arm))
    imitator.fit(watch(camera, images)[0], q, watch(camera, more)[0] if len(more) else None)
    return Lesson(imitator, camera, q, images, background)


def _film(film: Film, clip: ArmClip, what: str, progress: Any) -> NDArray[np.uint8]:
    frames = []
    for i, (u, v) in enumerate(zip(clip.upper, clip.fore)):
        frames.append(film.arm_frame(u, v))
        if progress is not None:
            progress(f"filming {what}", i + 1, len(clip))
    return np.array(frames, dtype=np.uint8)


@dataclass(frozen=True)
class Errors:
    """Mean distances in metres over the frames that count, and those of the best constant."""

    elbow: float
    tip: float
    constant_tip: float
    joints_rms_degrees: Array


def point_errors(
    arm: ShoulderElbowArm, predicted: ArrayLike, true: ArrayLike, frames: NDArray[np.bool_]
) -> Errors:
    """Compare postures with the truth; the best constant is the median posture of these frames."""
    predicted = np.asarray(predicted)[frames]
    true = np.asarray(true)[frames]
    points = arm.points(predicted)
    truth = arm.points(true)
    constant = arm.points(np.median(true, axis=0))
    elbow = arm.point_index("elbow")
    tip = arm.point_index("tip")
    turned = np.degrees(np.angle(np.exp(1j * (predicted - true))))
    return Errors(
        elbow=float(np.linalg.norm(points[:, elbow] - truth[:, elbow], axis=1).mean()),
        tip=float(np.linalg.norm(points[:, tip] - truth[:, tip], axis=1).mean()),
        constant_tip=float(np.linalg.norm(constant[tip] - truth[:, tip], axis=1).mean()),
        joints_rms_degrees=np.sqrt((turned**2).mean(axis=0)),
    )
