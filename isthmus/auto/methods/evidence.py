"""Gaussian processes averaged by their evidence: what few rows say about kernels, widths and noise.

A row more or less in a fold moves the error of left-out rows by as much as good and bad treatments of fifty
spectra differ. The evidence uses all rows at once, and an average needs no single choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import has_fit_parameter

from isthmus._linalg import Array
from isthmus.auto.clock import check_time
from isthmus.auto.methods.kernel_search import DISTANCES
from isthmus.auto.methods.maps import InnerSearch, KernelModel, LinearMap
from isthmus.auto.methods.treated import join, mix, outputs_in_spreads
from isthmus.kernels import gram, median_gamma, resolve_kernel, shifted_gram
from isthmus.problems import RidgeSpectrum

_ALPHAS = np.logspace(-11, 2, 27)  # noise, relative to the largest eigenvalue
_TEMPER = (
    0.5  # power of the evidence: no process is quite true, and the average should not be too sure
)
_LEAST_EVIDENCE = 0.01  # weights below, for every target, are left out
# Inverse widths, times what the median rule gives.
_WIDTHS = {"rbf": np.logspace(-3.5, 1.75, 8), "l2_laplacian": np.logspace(-2, 1, 5)}


class EvidenceSearch(InnerSearch):
    r"""Ridge regressions and Gaussian processes, averaged for each target by their evidence.

    With the eigenvalues :math:`d_i` of a centred Gram matrix, the outputs :math:`p_i` in its eigenvectors
    and the noise :math:`\alpha` relative to the signal, whose variance takes its best value, the evidence
    is ([RW2006]_ Eq. 2.30)

    .. math::
        -\tfrac{n - 1}{2} \log \sum_i \frac{p_i^2}{d_i + \alpha} - \tfrac12 \sum_i \log (d_i + \alpha).

    Columns as they were measured, scaled or not, have half of the probability beforehand, all treatments
    together the other half; kernels, widths and noises have the same. The root of the evidence counts,
    since none of them is quite true ([GVO2017]_). One eigendecomposition a Gram matrix gives the evidence
    of all noises.

    Parameters
    ----------
    treatments : dict of name and transformer
        Bank of treatments of the columns; None is no treatment.
    kernels : sequence of {"linear", "rbf", "l2_laplacian"}, default=all of them
        Kernels that are averaged, those with a width over several.
    random_state : int, default=0
        Seed for the rows of the median rule.

    Attributes
    ----------
    best_estimator_ : LinearMap, Pipeline or Blend
    best_params_ : dict
        ``alpha``, the noise of each target, and ``treatment``, their names and weights.
    """

    def __init__(
        self, treatments: Any, kernels: Any = ("linear", *_WIDTHS), random_state: int = 0
    ) -> None:
        self.treatments = treatments
        self.kernels = kernels
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: Array | None = None) -> EvidenceSearch:
        """Average, then fit."""
        rows, Y, unit, flat = outputs_in_spreads(X, y)
        processes = [
            process
            for name in self.treatments
            for process in self._processes(name, rows, Y, sample_weight)
        ]
        prior = self._prior()
        evidence = np.stack([process.evidence + prior[process.treated] for process in processes])
        weights = np.exp(_TEMPER * (evidence - evidence.max(axis=(0, 1))))
        weights[weights < _LEAST_EVIDENCE * weights.max(axis=(0, 1))] = 0.0
        weights /= weights.sum(axis=(0, 1))
        used = np.flatnonzero(weights.any(axis=(1, 2)))
        shares = weights[used].sum(axis=1)
        models = [processes[k].model(Y, weights[k], unit, flat) for k in used]
        names = [processes[k].name for k in used]
        self.best_estimator_ = mix(models, names, shares)
        # The middle of the noises on their logarithmic scale.
        logs = np.log([process.alphas for process in processes])
        self.best_params_ = {"alpha": np.exp(np.einsum("kaq,ka->q", weights, logs))}
        if len(self.treatments) > 1:
            self.best_params_["treatment"] = ", ".join(
                f"{name} {share.mean():.2f}" for name, share in zip(names, shares, strict=True)
            )
        self.n_features_in_ = rows.shape[1]
        return self

    def _prior(self) -> dict[str, float]:
        """Logarithms of the probabilities of the treatments before any row is seen."""
        plain = {
            name: step is None or isinstance(step, StandardScaler)
            for name, step in self.treatments.items()
        }
        n_alike = {kind: sum(own == kind for own in plain.values()) for kind in (True, False)}
        return {name: -float(np.log(n_alike[kind])) for name, kind in plain.items()}

    def _processes(self, name: str, rows: Array, Y: Array, weights: Array | None) -> list[Process]:
        """The processes on treated rows, centred and with a mean square norm of one."""
        treatment = self.treatments[name]
        Z = rows
        if treatment is not None:
            treatment = clone(treatment)
            if weights is not None and has_fit_parameter(treatment, "sample_weight"):
                treatment.fit(rows, sample_weight=weights)
            else:
                treatment.fit(rows)
            Z = np.asarray(treatment.transform(rows))
        found = []
        if "linear" in self.kernels:
            check_time()
            spectrum = RidgeSpectrum.of_rows(Z, weights)
            found.append(Process(name, name, treatment, Z, None, spectrum, Y))
        for own in self.kernels:
            if own == "linear":
                continue
            middle = median_gamma(Z, metric=DISTANCES[own], random_state=self.random_state)
            for factor in _WIDTHS[own]:
                check_time()
                kernel = resolve_kernel(own, Z, gamma=float(middle * factor))
                spectrum = RidgeSpectrum.of_gram(shifted_gram(kernel, Z), weights)
                found.append(Process(f"{name}, {own}", name, treatment, Z, kernel, spectrum, Y))
        return found


@dataclass
class Process:
    """A kernel on treated rows; the evidence of every noise for every target."""

    name: str
    treated: str
    treatment: Any
    rows: Array
    kernel: Any
    spectrum: RidgeSpectrum
    outputs: Array

    def __post_init__(self) -> None:
        values = self.spectrum.values
        centred = self.spectrum.center(self.outputs)[1]
        n, rank = len(centred), len(values)
        projected = (self.spectrum.basis.T @ centred) ** 2
        # What no eigenvector reaches is noise alone; what rounding leaves where they reach all is nothing.
        rest = np.maximum((centred**2).sum(axis=0) - projected.sum(axis=0), 0.0)
        rest *= rank < n - 1
        self.alphas = _ALPHAS * (values[-1] if rank else 1.0)
        self.evidence = np.empty((len(self.alphas), centred.shape[1]))
        for k, alpha in enumerate(self.alphas):
            squares = (projected / (values + alpha)[:, None]).sum(axis=0) + rest / alpha
            squares = np.maximum(squares, np.finfo(float).tiny)
            determinant = np.log(values + alpha).sum() + (n - 1 - rank) * np.log(alpha)
            self.evidence[k] = -0.5 * ((n - 1) * np.log(squares) + determinant)

    def model(self, Y: Array, weights: Array, unit: Array, flat: bool) -> Any:
        """The mean over the noises as one model of the columns that were measured."""
        share = weights / np.maximum(weights.sum(axis=0), np.finfo(float).tiny)
        dual = sum(
            share[k] * self.spectrum.dual_coef(Y, np.full(Y.shape[1], self.alphas[k]))
            for k in np.flatnonzero(share.any(axis=1))
        )
        part = self.spectrum.root**2 / len(Y)
        if self.kernel is None:
            coef = self.rows.T @ dual
            constant = part @ (Y - self.rows @ coef)
            return join(self.treatment, LinearMap.of(coef.T * unit[:, None], constant * unit, flat))
        values = np.asarray(gram(self.kernel, self.rows), dtype=np.float64) @ dual
        constant = part @ (Y - values)
        model = KernelModel.of(self.rows, dual * unit, self.kernel, constant * unit, Y * unit, flat)
        return join(self.treatment, model)
