"""How fast is ManifoldPLS in closed form, against the paper's conjugate gradients and faster ones?

python benchmarks/manifold_pls.py --repeats 3
"""

from __future__ import annotations

from collections.abc import Iterator

from _common import (
    Row,
    contest,
    describe,
)
from numpy.typing import NDArray
from stiefel import CLOSED_FORM_BOUND, ObjectiveRow, Settings, answer, stiefel_data
from threadpoolctl import threadpool_limits

from isthmus import ManifoldPLS
from isthmus.papers.riemannian_pls import RiemannianPLS

PLS_SHAPES = [(2000, 50, 20, 5), (1000, 200, 30, 8), (300, 1000, 20, 5), (100, 2000, 10, 5)]


def pls(settings: Settings) -> Iterator[Row]:
    """The closed forms of both models against two versions of the paper's iteration."""
    for shape in PLS_SHAPES:
        data = stiefel_data(shape, settings.condition)
        for manifold in ("grassmann", "product"):
            for threads in settings.threads:
                with threadpool_limits(threads):
                    yield from exact_against_cg(shape, manifold, data, threads, settings.repeats)


def exact_against_cg(
    shape: tuple[int, ...], manifold: str, data: tuple[NDArray, NDArray], threads: int,
    repeats: int,
) -> Iterator[Row]:  # fmt: skip
    exact = ManifoldPLS(shape[-1], manifold=manifold)
    names = {"paper": "the paper's CG", "white": "CG in white coordinates"}
    # What is asked is a bound against the paper's iteration; the other is there to be seen.
    bounds = {"paper": CLOSED_FORM_BOUND, "white": 1.0}
    for coordinates, name in names.items():
        cg = RiemannianPLS(shape[-1], manifold=manifold, coordinates=coordinates, random_state=0)
        ours, theirs, _ = contest(
            lambda: exact.fit(*data), {name: lambda cg=cg: cg.fit(*data)}, repeats
        )
        yield ObjectiveRow(  # both maximise: what the peer lacks is its excess
            f"ManifoldPLS {manifold}",
            describe(*shape),
            threads,
            1e3 * ours,
            1e3 * theirs,
            bounds[coordinates],
            difference=1.0 - cg.objective_ / exact.objective_,
            peer=name,
            note=f"{cg.n_iter_} steps",
        )


if __name__ == "__main__":
    answer(__doc__, (pls,))
