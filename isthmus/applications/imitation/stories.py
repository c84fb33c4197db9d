"""The roads of ``isthmus imitate`` that learn from pictures, each to a story that can be shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isthmus.applications.imitation.actor import Film, Scene
from isthmus.applications.imitation.clips import (
    ArmClip,
    load_clips,
)
from isthmus.applications.imitation.extras import need
from isthmus.applications.imitation.learning import Imitation
from isthmus.applications.imitation.pictures import Camera, watch
from isthmus.applications.imitation.shoulder_elbow import ShoulderElbowArm, pa10
from isthmus.applications.imitation.show import Story
from isthmus.applications.imitation.teaching import Lesson, point_errors, teach
from isthmus.applications.imitation.vision import SkinModel

Progress = Callable[[str, int, int], None]
Array = NDArray[np.float64]

LEAST_TOLD = 0.05  # share of the frames of a film that must show a person
SHOWN = 320  # pixels of the pictures to look at; 160 are enough to learn from


def _silent(text: str, done: int, total: int) -> None:
    return None


def learned_story(
    *,
    clip: str = "79_43",
    n_frames: int | None = None,
    n_labels: int = 50,
    n_unlabelled: int = 500,
    road: str = "soft_maps",
    random_state: int = 0,
    progress: Progress = _silent,
) -> Story:
    """Teach the arm from all shipped clips but one and let it follow that one."""
    clips = load_clips()
    if clip not in clips:
        raise ValueError(f"clip == {clip!r}, must be one of {', '.join(clips)}.")
    arm = pa10()
    lesson = teach(
        arm,
        [other for name, other in clips.items() if name != clip],
        n_labels=n_labels,
        n_unlabelled=n_unlabelled,
        road=road,
        random_state=random_state,
        progress=progress,
    )
    unseen = clips[clip][:n_frames]
    with Film(random_state=random_state + 1) as film:
        pictures = _frames(film, unseen, progress)
    done = lesson.imitator.predict(watch(lesson.camera, pictures)[0])
    with Film(Scene(noise=0.0), size=SHOWN) as film:
        large = _frames(film, unseen, progress, "filming the person, large")
    return _learn(arm, unseen, lesson, done, large, clip, road)


def _learn(
    arm: ShoulderElbowArm,
    clip: ArmClip,
    lesson: Lesson,
    done: Imitation,
    pictures: NDArray[np.uint8],
    name: str,
    road: str,
) -> Story:
    wanted = clip.postures(arm)
    points = arm.points(done.q)
    truth = arm.points(wanted)
    miss = 1000 * np.linalg.norm(points - truth, axis=2)
    raised = clip.raised()
    frames = raised if raised.any() else np.ones(len(raised), dtype=bool)
    errors = point_errors(arm, done.q, wanted, frames)
    return Story(
        title="A robot arm follows a person, learned from pictures",
        arm=arm,
        q=done.q,
        fps=clip.fps,
        person=pictures,
        wanted=truth,
        errors={"elbow": miss[:, arm.point_index("elbow")], "tip": miss[:, arm.point_index("tip")]},
        held=~done.reliable,
        facts={
            "movement": f"CMU motion {name}, not seen before",
            "taught with": f"{len(lesson.labels)} labelled postures ({road.replace('_', ' ')})",
            "tip error, arm raised": f"{1000 * errors.tip:.0f} mm",
            "best constant posture": f"{1000 * errors.constant_tip:.0f} mm",
        },
    )


def video_story(
    path: str | Path,
    background: str | Path,
    skin: Sequence[tuple[int, int]],
    *,
    n_frames: int | None = None,
    n_labels: int = 50,
    n_unlabelled: int = 500,
    road: str = "soft_maps",
    random_state: int = 0,
    progress: Progress = _silent,
) -> Story:
    """Follow a user's own film of a person who stands still and moves the right arm.

    The imitator is taught with the rendered actor; the film has its own background and skin.
    """
    images, fps = read_film(path, n_frames)
    empty = read_picture(background)
    if empty.shape != images[0].shape:
        raise ValueError(
            f"background has shape {empty.shape} and the film's frames {images[0].shape}: they must "
            "be equal."
        )
    model = SkinModel.from_places(images[0], skin)
    small = np.stack([_square(image, SHOWN) for image in images])
    if not watch(Camera(_square(empty, SHOWN), model), small)[1].any():  # before the long lesson
        raise ValueError("no frame of the film differs from the background: no person is visible.")
    arm = pa10()
    lesson = teach(
        arm,
        list(load_clips().values()),
        n_labels=n_labels,
        n_unlabelled=n_unlabelled,
        road=road,
        random_state=random_state,
        progress=progress,
    )
    side = lesson.background.shape[0]
    camera = Camera(_square(empty, side), model, roi=lesson.camera.roi)
    pictures = np.stack([_square(image, side) for image in images])
    views, _ = watch(camera, pictures)
    done = lesson.imitator.predict(views)
    told = int(done.reliable.sum())
    if told < LEAST_TOLD * len(done.q):
        raise ValueError(
            f"only {told} of {len(done.q)} frames of {Path(path).name} show a person with skin to be seen: "
            "there is nothing to follow. Check that --background is the same room without the person and "
            "that --skin is on skin in the first frame."
        )
    return Story(
        title=f"A robot arm follows {Path(path).name}",
        arm=arm,
        q=done.q,
        fps=fps,
        person=small,
        errors={},
        held=~done.reliable,
        facts={
            "frames that tell a posture": f"{int(done.reliable.sum())} of {len(done.q)}",
            "taught with": f"{len(lesson.labels)} labelled postures of a rendered actor",
        },
    )


def _frames(
    film: Film, clip: ArmClip, progress: Progress, text: str = "filming the person"
) -> NDArray[np.uint8]:
    out = []
    for i, (u, v) in enumerate(zip(clip.upper, clip.fore)):
        out.append(film.arm_frame(u, v))
        progress(text, i + 1, len(clip))
    return np.array(out, dtype=np.uint8)


def read_film(
    path: str | Path, n_frames: int | None = None
) -> tuple[list[NDArray[np.uint8]], float]:
    """Frames of a film as RGB, and its frames a second."""
    imageio = need("imageio.v2")
    if not Path(path).is_file():
        raise FileNotFoundError(f"{path} is not a file: name a film.")
    frames: list[NDArray[np.uint8]] = []
    try:
        with imageio.get_reader(str(path)) as reader:
            fps = float(reader.get_meta_data().get("fps") or 30.0)
            for frame in reader:
                frames.append(np.ascontiguousarray(np.asarray(frame)[..., :3]))
                if n_frames is not None and len(frames) >= n_frames:
                    break
    except (OSError, RuntimeError, ValueError, SyntaxError, IndexError) as error:
        reason = str(error).strip().splitlines()[-1] if str(error).strip() else type(error).__name__
        raise ValueError(
            f"{Path(path).name} cannot be read as a film, it may be truncated or of another kind: {reason}"
        ) from None
    if not frames:
        raise ValueError(f"{Path(path).name} has no frames: it may be truncated.")
    return frames, fps


def read_picture(path: str | Path) -> NDArray[np.uint8]:
    """A picture as RGB bytes."""
    imageio = need("imageio.v2")
    image = np.asarray(imageio.imread(str(path)))
    return np.ascontiguousarray(
        np.stack([image] * 3, axis=-1) if image.ndim == 2 else image[..., :3]
    )


def _square(image: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    """The middle square of a picture, made as large as the rendered ones."""
    cv2 = need("cv2")
    height, width = image.shape[:2]
    edge = min(height, width)
    top, left = (height - edge) // 2, (width - edge) // 2
    middle = image[top : top + edge, left : left + edge]
    return cv2.resize(middle, (side, side), interpolation=cv2.INTER_AREA)
