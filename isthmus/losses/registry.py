"""Losses by name."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from isthmus.losses.absolute import Absolute
from isthmus.losses.base import Loss
from isthmus.losses.epsilon_insensitive import EpsilonInsensitive
from isthmus.losses.function import FunctionLoss
from isthmus.losses.huber import Huber
from isthmus.losses.huber_rows import HuberRows
from isthmus.losses.log_cosh import LogCosh
from isthmus.losses.logistic import Logistic
from isthmus.losses.poisson import Poisson
from isthmus.losses.quantile import Quantile
from isthmus.losses.squared import Squared

LOSSES: dict[str, type[Loss]] = {
    "squared": Squared,
    "absolute": Absolute,
    "huber": Huber,
    "huber_rows": HuberRows,
    "epsilon_insensitive": EpsilonInsensitive,
    "quantile": Quantile,
    "log_cosh": LogCosh,
    "logistic": Logistic,
    "poisson": Poisson,
}


def get_loss(loss: str | Loss | tuple[Any, Any], **params: Any) -> Loss:
    """Return a loss from its name and parameters, a pair of functions, or a loss as it is.

    Examples
    --------
    >>> get_loss("huber", delta=1.5)
    Huber(delta=1.5)
    """
    if isinstance(loss, str):
        return _by_name(loss, params)
    if params:
        raise ValueError(f"parameters {sorted(params)} go with the name of a loss, got {loss!r}")
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, tuple) and len(loss) == 2 and all(map(callable, loss)):
        return FunctionLoss(*loss)
    raise TypeError(
        f"loss == {loss!r}, must be a name, a Loss or a pair of functions (value, gradient); "
        f"the names are {_names()}"
    )


def _by_name(name: str, params: dict[str, Any]) -> Loss:
    if name not in LOSSES:
        raise ValueError(f"loss == {name!r} is not known; the names are {_names()}")
    try:
        return LOSSES[name](**params)
    except TypeError:
        known = sorted(field.name for field in fields(LOSSES[name]))  # type: ignore[arg-type]
        raise TypeError(
            f"loss {name!r} takes the parameters {known}, got {sorted(params)}"
        ) from None


def _names() -> str:
    return ", ".join(map(repr, LOSSES))
