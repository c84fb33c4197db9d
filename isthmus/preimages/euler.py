"""Sequences with given numbers of n-grams: a path along all edges of the graph of (n - 1)-grams."""

from __future__ import annotations

from collections import Counter, defaultdict

Word = tuple[int, ...]


def euler_sequence(counts: dict[Word, int], shorter: dict[Word, int]) -> Word | None:
    """A sequence in which every word of length n occurs ``counts`` times, None where there is none.

    ``shorter`` has the counts of the words of length n - 1: the sequence begins with the one that occurs
    once more than it is entered. For n = 1 any order does.
    """
    lengths = {len(word) for word in counts}
    if not lengths:
        return None
    if lengths == {1}:
        return tuple(word[0] for word in sorted(counts) for _ in range(counts[word]))
    onward: dict[Word, list[Word]] = defaultdict(list)
    entered: Counter[Word] = Counter()
    for word in sorted(counts):
        for _ in range(counts[word]):
            onward[word[:-1]].append(word[1:])
            entered[word[1:]] += 1
    starts = [node for node in shorter if shorter[node] == entered[node] + 1]
    if len(starts) != 1:
        return None
    path, stack = [], [starts[0]]
    while stack:  # Hierholzer: go on while there is a way, note nodes on the way back
        if onward[stack[-1]]:
            stack.append(onward[stack[-1]].pop())
        else:
            path.append(stack.pop())
    path.reverse()
    if len(path) != sum(counts.values()) + 1:
        return None  # not connected
    return path[0] + tuple(node[-1] for node in path[1:])
