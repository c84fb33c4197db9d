"""What the parameters of Bayesian Stiefel regression may be."""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus._validation import check_count, check_number, check_option
from isthmus.regression.bayesian.likelihoods import Likelihood, get_likelihood

_SAMPLERS = ("auto", "gibbs", "hmc")
_PRIORS = ("auto", "normal", "half_normal", "matrix_normal")
_UNITS = ("outputs", "columns", "common", "none")
_NOISES = ("per_output", "common", "full")
_JEFFREYS = (
    "prior == 'jeffreys' (density 1/s on the singular values) has no proper posterior: the likelihood "
    "tends to a positive constant as s -> 0, so that the integral of 1/s near 0 is infinite and the chain "
    "runs to s = 0. Use prior='normal', 'half_normal' or 'matrix_normal'."
)

_NO_GIBBS = (
    "sampler == 'gibbs' needs likelihood='gaussian', 'laplace' or 'student', and prior='normal' or, at "
    "full rank, 'matrix_normal'; got likelihood={model.likelihood!r}, prior={model.prior!r} and "
    "n_components={model.n_components!r}: use sampler='auto'."
)


def check_parameters(model: Any) -> Likelihood:
    """The likelihood of a model; a ValueError where a parameter is out of bounds."""
    if model.prior == "jeffreys":
        raise ValueError(_JEFFREYS)
    check_option("prior", model.prior, _PRIORS)
    check_option("sampler", model.sampler, _SAMPLERS)
    check_option("units", model.units, _UNITS)
    check_option("noise", model.noise, _NOISES)
    check_number("nu", model.nu, "> 0 and finite", strict=True)
    if not (isinstance(model.prior_variance, str) and model.prior_variance == "auto"):
        check_number(
            "prior_variance", model.prior_variance, "> 0 and finite, or 'auto'", strict=True
        )
    for name, least in (("n_chains", 1), ("n_warmup", 0), ("n_draws", 1)):
        check_count(name, getattr(model, name), least)
    if model.thin != "auto":
        check_count("thin", model.thin, allowed="'auto'")
    if model.noise_prior != "auto":
        _check_noise_prior(model.noise_prior)
    likelihood = get_likelihood(model.likelihood, model.nu)
    if model.noise == "full" and likelihood.name != "gaussian":
        raise ValueError(
            f"noise == 'full' needs likelihood='gaussian', got {model.likelihood!r}: use "
            "noise='per_output'."
        )
    if model.sampler == "gibbs" and (model.prior == "half_normal" or likelihood.name == "loss"):
        raise ValueError(_NO_GIBBS.format(model=model))
    return likelihood


def choose_sampler(model: Any, likelihood: Likelihood, is_full: bool) -> str:
    """The sampler of a model; ``is_full`` says that the rank leaves the map free."""
    is_conjugate = model.prior in ("auto", "normal") or (model.prior == "matrix_normal" and is_full)
    if model.sampler == "auto":
        return "gibbs" if is_conjugate and likelihood.name != "loss" else "hmc"
    if model.sampler == "gibbs" and not is_conjugate:
        raise ValueError(_NO_GIBBS.format(model=model))
    return str(model.sampler)


def _check_noise_prior(value: Any) -> None:
    try:
        shape, rate = (float(number) for number in value)
    except (TypeError, ValueError):
        shape = rate = np.nan
    if not (0 <= shape < np.inf and 0 <= rate < np.inf):
        raise ValueError(
            f"noise_prior == {value!r}, must be 'auto' or a pair (shape, rate) of numbers >= 0."
        )
