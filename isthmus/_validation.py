"""Checks of what users hand in; each error names the parameter, the value and the bound."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from inspect import currentframe, signature
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator as _BaseEstimator
from sklearn.utils import check_array as _check_array
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import validate_data as _validate_data

N_FOLDS = 5
"""Folds where nobody asks for another number, as in scikit-learn."""
_ALWAYS_FREE = 2**26  # bytes that are not worth a look at the machine's memory
_OWN_GROUPS = Path("/proc/self/cgroup")
_ALL_GROUPS = Path("/sys/fs/cgroup")
# Files of a control group, versions 2 and 1: limits, what is used, and what of it can be given back.
_GROUP_FILES = (
    (("memory.max", "memory.high"), "memory.current", "inactive_file"),
    (("memory.limit_in_bytes",), "memory.usage_in_bytes", "total_inactive_file"),
)

FAR_ROWS_ALLOWED = ContextVar("FAR_ROWS_ALLOWED", default=False)


class KeptInterrupt(KeyboardInterrupt):
    """An interrupt after which the fit is complete: what has been found is kept."""


class BaseEstimator(_BaseEstimator):
    """As in scikit-learn; a fit or a block that is refused leaves the estimator as it was.

    scikit-learn's own ``validate_data`` sets ``n_features_in_`` before the last check has passed.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in ("fit", "partial_fit", "fit_transform"):
            method: Any = vars(cls).get(name)
            if hasattr(method, "fn"):  # of scikit-learn's ``available_if``
                method.fn = _whole_or_nothing(method.fn)
            elif method is not None:
                setattr(cls, name, _whole_or_nothing(method))


def _whole_or_nothing(method: Any) -> Any:
    """Put the attributes back if the method raises; what they refer to must not be changed in place."""

    @wraps(method)
    def fit(self: Any, *args: Any, **options: Any) -> Any:
        before = self.__dict__.copy()
        try:
            return method(self, *args, **options)
        except KeptInterrupt:
            raise
        except BaseException:
            self.__dict__ = before
            raise

    return fit


def inner_router(estimator: Any, *methods: str) -> MetadataRouter:
    """Where metadata of an estimator around another go: to the same methods of ``estimator.estimator``."""
    mapping = MethodMapping()
    for method in methods:
        mapping.add(caller=method, callee=method)
    router = MetadataRouter(owner=type(estimator).__name__)
    return router.add(estimator=_inner(estimator), method_mapping=mapping)


def _inner(estimator: Any) -> Any:
    return estimator._regressor() if estimator.estimator is None else estimator.estimator


def routed_to_inner(estimator: Any, method: str, **given: Any) -> dict[str, Any]:
    """Metadata that the inner estimator takes, None left out; refuse what it has not asked for.

    With metadata routing it says what it takes by ``set_fit_request`` and the like, else by its signature.
    """
    given = {name: value for name, value in given.items() if value is not None}
    if given and get_config()["enable_metadata_routing"]:
        return dict(process_routing(estimator, method, **given).estimator[method])
    if "sample_weight" in given:
        inner = _inner(estimator)
        if "sample_weight" not in signature(getattr(inner, method)).parameters:
            raise TypeError(f"{type(inner).__name__} takes no sample_weight.")
    return given


class OutsideDomainWarning(UserWarning):
    """Rows that were predicted are not like those of the fit.

    ``warnings.simplefilter("ignore", OutsideDomainWarning)`` silences it.
    """


@contextmanager
def allow_far_rows() -> Iterator[None]:
    """Predict without a look at whether rows are far out, as in folds, where they may well be foreign.

    Filters of warnings would not do: folds are solved in threads, which share them.
    """
    token = FAR_ROWS_ALLOWED.set(True)
    try:
        yield
    finally:
        FAR_ROWS_ALLOWED.reset(token)


def is_dask(values: Any) -> bool:
    """Whether values are a Dask collection; nothing of Dask is imported."""
    return callable(getattr(type(values), "__dask_graph__", None))


def refuse_dask(**named: Any) -> None:
    """Refuse Dask collections where only arrays are taken: they would be gathered in silence."""
    for name, values in named.items():
        if is_dask(values):
            raise TypeError(
                f"{name} is a Dask {type(values).__name__}, which is not loaded into memory implicitly: "
                f"call {name}.compute() if it fits there; docs/dask.md lists what takes Dask collections."
            )


def check_array(array: Any, **options: Any) -> Any:
    """As in scikit-learn; Dask collections are refused."""
    refuse_dask(**{options.get("input_name") or "X": array})
    return _check_array(array, **options)


def validate_data(estimator: Any, X: Any, y: Any = "no_validation", **options: Any) -> Any:
    """As in scikit-learn; Dask collections are refused."""
    if not (isinstance(X, np.ndarray) and isinstance(y, np.ndarray | str)):
        refuse_dask(X=X, y=y)
    return _validate_data(estimator, X, y, **options)


def check_rank(value: Any, *, minimum: int, allowed: str = "None") -> int | None:
    """Return ``n_components`` as an int, or None where it asks for all there are."""
    if value is None:
        return None
    return check_count("n_components", value, minimum, allowed)


def check_alpha(value: Any, *, allowed: str = "") -> float:
    """Return the ridge weight as a finite non-negative float; ``allowed`` names other values."""
    if isinstance(value, bool) or not isinstance(value, Real):
        also = f" or one of: {allowed}" if allowed else ""
        raise ValueError(f"alpha == {value!r}, must be a single number >= 0{also}.")
    if not 0 <= float(value) < np.inf:
        raise ValueError(f"alpha == {value}, must be a finite number >= 0.")
    return float(value)


def check_number(
    name: str, value: Any, bound: str, high: float = np.inf, strict: bool = False
) -> float:
    """Return a finite number from 0 to ``high``; ``bound`` says so in words, ``strict`` leaves 0 out."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError(f"{name} == {value!r}, must be a number {bound}.")
    number = float(value)
    above = number > 0.0 if strict else number >= 0.0
    if not (above and number <= high and number < np.inf):
        raise ValueError(f"{name} == {value!r}, must be {bound}.")
    return number


def check_count(name: str, value: Any, minimum: int = 1, allowed: str = "") -> int:
    """Return a whole number that is at least ``minimum``; ``allowed`` names other values."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < minimum:
        also = f" or one of: {allowed}" if allowed else ""
        raise ValueError(f"{name} == {value!r}, must be an integer >= {minimum}{also}.")
    return int(value)


def check_flag(name: str, value: Any) -> bool:
    """Return True or False; a string such as "no" would otherwise count as True."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} == {value!r}, must be True or False.")
    return bool(value)


def check_verbose(value: Any) -> None:
    """Check ``verbose``."""
    if not isinstance(value, (bool, np.bool_, Integral)) or value < 0:
        raise ValueError(f"verbose == {value!r}, must be True, False or an integer >= 0.")


def check_option(name: str, value: Any, options: tuple[str, ...]) -> None:
    """Refuse a value that is not one of the named options, and list them."""
    if value not in options:
        raise ValueError(f"{name} == {value!r}, must be one of {', '.join(map(repr, options))}.")


def check_weights(sample_weight: Any, X: Any) -> NDArray[np.float64] | None:
    """Return weights as float64, or None where all rows count once."""
    if sample_weight is None:
        return None
    n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_samples, sample_weight)
    weights: NDArray[np.float64] = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weights.shape != (n_samples,):
        raise ValueError(
            f"sample_weight.shape == {weights.shape}, must be {(n_samples,)}: one weight per row."
        )
    if weights.min() < 0:
        row = int(weights.argmin())
        raise ValueError(f"sample_weight[{row}] == {weights[row]}, must be >= 0.")
    if not weights.any():
        raise ValueError("sample_weight is zero for every row; at least one must be positive.")
    return weights


def finite_answer(model: Any, answer: Any) -> Any:
    """Return an answer for some rows; refuse NaN and infinite values in it."""
    is_number = getattr(answer, "dtype", np.dtype(object)).kind == "f"
    if is_number and not np.isfinite(answer).all():
        rows = np.flatnonzero(~np.isfinite(answer).reshape(len(answer), -1).all(axis=1))
        raise ValueError(
            f"{type(model).__name__} has no finite answer for {len(rows)} of {len(answer)} rows, the first "
            f"is row {rows[0]} (counted from 0): look for values there that are far too large, or fit the "
            "model again."
        )
    return answer


def check_enough_samples(n_samples: int) -> None:
    """A map between centred data needs two rows."""
    if n_samples < 2:
        raise ValueError(f"n_samples={n_samples} (1 sample): at least 2 rows are needed to fit.")


def check_memory(n_bytes: float, what: str, remedy: str) -> None:
    """Refuse work that cannot fit into the memory that is free before it is begun."""
    free = memory_shortage(n_bytes) if n_bytes >= _ALWAYS_FREE else None
    if free is not None:
        raise MemoryError(
            f"{what} needs {n_bytes / 2**30:.1f} GiB and {free / 2**30:.1f} GiB are free: {remedy}"
        )


def memory_shortage(n_bytes: float) -> float | None:
    """Return the free bytes if they are fewer than ``n_bytes``; None if those fit."""
    if n_bytes < _ALWAYS_FREE:
        return None
    free = available_memory()
    return free if free is not None and n_bytes > free else None


def available_memory() -> float | None:
    """Return the free bytes: of the machine, or fewer if a control group (container) allows fewer."""
    free = [value for value in (_machine_memory(), *_group_memory()) if value is not None]
    return min(free, default=None)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn with the line of code that called this package, however deep in it the cause is."""
    frame, level, outermost = currentframe(), 0, 0
    while frame is not None:
        level += 1
        if frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
            outermost = level
        frame = frame.f_back
    warnings.warn(message, category, stacklevel=outermost + 1)


def warn_deprecated(what: str, *, since: str, removed_in: str, instead: str) -> None:
    """Warn the caller of the caller that ``what`` will be removed, and say what to do.

    ``since`` and ``removed_in`` are versions. A FutureWarning is shown to users by default, a
    DeprecationWarning is not. A test fails as soon as the version reaches ``removed_in``.
    """
    warnings.warn(
        f"{what} is deprecated since version {since} and will be removed in version {removed_in}: "
        f"{instead}.",
        FutureWarning,
        stacklevel=3,
    )


def _machine_memory() -> float | None:
    try:
        with open("/proc/meminfo") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return float(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf: no check, no refusal
        return None


def _group_memory() -> Iterator[float]:
    """Yield what each control group around this process still allows."""
    try:
        own = _OWN_GROUPS.read_text().splitlines()
    except OSError:  # not Linux
        return
    for line in own:
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        root = _ALL_GROUPS / "memory" if controllers else _ALL_GROUPS
        group = root / path.lstrip("/")
        for folder in (group, *group.parents):  # a container may see its own group as the root
            yield from _left_in(folder)
            if folder == root:
                break


def _left_in(folder: Path) -> Iterator[float]:
    """Yield limit minus use of one group; files that can be read again are not counted as use."""
    for limits, used, reclaimable in _GROUP_FILES:
        for name in limits:
            try:
                limit = float((folder / name).read_text().replace("max", "inf"))
                taken = float((folder / used).read_text())
                stat = (folder / "memory.stat").read_text()
            except (OSError, ValueError):  # no such limit here
                continue
            fields = dict(pair.split()[:2] for pair in stat.splitlines() if pair)
            yield max(limit - taken + float(fields.get(reclaimable, 0)), 0.0)
