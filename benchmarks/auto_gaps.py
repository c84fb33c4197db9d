"""What do gaps in the inputs cost `fit_auto`, beside trees behind column means and trees that take gaps?

Entries of the inputs are taken away at random, from training and test rows. aRRMSE over three outer
folds, as in `auto.py`; every contestant has the same rows and the same gaps. The sets are those of
`auto.py` that are no curves and take less than ten seconds a fit. Looked at before: enb and jura.

    ISTHMUS_DATA=... python benchmarks/auto_gaps.py

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

Without the filling a single gap left the linear methods alone: 0.319 on enb and 0.627 on jura with 2 %.
"""

from __future__ import annotations

import warnings

import numpy as np
from auto import N_SPLITS, boosting, public_set, relative_errors, trees
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold

from isthmus import fit_auto

SETS = ("enb", "jura", "edm", "abalone", "kin8nm")
SHARES = (0.0, 0.02, 0.1)


class FilledTrees:
    """Extremely randomised trees behind the means of the columns."""

    def __init__(self, X, Y):
        self.filler = SimpleImputer().fit(X)
        self.model = trees(self.filler.transform(X), Y)

    def predict(self, X):
        return self.model.predict(self.filler.transform(X))


CONTESTANTS = {
    "fit_auto": lambda X, Y: fit_auto(X, Y, verbose=0),
    "ExtraTrees": FilledTrees,
    "HistGradientBoosting": boosting,
}


def main() -> None:
    print(f"{'set':10}{'gaps':>6}" + "".join(f"{name:>22}" for name in CONTESTANTS))
    for name in SETS:
        X, Y = public_set(name)
        Y = Y.reshape(len(Y), -1)
        for share in SHARES:
            holes = np.random.default_rng(0).uniform(size=X.shape) < share
            rows = np.where(holes, np.nan, X)
            predicted = {who: np.zeros(Y.shape) for who in CONTESTANTS}
            means = np.zeros(Y.shape)
            for train, test in KFold(N_SPLITS, shuffle=True, random_state=1).split(X):
                means[test] = Y[train].mean(axis=0)
                for who, fit in CONTESTANTS.items():
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        outputs = Y[train][:, 0] if Y.shape[1] == 1 else Y[train]
                        found = fit(rows[train], outputs).predict(rows[test])
                    predicted[who][test] = np.asarray(found).reshape(len(test), -1)
            errors = (relative_errors(Y, predicted[who], means).mean() for who in CONTESTANTS)
            print(
                f"{name:10}{share:6.0%}" + "".join(f"{error:22.3f}" for error in errors), flush=True
            )


if __name__ == "__main__":
    main()
