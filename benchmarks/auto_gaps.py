"""What do gaps in the inputs cost `fit_auto`, beside trees behind column means and trees that take gaps?

Entries of the inputs are taken away at random, from training and test rows. aRRMSE over three outer
folds, as in `auto.py`; every contestant has the same rows and the same gaps. The sets are those of
`auto.py` that are no curves and take less than ten seconds a fit. Looked at before: enb and jura.

    ISTHMUS_DATA=... python benchmarks/auto_gaps.py [--outputs]

Measured on two AMD cores:

=========  =====  =========  ==========  ====================
set        gaps   fit_auto   ExtraTrees  HistGradientBoosting
=========  =====  =========  ==========  ====================
enb          0%     0.096      0.146       0.100
enb          2%     0.106      0.176       0.140
enb         10%     0.147      0.196       0.188
jura         0%     0.574      0.622       0.634
jura         2%     0.590      0.638       0.631
jura        10%     0.592      0.683       0.673
edm          0%     0.651      0.649       0.724
edm          2%     0.665      0.661       0.719
edm         10%     0.687      0.706       0.763
abalone      0%     0.652      0.702       0.727
abalone      2%     0.655      0.717       0.732
abalone     10%     0.649      0.725       0.738
kin8nm       0%     0.474      0.751       0.768
kin8nm       2%     0.523      0.756       0.776
kin8nm      10%     0.663      0.791       0.791
=========  =====  =========  ==========  ====================

With `--outputs`, gaps in the outputs of the training rows; trees and boosting have a model for each
output, of the rows in which it is known:

=========  =====  =========  ==========  ====================
set        gaps   fit_auto   ExtraTrees  HistGradientBoosting
=========  =====  =========  ==========  ====================
enb          2%     0.097      0.129       0.105
enb         30%     0.113      0.132       0.158
jura         2%     0.578      0.577       0.628
jura        30%     0.587      0.585       0.661
edm          2%     0.655      0.649       0.700
edm         30%     0.678      0.665       0.727
=========  =====  =========  ==========  ====================

Without the filling a single gap left the linear methods alone: with 2 % of the inputs 0.319 on enb and
0.627 on jura, with 2 % of the outputs 0.316, 0.627 and 0.797 on edm.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from auto import N_SPLITS, boosting, public_set, relative_errors, trees
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold

from isthmus import fit_auto

SETS = ("enb", "jura", "edm", "abalone", "kin8nm")
SHARES = (0.0, 0.02, 0.1)
OUTPUT_SHARES = (0.02, 0.3)


class FilledTrees:
    """Extremely randomised trees behind the means of the columns."""

    def __init__(self, X, Y):
        self.filler = SimpleImputer().fit(X)
        self.model = trees(self.filler.transform(X), Y)

    def predict(self, X):
        return self.model.predict(self.filler.transform(X))


class OneByOne:
    """A model for each output, of the rows in which it is known."""

    def __init__(self, fit, X, Y):
        known = [np.isfinite(y) for y in Y.T]
        self.models = [fit(X[rows], y[rows]) for rows, y in zip(known, Y.T, strict=True)]

    def predict(self, X):
        return np.column_stack([model.predict(X).reshape(len(X)) for model in self.models])


def by_output(fit):
    """All outputs in one model, or one model each where outputs have gaps."""
    return lambda X, Y: fit(X, Y) if np.isfinite(Y).all() else OneByOne(fit, X, Y)


def ours(X, Y):
    return fit_auto(X, Y[:, 0] if Y.shape[1] == 1 else Y, verbose=0)


CONTESTANTS = {
    "fit_auto": ours,
    "ExtraTrees": by_output(FilledTrees),
    "HistGradientBoosting": by_output(boosting),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--outputs", action="store_true", help="gaps in outputs to train on")
    of_outputs = parser.parse_args().outputs
    print(f"{'set':10}{'gaps':>6}" + "".join(f"{name:>22}" for name in CONTESTANTS))
    for name in SETS:
        X, Y = public_set(name)
        Y = Y.reshape(len(Y), -1)
        if of_outputs and Y.shape[1] == 1:
            continue
        for share in OUTPUT_SHARES if of_outputs else SHARES:
            table = Y if of_outputs else X
            holes = np.random.default_rng(0).uniform(size=table.shape) < share
            gappy = np.where(holes, np.nan, table)
            rows, known = (X, gappy) if of_outputs else (gappy, Y)
            predicted = {who: np.zeros(Y.shape) for who in CONTESTANTS}
            means = np.zeros(Y.shape)
            for train, test in KFold(N_SPLITS, shuffle=True, random_state=1).split(X):
                means[test] = Y[train].mean(axis=0)
                for who, fit in CONTESTANTS.items():
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        found = fit(rows[train], known[train]).predict(rows[test])
                    predicted[who][test] = np.asarray(found).reshape(len(test), -1)
            errors = (relative_errors(Y, predicted[who], means).mean() for who in CONTESTANTS)
            print(
                f"{name:10}{share:6.0%}" + "".join(f"{error:22.3f}" for error in errors), flush=True
            )


if __name__ == "__main__":
    main()
