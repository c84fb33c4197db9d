"""Independent pieces of linear algebra side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")

# Up to so many rows a search over methods is 1.3 to 2.7 times as fast with one thread as with two on two
# idle cores (50 to 900 rows), and seven times on busy ones: threads of small products mostly wait.
SMALL_ORDER = 1000


@cache
def _blas() -> ThreadpoolController:
    """The libraries of linear algebra, which take milliseconds to find."""
    return ThreadpoolController().select(user_api="blas")


def blas_threads() -> int:
    """Number of threads that linear algebra may use now."""
    return max((pool["num_threads"] for pool in _blas().info()), default=1)


def limit_threads(order: int) -> AbstractContextManager[Any]:
    """Give linear algebra one thread if its matrices are of small order."""
    return _blas().limit(limits=1) if order <= SMALL_ORDER else nullcontext()


def thread_map(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Map in order, with the threads that linear algebra would use inside one piece given to the pieces.

    Folds of a cross-validation are many small problems, in which the threads of one product mostly
    wait for each other.
    """
    items = list(items)
    workers = min(blas_threads(), len(items))
    if workers < 2:
        yield from map(function, items)
        return
    with _blas().limit(limits=1), ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(function, item) for item in items]
        try:
            for future in futures:
                yield future.result()
        except BaseException:
            for future in futures:
                future.cancel()
            raise
