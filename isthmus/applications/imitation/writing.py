"""Writing by an arm: record, cut into letters, morph, join again and execute; [B2006]_ Ch. 5."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isthmus.applications.imitation.arm import SerialArm
from isthmus.applications.imitation.board import board_pictures
from isthmus.applications.imitation.checks import check_trajectory
from isthmus.applications.imitation.dexterity_measures import dexterity, kinetic_energy
from isthmus.applications.imitation.execution import CONTROLLER, track
from isthmus.applications.imitation.limb_task import Goal
from isthmus.applications.imitation.movements import MorphableModel, resample
from isthmus.applications.imitation.primitives import concatenate, decompose, segment
from isthmus.applications.imitation.retarget import Retargeter
from isthmus.applications.imitation.retargeted import Retargeted
from isthmus.applications.imitation.shoulder_elbow import pa10
from isthmus.applications.imitation.show import Story

Array = NDArray[np.float64]

FPS = 100.0  # of the recordings
HEIGHT = 0.12  # metres of a letter on the board
PAUSE = 0.15  # share of the median speed below which a pen rests
# Two hands: how wide, how slanted and how unevenly each draws. Drawn, not recorded.
HANDS = {"careful": (1.0, 0.0, 0.2), "quick": (1.35, 0.35, -0.35)}
DURATIONS = {"careful": 1.6, "quick": 0.9}  # seconds a letter
# Knots of a letter's stroke in a box of width and height 1, joined by smooth pieces.
STROKES: dict[str, Sequence[tuple[float, float]]] = {
    "a": ((0.8, 0.9), (0.3, 1.0), (0.0, 0.5), (0.3, 0.0), (0.8, 0.3), (0.8, 0.9), (0.9, 0.0)),
    "b": ((0.0, 1.0), (0.0, 0.0), (0.1, 0.5), (0.6, 0.6), (0.8, 0.3), (0.5, 0.0), (0.0, 0.1)),
    "c": ((0.9, 0.9), (0.4, 1.0), (0.0, 0.5), (0.4, 0.0), (0.9, 0.1)),
    "e": ((0.0, 0.5), (0.9, 0.6), (0.6, 1.0), (0.1, 0.8), (0.1, 0.2), (0.5, 0.0), (0.9, 0.2)),
    "l": ((0.0, 0.3), (0.5, 0.9), (0.4, 1.0), (0.3, 0.5), (0.4, 0.0), (0.8, 0.2)),
    "n": ((0.0, 0.0), (0.1, 1.0), (0.2, 0.2), (0.6, 1.0), (0.8, 0.6), (0.9, 0.0)),
    "o": ((0.5, 1.0), (0.0, 0.5), (0.5, 0.0), (1.0, 0.5), (0.5, 1.0)),
    "s": ((0.9, 0.9), (0.4, 1.0), (0.1, 0.7), (0.8, 0.3), (0.5, 0.0), (0.0, 0.1)),
    "u": ((0.0, 1.0), (0.1, 0.2), (0.5, 0.0), (0.8, 0.5), (0.9, 1.0), (0.9, 0.0)),
    "v": ((0.0, 1.0), (0.4, 0.0), (0.9, 1.0)),
    "w": ((0.0, 1.0), (0.2, 0.0), (0.5, 0.8), (0.7, 0.0), (1.0, 1.0)),
    "z": ((0.0, 1.0), (0.9, 1.0), (0.0, 0.0), (0.9, 0.0)),
}


def draw_letter(letter: str, hand: str = "careful", random_state: Any = None) -> Array:
    """Return a letter as one hand draws it, (n, 2) in metres at 100 Hz, at rest at both ends."""
    if letter not in STROKES:
        raise ValueError(f"letter {letter!r} is unknown, there are {', '.join(sorted(STROKES))}.")
    if hand not in HANDS:
        raise ValueError(f"hand == {hand!r}, must be one of {', '.join(map(repr, HANDS))}.")
    from scipy.interpolate import PchipInterpolator

    rng = np.random.default_rng(random_state)
    width, slant, haste = HANDS[hand]
    knots = np.array(STROKES[letter], dtype=np.float64)
    knots += 0.02 * rng.standard_normal(knots.shape)
    knots[:, 0] = 0.6 * width * knots[:, 0] + slant * knots[:, 1]
    n = round(DURATIONS[hand] * FPS)
    t = np.linspace(0, 1, n)
    s = t**3 * (10 - 15 * t + 6 * t**2)  # at rest at both ends, least jerk
    s = s + haste * np.sin(np.pi * s) ** 2 * s * (1 - s)
    pieces = PchipInterpolator(np.linspace(0, 1, len(knots)), knots, axis=0)
    return HEIGHT * np.asarray(pieces(np.clip(s, 0, 1)))


def record(text: str, hand: str, random_state: Any = None) -> tuple[Array, float]:
    """Return a word as one movement with pauses between its letters, and its samples per second."""
    rng = np.random.default_rng(random_state)
    parts, at = [], np.zeros(2)
    for letter in text:
        stroke = draw_letter(letter, hand, rng)
        moved = stroke - stroke[0] + at
        parts += [moved, np.repeat(moved[-1:], 15, axis=0)]
        at = moved[-1]
    return np.concatenate(parts), FPS


def cut_pauses(trajectory: ArrayLike, share: float = PAUSE) -> Array:
    """Return a movement without the samples at either end in which it rests."""
    values = check_trajectory(trajectory, "trajectory")
    speed = np.linalg.norm(np.gradient(values, axis=0), axis=1)
    typical = float(np.median(speed[speed > 0])) if speed.any() else np.inf
    moving = np.flatnonzero(speed > share * typical)
    if len(moving) < 2:
        raise ValueError("the pen never moves: there are no pauses to cut at.")
    return values[moving[0] : moving[-1] + 1]


def mixture_weights(model: MorphableModel, movement: ArrayLike) -> Array:
    """Return the weights, summing to one, of the mixture that is nearest to a new movement.

    Least squares over all samples, from every prototype and from equal weights; the best is returned.
    """
    from scipy.optimize import least_squares

    values = resample(movement, len(model.reference))
    values = values - values[0]
    n = len(model.correspondences)

    def whole(rest: Array) -> Array:
        return np.concatenate([[1 - rest.sum()], rest])

    def miss(rest: Array) -> Array:
        with warnings.catch_warnings():  # weights far outside are only passed through
            warnings.simplefilter("ignore")
            mixed = model.morph(whole(rest))
        return (mixed - mixed[0] - values).ravel()

    starts = [*np.eye(n)[:, 1:], np.full(n - 1, 1 / n)]
    found = min((least_squares(miss, start) for start in starts), key=lambda result: result.cost)
    return whole(found.x)


@dataclass(frozen=True)
class Writing:
    """A word that was recorded twice, cut, morphed, joined and executed.

    Attributes
    ----------
    text : str
        The word, in the order in which it is written.
    labels : tuple of str
        Letters that the segmentation found in the first recording.
    path : ndarray of shape (n, 2)
        What is written, metres on the board.
    duration : float
        Seconds: the mixture of the two hands' durations.
    durations : dict of str to float
        Of each letter.
    done : Retargeted
        The arm's movement.
    arm, retargeter : SerialArm, Retargeter
        The arm, and what moved it.
    recordings : dict of str to ndarray of shape (n_k, 2)
        The word as each hand wrote it.
    cuts : dict of str to list of int
        Samples of these at which letters begin and end.
    """

    text: str
    labels: tuple[str, ...]
    path: Array
    duration: float
    durations: dict[str, float]
    done: Retargeted
    arm: SerialArm
    retargeter: Retargeter
    recordings: dict[str, Array]
    cuts: dict[str, list[int]]


def write(
    text: str,
    *,
    caricature: float = 0.5,
    order: str | None = None,
    arm: SerialArm | None = None,
    smoothing: float = 0.03,
    random_state: int = 0,
) -> Writing:
    """Let an arm write a word that two hands have written, in a hand between or beyond theirs.

    Both recordings are cut at their pauses by templates of single letters; each letter becomes a mixture of
    the two hands; the letters are joined in ``order`` and written on a board in front of the arm.

    Parameters
    ----------
    text : str
        What both hands write; letters of :data:`STROKES`.
    caricature : float, default=0.5
        0 is the first hand, 1 the second, between them a mixture, outside an exaggeration.
    order : str, default=None
        The same letters in another order; None is ``text``.
    arm : SerialArm, default=None
        None is the PA-10.
    smoothing : float, default=0.03
        See :class:`Retargeter`.
    random_state : int, default=0
        Of the hands.
    """
    order = text if order is None else order
    if not text or sorted(set(order)) != sorted(set(order) & set(text)):
        raise ValueError(f"order == {order!r} has letters that are not in text == {text!r}.")
    parts, labels = {}, ()
    recordings, cuts = {}, {}
    for hand in HANDS:
        movement, rate = record(text, hand, random_state)
        bank = [draw_letter(letter, hand, random_state + 1) for letter in sorted(set(text))]
        cut = segment(movement, bank)
        recordings[hand], cuts[hand] = movement, [int(k) for k in cut.boundaries]
        found = tuple(sorted(set(text))[k] for k in cut.labels)
        labels = labels or found
        pieces = [movement[a : b + 1] for a, b in zip(cut.boundaries, cut.boundaries[1:])]
        if len(pieces) != len(text):
            raise ValueError(
                f"{len(pieces)} letters were found in the {hand} hand's {text!r}, not {len(text)}: the "
                "pen must rest between letters."
            )
        parts[hand] = [cut_pauses(piece) for piece in pieces]
    weights = np.array([1 - caricature, caricature])
    elements, durations = [], {}
    at = 0.0
    for letter in order:
        k = text.index(letter)
        pair = [parts[hand][k] for hand in HANDS]
        model = MorphableModel(
            [piece - piece[0] for piece in pair], durations=[len(piece) / rate for piece in pair]
        )
        seconds = max(model.duration(weights), 0.2)
        shape = resample(model.morph(weights), max(round(seconds * rate), 8))
        durations[letter] = seconds
        low = shape[:, 0].min()
        elements.append(decompose(shape - [low - at, 0]))
        at += float(np.ptp(shape[:, 0])) + 0.3 * HEIGHT
    path = concatenate(elements, smooth=True)
    used = arm or pa10()
    retargeter, done = _execute(path, used, rate, smoothing)
    duration = len(path) / rate
    return Writing(
        order, labels, path, duration, durations, done, used, retargeter, recordings, cuts
    )


def _execute(
    path: Array, arm: SerialArm, rate: float, smoothing: float
) -> tuple[Retargeter, Retargeted]:
    """Write a path on a board that stands across the arm's base axis."""
    retargeter = Retargeter(arm, objective="tip", mounting="forward", smoothing=smoothing)
    centre = path - (path.min(axis=0) + path.max(axis=0)) / 2
    reach = sum(retargeter.lengths)
    scale = min(1.0, 0.9 * reach / max(float(np.ptp(path[:, 0])), 1e-9))
    x = retargeter.shoulder_place[0] + scale * centre[:, 0]
    y = retargeter.shoulder_place[1] - scale * centre[:, 1]
    z = np.full(len(path), retargeter.shoulder_place[2] + 0.6 * reach)
    goal = Goal(tip=np.stack([x, y, z], axis=1))
    return retargeter, retargeter.retarget(goal, rate)


def smoothness(
    writing: Writing, alphas: Sequence[float] = (0.0, 0.01, 0.03, 0.1)
) -> dict[float, float]:
    """Return the root mean square acceleration of the joints for several weights of smoothing."""
    out = {}
    for alpha in alphas:
        _, done = _execute(writing.path, writing.arm, 1 / writing.done.dt, alpha)
        out[alpha] = float(np.sqrt(np.mean(done.acceleration**2)))
    return out


def writing_story(
    text: str,
    *,
    caricature: float = 0.5,
    order: str | None = None,
    film: bool = True,
    random_state: int = 0,
) -> Story:
    """Return what is shown of a word: the board, angles, tip, dexterity, condition number and energy."""
    writing = write(text, caricature=caricature, order=order, random_state=random_state)
    done, arm = writing.done, writing.arm
    plain = track(arm, arm.points(done.q)[:, -1], arm.clip(done.q[0])).q
    measures = dexterity(arm, done.q, dt=done.dt)
    extra = {"condition number": {"imitation": measures.condition}}
    try:
        energy = kinetic_energy(arm, done.q, np.gradient(done.q, done.dt, axis=0))
        other = kinetic_energy(arm, plain, np.gradient(plain, done.dt, axis=0))
        extra["kinetic energy (J, links of even density)"] = {
            "imitation": energy,
            CONTROLLER: other,
        }
    except ImportError:
        pass
    rough = smoothness(writing)
    return Story(
        title=f"A robot arm writes {writing.text!r}",
        arm=arm,
        q=done.q,
        fps=1 / done.dt,
        person=board_pictures(writing, rough) if film else None,
        shown="board",
        errors={"tip": 1000 * done.errors["tip"]},
        held=~done.reached,
        facts={
            "letters found": " ".join(writing.labels),
            "hand": f"{caricature:g} of the way from the careful to the quick one",
            "duration": f"{writing.duration:.2f} s ("
            + ", ".join(f"{k} {v:.2f}" for k, v in writing.durations.items())
            + ")",
            "samples reached": f"{int(done.reached.sum())} of {len(done.q)}",
            "largest distance of the tip": f"{1000 * done.errors['tip'].max():.2g} mm",
            "acceleration (rms, rad/s^2) by smoothing": ", ".join(
                f"{alpha:g} s: {value:.2f}" for alpha, value in rough.items()
            ),
        },
        compare={CONTROLLER: plain},
        extra=extra,
    )
