"""Oracle: all candidates sorted at once."""

import numpy as np

from isthmus.preimages.best_seen import BestSeen


def test_the_best_of_many_rounds_are_the_best_of_all():
    rng = np.random.default_rng(0)
    seen = BestSeen(keep=5)
    table = rng.integers(0, 9, size=(400, 3))  # many rows occur several times
    losses = table @ np.array([81.0, 9.0, 1.0])  # one loss per distinct row
    for part in np.array_split(np.arange(400), 40):
        seen.add(losses[part], lambda row, part=part: (table[part[row]],))
    best = seen.best(5)
    wanted, first = np.unique(losses, return_index=True)
    assert [value for value, _ in best] == wanted[:5].tolist()
    assert [found.tolist() for _, (found,) in best] == table[first[:5]].tolist()
    assert seen.lowest == wanted[0] and len(seen) <= 20


def test_what_is_not_allowed_is_not_kept_and_arrays_are_copied():
    seen = BestSeen(keep=5)
    rows = np.arange(6).reshape(3, 2)
    seen.add(np.array([np.inf, 2.0, np.inf]), lambda row: (rows[row], rows[row, :1]))
    rows[:] = 0
    assert len(seen) == 1 and seen.lowest == 2.0
    ((value, (first, second)),) = seen.best(4)
    assert value == 2.0 and first.tolist() == [2, 3] and second.tolist() == [2]
