"""How well does an arm imitate a person it was taught from fifty postures?

Every shipped clip in turn is kept from learning; 50 postures of the others are labelled, 300 more frames
are filmed without labels. Errors are distances in millimetres on frames with a raised arm, beside those
of the best constant, the median posture of the test clip itself. Then: other persons, other scenes,
reduced sets, speed; and a table of real data, inverse dynamics (silhouettes: ``silhouettes.py``).

    python benchmarks/imitation.py                        all parts
    python benchmarks/imitation.py --part clips           one of them
    python benchmarks/imitation.py --write docs/imitation.md
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from _common import machine, versions
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV, KFold, train_test_split
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import StandardScaler

from isthmus import (
    DependencyRegressor,
    KernelMap,
    ReducedRankRegression,
)
from isthmus.applications.imitation import (
    ArmClip,
    Camera,
    Film,
    Imitator,
    Scene,
    SkinModel,
    SoftMaps,
    pick_skin,
    watch,
)
from isthmus.applications.imitation.clips import MOUNTING
from isthmus.applications.imitation.teaching import point_errors
from isthmus.papers.kernel_dependency_thesis.camera import ARM, ROADS, Studio, clip_errors, imitator

DIRECT = {
    "kernel ridge straight to the joints": "joints",
    "kernel ridge straight to two directions, closed form": "directions",
}


class Direct:
    """Kernel ridge regression from the same soft maps, without kernel on the outputs or pre-image."""

    def __init__(self, target: str):
        self.target = target

    def fit(self, views, q, more):
        self.features = SoftMaps().fit(list(views) + list(more))
        X, Y = self.features.transform(views), q
        if self.target == "directions":  # of upper arm and forearm, in the frame of the trunk
            elbow, wrist = (ARM.points(q)[:, ARM.point_index(name)] for name in ("elbow", "wrist"))
            Y = np.hstack([elbow, wrist - elbow]).reshape(-1, 3) @ MOUNTING.T
            Y = (Y / np.linalg.norm(Y, axis=1, keepdims=True)).reshape(-1, 6)
        self.model, self.mean = _kernel_ridge(X, Y)
        return self

    def predict(self, views):
        Y = self.model.predict(self.features.transform(views)) + self.mean
        if self.target == "joints":
            return SimpleNamespace(q=ARM.clip(Y))
        upper, fore = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (Y[:, :3], Y[:, 3:]))
        return SimpleNamespace(q=ARM.clip(ArmClip("seen", upper, fore).postures(ARM)))


def roads(lesson):
    """Every road, taught one lesson, by its label."""
    for road, preimage, label in ROADS:
        yield label, imitator(road, preimage, lesson)
    for label, target in DIRECT.items():
        yield label, Direct(target).fit(*lesson)


def clips_part(studio: Studio) -> list[str]:
    """Every clip kept from learning in turn."""
    found = {label: [] for label in [*(road for *_, road in ROADS), *DIRECT]}
    for name in studio.clips:
        lesson = studio.lesson([other for other in studio.clips if other != name])
        for label, model in roads(lesson):
            found[label].append(clip_errors(model, studio.clips[name], studio.views[name]))
    lines = [
        "| road | elbow | tip | share of the best constant | tip by clip |",
        "|---|---|---|---|---|",
    ]
    for label, errors in found.items():
        lines.append(_clip_row(label, errors))
    constants = [f"{1000 * e.constant_tip:.0f}" for e in errors]
    mean = 1000 * np.mean([e.constant_tip for e in errors])
    lines.append(f"| best constant | - | {mean:.0f} | 1 | {', '.join(constants)} |")
    return [f"Clips: {', '.join(studio.clips)}.", "", *lines]


def _clip_row(label: str, errors) -> str:
    tip = np.mean([e.tip for e in errors])
    share = tip / np.mean([e.constant_tip for e in errors])
    elbow = np.mean([e.elbow for e in errors])
    by_clip = ", ".join(f"{1000 * e.tip:.0f}" for e in errors)
    return f"| {label} | {1000 * elbow:.0f} | {1000 * tip:.0f} | {share:.2f} | {by_clip} |"


def persons_part(studio: Studio) -> list[str]:
    """Taught by one person, tested on the other, who moves otherwise: nothing of either was seen."""
    lines = [
        "| taught by | tested on | road | elbow | tip | share | tip by clip |",
        "|---|---|---|---|---|---|---|",
    ]
    for teacher, pupil in (("13", "79"), ("79", "13")):
        lesson = studio.lesson([name for name in studio.clips if name.startswith(teacher)])
        tests = [name for name in studio.clips if name.startswith(pupil)]
        for label, model in roads(lesson):
            errors = [clip_errors(model, studio.clips[n], studio.views[n]) for n in tests]
            lines.append(f"| {teacher} | {pupil} {_clip_row(label, errors)}")
            print(lines[-1], flush=True)
        taught = np.median(lesson[1], axis=0)
        errors = [
            point_errors(ARM, np.tile(taught, (len(clip), 1)), clip.postures(ARM), clip.raised())
            for clip in (studio.clips[n] for n in tests)
        ]
        label = "median posture of the lesson, no picture looked at"
        lines.append(f"| {teacher} | {pupil} {_clip_row(label, errors)}")
    return lines


SCENES = {
    "unchanged": {},
    "warm light": {"light": (1.0, 0.80, 0.62)},
    "blue light": {"light": (0.60, 0.75, 1.0)},
    "dim light": {"light": (0.6, 0.6, 0.6)},
    "brown skin": {"skin": (0.50, 0.33, 0.24)},
    "dark brown skin": {"skin": (0.30, 0.19, 0.13)},
    "skin-coloured shirt": {"shirt": (0.84, 0.62, 0.50)},
    "warm light, background from before": {"light": (1.0, 0.80, 0.62)},
    "actor 0.6 m further back": {"distance": 0.6},
}
SCENE_CLIPS = ("79_43", "13_26")


def scenes_part(studio: Studio) -> list[str]:
    """Scenes unlike the one of the lesson, as they are and after each remedy."""
    tests = [studio.clips[name][::3] for name in SCENE_CLIPS]
    taught = [name for name in studio.clips if name not in SCENE_CLIPS]
    lesson = studio.lesson(taught)
    chain = imitator("histograms", "nearest", lesson)
    maps = imitator("soft_maps", "constrained", lesson)
    outline = imitator("soft_maps", "constrained", lesson, features=SoftMaps(skin=False))
    trunk = imitator("soft_maps", "constrained", studio.through("torso").lesson(taught))
    lines = [
        "| scene | chain of the thesis | soft maps | light balanced by the background | light followed "
        "| skin picked again | silhouette alone | box at the trunk, skin picked again |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for label, changes in SCENES.items():
        with Film(replace(Scene(), **changes), random_state=3) as film:
            room = studio.background if "before" in label else film.background()
            films = [film.clip_frames(clip) for clip in tests]
            arm = studio.clips["79_43"]
            pixels = [pick_skin(film, arm.upper[i], arm.fore[i], n=20) for i in (0, 40, 80, 120)]
        skin = SkinModel.from_pixels(np.concatenate(pixels))
        roads = (
            (chain, Camera(room, studio.skin)),
            (maps, Camera(room, studio.skin)),
            (maps, Camera(room, studio.skin, reference=studio.background)),
            (maps, Camera(studio.background, studio.skin, follow_light=True)),
            (maps, Camera(room, skin)),
            (outline, Camera(room, skin)),
            (trunk, Camera(room, skin, roi="torso")),
        )
        lines.append(
            f"| {label} | {' | '.join(scene_cell(*road, tests, films) for road in roads)} |"
        )
    constants = [
        point_errors(ARM, clip.postures(ARM), clip.postures(ARM), clip.raised()).constant_tip
        for clip in tests
    ]
    return [
        f"Tip error in mm, mean of {' and '.join(SCENE_CLIPS)} (best constants "
        f"{' and '.join(f'{1000 * c:.0f}' for c in constants)}); in brackets the share of frames held, "
        "if any. Taught by the other four clips.",
        "",
        *lines,
    ]


def scene_cell(model: Imitator, camera: Camera, clips, films) -> str:
    """Mean tip error of some clips, and the share of their frames that told nothing."""
    tips, held = [], []
    for clip, images in zip(clips, films):
        done = model.predict(watch(camera, images)[0])
        tips.append(point_errors(ARM, done.q, clip.postures(ARM), clip.raised()).tip)
        held.append(1 - done.reliable.mean())
    share = f" ({100 * np.mean(held):.0f} %)" if np.mean(held) > 0 else ""
    return f"{1000 * np.mean(tips):.0f}{share}"


def reduced_part(studio: Studio) -> list[str]:
    """One third of the expansion points, and frames a second of the whole chain."""
    lesson = studio.lesson(["13_26", "13_27"], n_more=450)
    tests = [name for name in studio.clips if name.startswith("79")]
    lines = [
        "| road | pre-image | points | tip, mm | frames a second, picture to posture |",
        "|---|---|---|---|---|",
    ]
    for road, preimage, _ in (ROADS[0], ROADS[1], ROADS[3]):
        model = imitator(road, preimage, lesson)
        for used in (model, model.compress()):
            errors = [clip_errors(used, studio.clips[n], studio.views[n]).tip for n in tests]
            speed = frames_a_second(used, studio.camera, studio.images["79_43"])
            points = used.model_.to_expansion().n_points
            tip = 1000 * np.mean(errors)
            label = road.replace("_", " ")
            lines.append(f"| {label} | {preimage} | {points} | {tip:.1f} | {speed:.0f} |")
    return ["Taught by 13, tested on the four clips of 79; one core.", "", *lines]


def frames_a_second(model: Imitator, camera: Camera, images) -> float:
    """One frame after the other, as a stream brings them; processor time of one core."""
    q = None
    begin = time.process_time()
    for image in images[:60]:
        views, _ = watch(camera, [image])
        q = model.predict(views, start=q).q[-1]
    return 60 / (time.process_time() - begin)


# -- a real table ------------------------------------------------------------------------------


def _ridge(X, Y):
    return RidgeCV(np.logspace(-3, 5, 17)).fit(X, Y)


def _kernel_ridge(X, Y, kernel="rbf"):
    spread = ((X - X.mean(axis=0)) ** 2).sum(axis=1).mean()
    grid = {"gamma": np.geomspace(0.1, 10, 5) / spread, "alpha": np.geomspace(1e-3, 1, 4)}
    mean = Y.mean(axis=0)
    search = GridSearchCV(
        KernelRidge(kernel=kernel), grid, cv=KFold(3, shuffle=True, random_state=0)
    )
    return search.fit(X, Y - mean), mean


def sarcos_part(_: object = None) -> list[str]:
    """Inverse dynamics of a seven-joint arm, normalised mean squared error."""
    from isthmus.datasets import load_sarcos

    data = load_sarcos()
    X, X_test, Y, Y_test = train_test_split(data.data, data.target, train_size=2000, random_state=0)
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    scale = Y.std(axis=0)
    search, mean = _kernel_ridge(X, Y / scale)
    best = {k: float(v) for k, v in search.best_params_.items()}
    rows = {
        "ridge": _ridge(X, Y).predict(X_test),
        "kernel ridge": (search.predict(X_test) + mean) * scale,
        "5 nearest neighbours": KNeighborsRegressor(5).fit(X, Y).predict(X_test),
    }
    inputs = KernelMap(gamma=best["gamma"])
    for rank in (None, 4):
        model = DependencyRegressor(inputs, ReducedRankRegression(rank, alpha=best["alpha"]))
        name = "DependencyRegressor" + ("" if rank is None else f", rank {rank}")
        rows[name] = model.fit(X, Y / scale).predict(X_test) * scale
    lines = ["| method | nMSE, mean of 7 torques | by joint |", "|---|---|---|"]
    for name, predicted in rows.items():
        nmse = ((predicted - Y_test) ** 2).mean(axis=0) / Y_test.var(axis=0)
        lines.append(f"| {name} | {nmse.mean():.4f} | {', '.join(f'{v:.3f}' for v in nmse)} |")
    return lines


PARTS = {
    "clips": ("Clips kept from learning", clips_part),
    "persons": ("Person and movement left out", persons_part),
    "scenes": ("Scenes unlike the one of the lesson", scenes_part),
    "reduced": ("Reduced set and speed", reduced_part),
    "sarcos": ("Inverse dynamics of a SARCOS arm", sarcos_part),
}
NEEDS_STUDIO = ("clips", "persons", "scenes", "reduced")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--write", type=Path, help="replace the tables of this document")
    arguments = parser.parse_args()
    parts = arguments.part or list(PARTS)
    print(f"{machine()}; {versions()}")
    studio = Studio() if set(parts) & set(NEEDS_STUDIO) else None
    for part in parts:
        title, table = PARTS[part]
        lines = table(studio)
        print(f"\n## {title}\n", *lines, sep="\n", flush=True)
        if arguments.write:
            put(arguments.write, part, lines)


def put(path: Path, part: str, lines: list[str]) -> None:
    """Replace what stands between the marks of a part."""
    text = path.read_text("utf-8")
    begin, end = f"<!-- begin {part} -->", f"<!-- end {part} -->"
    before, _, rest = text.partition(begin)
    after = rest.partition(end)[2]
    path.write_text(before + begin + "\n" + "\n".join(lines) + "\n" + end + after, "utf-8")


if __name__ == "__main__":
    main()
