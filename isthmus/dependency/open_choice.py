"""Which kernels an open search between strings has, chosen on rows that were held out."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import Array
from isthmus.dependency.held_out import HeldOut, choose
from isthmus.features import KernelMap
from isthmus.kernels import PositionKernel, SequenceKernel, take

_TRIAL_ROWS = 1000  # to learn from in a trial: one takes about a second
_TRIAL_ANSWERS = 60  # answers of a trial, about a second too
_LONGEST = 40  # symbols of an output: a search for more takes many seconds
_WIDTH = 1.0  # places within which words count as at the same one


@dataclass(frozen=True)
class OpenChoice:
    """Stages of an open search, and how far its answers are from the truth of held-out rows."""

    inputs: KernelMap
    outputs: KernelMap
    held: list[NDArray[np.int64]]  # rows of each fold that was asked
    distances: Array


def of_strings() -> KernelMap:
    """N-grams wherever they are: the kernel of strings if there is nothing to choose it by."""
    return KernelMap(kernel=SequenceKernel(0.3, normalise=True))


def choose_open(trial: HeldOut, regressor: Callable[..., Any]) -> OpenChoice | None:
    """Choose kernels of inputs and outputs by answers to held-out rows.

    None if outputs are too long to be searched for that often.

    N-grams tell which pieces an answer has, and leave their order to those that overlap; words at places
    tell where they are, if that can be known from the input.
    """
    if max(len(y) for y in trial.y) > _LONGEST:
        return None
    folds = _folds(trial)
    pieces = of_strings()
    at_places = KernelMap(kernel=PositionKernel(width=_WIDTH))
    both = KernelMap(kernel=pieces.kernel + PositionKernel(width=0.5, normalise=True))

    def ask(inputs: KernelMap, outputs: KernelMap) -> OpenChoice:
        model = regressor(inputs, None, outputs, candidates=None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a trial: what is chosen will tell it again
            answers = []
            for kept, held in folds:
                model.fit(take(trial.X, kept), take(trial.y, kept))
                answers += model.predict(take(trial.X, held))
        asked = [held for _, held in folds]
        return OpenChoice(inputs, outputs, asked, apart(trial, np.concatenate(asked), answers))

    choices = [ask(x, y) for x in (pieces, both) for y in (pieces, at_places)]
    return min(choices, key=lambda choice: float(choice.distances.mean()))


def _folds(trial: HeldOut) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """As many folds as it takes to ask enough rows: answers to thirty alone tell kernels apart by luck."""
    rng = np.random.default_rng(0)
    found: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    missing = _TRIAL_ANSWERS
    for fold in trial.folds:
        kept, held = (rng.permutation(rows) for rows in fold)
        found.append((kept[:_TRIAL_ROWS], held[:missing]))
        missing -= len(found[-1][1])
        if missing <= 0:
            break
    return found


def apart(trial: HeldOut, held: NDArray[np.int64], answers: list[Any]) -> Array:
    """How far one answer to each row is from the truth: by places, or words at about the same place."""
    kernel = PositionKernel(width=_WIDTH, normalise=True)
    return trial.apart(kernel, [trial.y[i] for i in held], [[z] for z in answers])


def beats(choice: OpenChoice, trial: HeldOut, generator: Any) -> bool:
    """Whether an open search is nearer to the truth than a generator, by more than a standard error."""
    answers = []
    for fold, held in enumerate(choice.held):
        first = dict(zip(trial.folds[fold][1].tolist(), trial.propose_fold(generator, fold)))
        answers += [first[row][0][0] for row in held.tolist()]
    compared = {
        "generator": apart(trial, np.concatenate(choice.held), answers),
        "open": choice.distances,
    }
    return choose(compared) == "open"
