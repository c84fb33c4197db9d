"""How sure is a map of low rank, and can its chains be trusted? With ArviZ's plots.
=================================================================================

A map of rank two between eight inputs and five outputs is learnt from a hundred rows, its rank chosen
by leave-one-out scores. ``to_inference_data`` hands the draws to ArviZ (extra ``bayes``), which shows
the chains of the singular values, the coefficients of the first output and effective sample sizes.

The figure is saved as ``isthmus-posterior.png``.
"""

import warnings
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

from isthmus import BayesianStiefelRegression
from isthmus.datasets import make_low_rank_regression

warnings.simplefilter("ignore")  # ArviZ announces its next version
import arviz as az  # noqa: E402

FIGURE = Path("isthmus-posterior.png")


def main():
    X, Y, coef = make_low_rank_regression(400, 8, 5, rank=2, noise=0.5, random_state=0)
    X, Y, X_new, Y_new = X[:100], Y[:100], X[100:], Y[100:]
    model = BayesianStiefelRegression("auto", n_draws=500, random_state=0).fit(X, Y)
    for rank, loo in model.loo_.items():
        print(f"rank {rank}: leave-one-out score {loo.elpd:8.1f} +- {loo.standard_error:.1f}")

    bounds = model.predict(X_new, interval=0.9)[1]
    inside = np.mean((bounds[..., 0] < Y_new) & (Y_new < bounds[..., 1]))
    low, high = np.quantile(model.coef_draws_, [0.05, 0.95], axis=(0, 1))
    sure = np.mean((low < coef) & (coef < high))
    print(f"rank {model.n_components_}, R-hat {model.diagnostics_.rhat:.3f}")
    print(
        f"90 % intervals hold {100 * inside:.0f} % of new values, {100 * sure:.0f} % of coefficients"
    )

    data = model.to_inference_data(X, Y)
    figure, axes = plt.subplots(2, 2, figsize=(11, 7), layout="constrained")
    az.plot_trace(data, var_names=["singular_values"], axes=axes[:1])
    az.plot_forest(data, var_names=["coef"], coords={"target": [0]}, combined=True, ax=axes[1, 0])
    az.plot_ess(data, var_names=["noise_scale"], coords={"target": [0]}, ax=axes[1, 1])
    figure.savefig(FIGURE, dpi=110)
    print(f"Open {FIGURE} to see chains, coefficients and effective sample sizes.")


if __name__ == "__main__":
    main()
