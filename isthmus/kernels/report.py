"""Is this kernel fit to be used on these objects? A report with figures and advice."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from isthmus.kernels.checks import PSD_TOL, SYMMETRY_TOL
from isthmus.kernels.gram_matrix import gram, gram_diagonal, take

_LARGE = 60.0  # seconds from which the cost of a matrix is worth a word
_SAME_COSINE = 0.99  # mean cosine above which all objects look the same


@dataclass
class KernelReport:
    """What :func:`check_kernel` saw.

    Attributes
    ----------
    symmetric, psd, converged, finite : bool
        The verdicts.
    asymmetry : float
        Largest ``|K[i, j] - K[j, i]|`` over the largest entry, from two separate calls.
    smallest, largest : float
        Extreme eigenvalues.
    rank : int
        Eigenvalues above 1e-10 of the largest.
    seconds, seconds_per_pair : float
        Cost of the matrix that was computed, and of one of its entries.
    n_samples : int
        Number of objects of which it was computed.
    diagonal_error : float
        Largest relative difference between ``diag`` and the diagonal of the matrix.
    mean_cosine : float
        Mean of ``k(x, y) / sqrt(k(x, x) k(y, y))`` over pairs: 1 means all alike.
    advice : list of str
        What to change, if anything.
    """

    kernel: str
    n_samples: int
    symmetric: bool
    asymmetry: float
    psd: bool
    smallest: float
    largest: float
    rank: int
    converged: bool
    finite: bool
    diagonal_error: float
    mean_cosine: float
    seconds: float
    seconds_per_pair: float
    advice: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether the kernel may be used as it is."""
        return self.symmetric and self.psd and self.converged and self.finite

    def __str__(self) -> str:
        yes = {True: "yes", False: "NO"}
        off = f"largest difference {self.asymmetry:.1e} of the largest entry"
        spectrum = f"eigenvalues {self.smallest:.3g} to {self.largest:.3g}, rank {self.rank}"
        lines = [
            f"{self.kernel} on {self.n_samples} objects",
            f"  finite      {yes[self.finite]}",
            f"  symmetric   {yes[self.symmetric]}  ({off})",
            f"  PSD         {yes[self.psd]}  ({spectrum})",
            f"  converged   {yes[self.converged]}",
            f"  diagonal    agrees with diag() to {self.diagonal_error:.1e}",
            f"  cosine      {self.mean_cosine:.3f} on average",
            f"  cost        {self.seconds:.3g} s, {self.seconds_per_pair:.2g} s a pair",
        ]
        return "\n".join(lines + [f"  advice: {line}" for line in self.advice])


def check_kernel(kernel: Any, X: Any, *, max_samples: int | None = 500) -> KernelReport:
    """Check that a Gram matrix is symmetric and positive semi-definite.

    Parameters
    ----------
    kernel : kernel object, str or callable
        As for :func:`~isthmus.kernels.gram`.
    X : array-like or list of objects
        Objects; the first ``max_samples`` of them are used.
    max_samples : int or None, default=500
        Bound on the size of the matrix; None: all.

    Returns
    -------
    report : KernelReport
        Symmetric, PSD, converged, cost, and what to change; ``print(report)`` says it all.

    Examples
    --------
    >>> from isthmus.kernels import SequenceKernel, check_kernel
    >>> check_kernel(SequenceKernel(), ["kernel", "kernels", "colonel"]).ok
    True
    """
    n_all = int(X.shape[0]) if hasattr(X, "shape") else len(X)
    n = n_all if max_samples is None else min(n_all, max_samples)
    if n < 1:
        raise ValueError("X is empty: at least one object is needed.")
    X = take(X, slice(0, n)) if n < n_all else X
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        begin = time.perf_counter()
        K = np.asarray(gram(kernel, X), dtype=np.float64)
        seconds = time.perf_counter() - begin
        half = max(1, n // 2)
        # Two rectangles from separate calls: a symmetric call may copy one half to the other.
        upper = gram(kernel, take(X, slice(0, half)), X)
        lower = gram(kernel, X, take(X, slice(0, half)))
        diagonal = gram_diagonal(kernel, X)
    converged = not any(issubclass(w.category, ConvergenceWarning) for w in caught)
    finite = bool(np.isfinite(K).all())
    scale = float(np.abs(K[np.isfinite(K)]).max(initial=0.0)) or 1.0
    asymmetry = (
        max(_largest(upper - lower.T), _largest(K - K.T), _largest(upper - K[:half])) / scale
    )
    eigenvalues = np.linalg.eigvalsh((K + K.T) / 2.0) if finite else np.array([np.nan])
    smallest = float(eigenvalues[0])
    largest = float(eigenvalues[-1])
    norms = np.sqrt(np.maximum(K.diagonal(), 0.0))
    cosines = K / np.where(norms > 0, norms, 1.0)[:, None] / np.where(norms > 0, norms, 1.0)
    pairs = n * (n - 1)
    report = KernelReport(
        kernel=repr(kernel),
        n_samples=n,
        symmetric=bool(finite and asymmetry <= SYMMETRY_TOL),
        asymmetry=asymmetry,
        psd=bool(finite and smallest >= -PSD_TOL["float64"] * max(largest, 0.0)),
        smallest=smallest,
        largest=largest,
        # Smaller eigenvalues are rounding of the matrix.
        rank=int((eigenvalues > 1e-10 * largest).sum()) if largest > 0 else 0,
        converged=converged,
        finite=finite,
        diagonal_error=_largest(diagonal - K.diagonal()) / scale,
        mean_cosine=float((cosines.sum() - np.trace(cosines)) / pairs) if pairs else 1.0,
        seconds=seconds,
        seconds_per_pair=seconds / max(n * (n + 1) / 2, 1),
    )
    report.advice = _advice(report, n_all)
    return report


def _largest(A: Any) -> float:
    return float(np.nan_to_num(np.abs(A), nan=np.inf).max(initial=0.0))


def _advice(report: KernelReport, n_all: int) -> list[str]:
    lines = []
    if not report.finite:
        lines.append(
            "values are NaN or infinite: check the inputs and the parameters of the kernel."
        )
    if not report.symmetric:
        lines.append(
            "k(x, y) and k(y, x) differ: use (k(x, y) + k(y, x)) / 2, or correct the kernel."
        )
    if report.finite and not report.psd:
        lines.append(
            f"eigenvalue {report.smallest:.3g}: no feature space has these inner products; take a kernel "
            "that is one by construction, or clip with indefinite='clip', which changes it."
        )
    if not report.converged:
        lines.append("the iteration did not converge: raise max_iter, or raise stop.")
    if report.mean_cosine > _SAME_COSINE:
        lines.append(
            "objects look almost all alike: lower the range of the kernel (raise stop or gamma)."
        )
    # Nearly orthogonal objects: a model can only memorise them.
    elif report.n_samples > 2 and report.mean_cosine < 0.01 and report.psd:
        lines.append(
            "objects look almost all different: widen the kernel (shorter words, smaller gamma)."
        )
    if report.diagonal_error > 1e-8:
        lines.append("diag() and the diagonal differ: normalised values will be off.")
    whole = report.seconds_per_pair * n_all**2 / 2
    if whole > _LARGE:
        lines.append(
            f"all {n_all} objects would take about {whole:.0f} s: use Landmarks or n_jobs."
        )
    return lines
