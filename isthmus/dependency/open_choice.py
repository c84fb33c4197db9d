"""Which kernels and ridge an open search between strings has, chosen on rows that were held out."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import Ridge

from isthmus._linalg import Array
from isthmus.dependency.held_out import HeldOut, choose
from isthmus.features import KernelMap
from isthmus.kernels import PositionKernel, SequenceKernel
from isthmus.kernels.gram import take

_ALPHAS = (0.1, 0.01, 1.0)  # the first is tried with every pair of kernels
_MOST_ROWS = 1000  # to learn from in a trial: one takes about a second
_MOST_HELD = 60  # answers of a trial, about a second too
_LONGEST = 40  # symbols of an output: a search for more takes many seconds
_WIDTH = 1.0  # places within which words count as at the same one


@dataclass(frozen=True)
class OpenChoice:
    """Stages of an open search, and how far its answers are from the truth of held-out rows."""

    inputs: KernelMap
    outputs: KernelMap
    alpha: float
    held: NDArray[np.int64]
    distances: Array


def of_strings() -> KernelMap:
    """N-grams wherever they are: the kernel of strings if there is nothing to choose it by."""
    return KernelMap(kernel=SequenceKernel(0.3, normalise=True))


def choose_open(trial: HeldOut, regressor: Callable[..., Any]) -> OpenChoice | None:
    """Choose kernels of inputs and outputs, then the ridge, by answers to rows of the first fold.

    None if outputs are too long to be searched for that often.

    N-grams tell which pieces an answer has, and leave their order to those that overlap; words at places
    tell where they are, if that can be known from the input.
    """
    if max(len(y) for y in trial.y) > _LONGEST:
        return None
    rng = np.random.default_rng(0)
    kept, held = (rng.permutation(rows) for rows in trial.folds[0])
    kept, held = np.sort(kept[:_MOST_ROWS]), np.sort(held[:_MOST_HELD])
    pieces, at_places = of_strings(), KernelMap(kernel=PositionKernel(width=_WIDTH))
    both = KernelMap(kernel=pieces.kernel + PositionKernel(width=0.5, normalise=True))

    def ask(inputs: KernelMap, outputs: KernelMap, alpha: float) -> OpenChoice:
        model = regressor(inputs, Ridge(alpha), outputs, candidates=None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a trial: what is chosen will tell it again
            model.fit(take(trial.X, kept), take(trial.y, kept))
            answers = model.predict(take(trial.X, held))
        return OpenChoice(inputs, outputs, alpha, held, apart(trial, held, answers))

    def best(choices: list[OpenChoice]) -> OpenChoice:
        names = {str(place): choice.distances for place, choice in enumerate(choices)}
        return choices[int(choose(names))]

    found = best([ask(x, y, _ALPHAS[0]) for x in (pieces, both) for y in (pieces, at_places)])
    return best([found, *(ask(found.inputs, found.outputs, alpha) for alpha in _ALPHAS[1:])])


def apart(trial: HeldOut, held: NDArray[np.int64], answers: list[Any]) -> Array:
    """How far one answer to each row is from the truth: by places, or words at about the same place."""
    kernel = PositionKernel(width=_WIDTH, normalise=True)
    return trial.apart(kernel, [trial.y[i] for i in held], [[z] for z in answers])


def beats(choice: OpenChoice, trial: HeldOut, generator: Any) -> bool:
    """Whether an open search is nearer to the truth than a generator, by more than a standard error."""
    first = dict(zip(trial.folds[0][1].tolist(), trial.propose_fold(generator, 0)))
    answers = [first[row][0][0] for row in choice.held.tolist()]
    compared = {"generator": apart(trial, choice.held, answers), "open": choice.distances}
    return choose(compared) == "open"
