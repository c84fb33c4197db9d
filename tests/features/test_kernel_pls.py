"""``make_pipeline(KernelMap, PLS)`` is kernel PLS: against the dual algorithm, written only here."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.pipeline import make_pipeline

from isthmus import PLS, KernelMap
from isthmus.kernels import RBF, Polynomial, center_train


def dual_kernel_pls(K, Kt, Y, r):
    """Predictions for the rows of ``Kt``: scores from deflated Gram matrices, no coordinates."""
    Kc, row_means, mean = center_train(K)
    y_mean = Y.mean(axis=0)
    E, F = Kc.copy(), Y - y_mean
    T, U = [], []
    for _ in range(r):
        c = np.linalg.eigh(F.T @ E @ F)[1][:, -1]
        u = F @ c
        t = E @ u
        t /= np.linalg.norm(t)
        P = np.eye(len(t)) - np.outer(t, t)
        E, F = P @ E @ P, P @ F
        T.append(t)
        U.append(u)
    T, U = np.array(T).T, np.array(U).T
    B = U @ np.linalg.solve(T.T @ Kc @ U, T.T @ (Y - y_mean))
    new = Kt - row_means - Kt.mean(axis=1, keepdims=True) + mean
    return new @ B + y_mean


@pytest.mark.parametrize("kernel", [RBF(0.2), Polynomial(2, 0.3, 1.0)], ids=repr)
@pytest.mark.parametrize("q", [1, 3])
@pytest.mark.parametrize("r", [1, 4])
def test_pipeline_is_dual_kernel_pls(kernel, q, r):
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(50, 4)), rng.normal(size=(12, 4))
    Y = np.sin(X @ rng.normal(size=(4, q))) + 0.1 * rng.normal(size=(50, q)) + 2.0
    model = make_pipeline(KernelMap(kernel=kernel), PLS(r, scale=False)).fit(X, Y)
    expected = dual_kernel_pls(kernel(X), kernel(new, X), Y, r)
    assert_allclose(model.predict(new).reshape(len(new), -1), expected, atol=1e-8)
