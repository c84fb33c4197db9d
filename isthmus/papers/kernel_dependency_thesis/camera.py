"""A camera teaches an arm: [B2006] Ch. 6, with a rendered person."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from isthmus.applications.imitation import (
    Camera,
    Film,
    Imitator,
    SkinModel,
    join_clips,
    load_clips,
    pa10,
    pick_skin,
    point_errors,
    posture_pool,
    watch,
)
from isthmus.papers.experiment import Claim, Result, Row, bars

ROADS = (
    ("histograms", "nearest", "chain of the thesis, nearest posture"),
    ("histograms", "constrained", "chain of the thesis, constrained pre-image"),
    ("soft_maps", "nearest", "soft maps + kernel ridge, nearest posture"),
    ("soft_maps", "constrained", "soft maps + kernel ridge, constrained pre-image"),
)
STEP = 2  # every second frame of the test clips: neighbours are nearly alike
# Labelled and unlabelled pictures, and degrees by which a person misses the pose of a label.
N_LABELS, N_MORE, LABEL_ERROR = 50, 300, 3.0
ARM = pa10()


class Studio:
    """All clips filmed once; views through one camera."""

    def __init__(self, step: int = STEP, names: tuple[str, ...] | None = None) -> None:
        every = load_clips()
        self.clips = {name: every[name][::step] for name in (names or tuple(every))}
        with Film(random_state=0) as film:
            self.background = film.background()
            self.images = {name: film.clip_frames(clip) for name, clip in self.clips.items()}
            some = every["13_26"][::STEP]
            pixels = [pick_skin(film, some.upper[i], some.fore[i], n=20) for i in (0, 60, 120, 200)]
            self.skin = SkinModel.from_pixels(np.concatenate(pixels))
        self._look("tight")

    def _look(self, roi: str) -> None:
        self.camera = Camera(self.background, self.skin, roi=roi)
        self.views = {name: watch(self.camera, images)[0] for name, images in self.images.items()}

    def through(self, roi: str) -> Studio:
        """The same films, looked at through another box."""
        other = copy(self)
        other._look(roi)
        return other

    def lesson(self, names: list[str], seed: int = 0, n_more: int = N_MORE) -> tuple[Any, ...]:
        """Labelled views with postures, and unlabelled views, of some clips."""
        rng = np.random.default_rng(seed)
        every = join_clips([self.clips[name] for name in names])
        views = [view for name in names for view in self.views[name]]
        order = rng.permutation(len(every))
        labelled = every[np.sort(order[:N_LABELS])]
        with Film(random_state=seed) as film:
            images = film.clip_frames(labelled.with_error(LABEL_ERROR, rng))
        more = [views[i] for i in order[N_LABELS : N_LABELS + n_more]]
        return watch(self.camera, images)[0], labelled.postures(ARM), more


def imitator(road: str, preimage: str, lesson: Any, features: Any = None) -> Imitator:
    """Teach an imitator one lesson."""
    model = Imitator(
        ARM, road=road, preimage=preimage, lam=0.02, library=posture_pool(ARM), features=features
    )
    return model.fit(*lesson)


def clip_errors(model: Imitator, clip: Any, views: Any) -> Any:
    """Return the errors of elbow and tip on frames with a raised arm."""
    return point_errors(ARM, model.predict(views).q, clip.postures(ARM), clip.raised())


def run_camera(seed: int, quick: bool) -> Result:
    """Run [B2006] Sec. 6.4: camera to arm, clips kept from learning."""
    names = ("13_26", "13_27", "79_43") if quick else None
    studio = Studio(6 if quick else STEP, names)
    held_out = ["79_43"] if quick else list(studio.clips)
    found: dict[str, list[Any]] = {}
    for name in held_out:
        lesson = studio.lesson(
            [other for other in studio.clips if other != name], seed, 60 if quick else N_MORE
        )
        for road, preimage, label in (ROADS[0], ROADS[3]) if quick else ROADS:
            model = imitator(road, preimage, lesson)
            errors = clip_errors(model, studio.clips[name], studio.views[name])
            found.setdefault(label, []).append(errors)
    rows, tips = [], {}
    for label, errors in found.items():
        tips[label] = 1000 * float(np.mean([e.tip for e in errors]))
        rows.append(Row(label, [1000 * float(np.mean([e.elbow for e in errors])), tips[label]]))
    constant = 1000 * float(np.mean([e.constant_tip for e in errors]))
    rows.append(Row("best constant", [None, constant]))
    best = min(tips.values())
    return Result(
        data="generated: a rendered person that moves as in the shipped motion-capture clips",
        columns=["elbow, mm", "tip, mm"],
        rows=rows,
        claims=[
            Claim(
                f"an arm copies a person from 50 labelled pictures (tip {best:.0f} mm, best constant "
                f"{constant:.0f} mm)",
                best < constant,
            )
        ],
        notes=[f"Clips kept from learning: {', '.join(held_out)}. The thesis shows pictures."],
        figures=[bars("camera", "Mean distance of the tip, mm.", tips, "mm")],
        digits=0,
    )
