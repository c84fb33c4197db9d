"""Movements recorded, cut, morphed, reordered and executed: [B2006] chapters 5 and 6."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isthmus.applications.imitation import dexterity, kinetic_energy, smoothness, track, write
from isthmus.features import KernelMap
from isthmus.kernels import median_gamma
from isthmus.papers import sources
from isthmus.papers.experiment import Claim, Result, Row, lines
from isthmus.regression import PLS, ReducedRankRegression

WORD, ORDER = "ace", "cea"
DATA = "generated: letters drawn by two hands, one careful, one quick"


def run_writing(seed: int, quick: bool) -> Result:
    """Run [B2006] Ch. 5: a word recorded, segmented, morphed, reordered and executed; figure 5.6."""
    writing = write(WORD, caricature=0.5, order=ORDER, random_state=seed)
    alphas = (0.0, 0.03, 0.3) if quick else (0.0, 0.01, 0.03, 0.1, 0.3)
    rough = smoothness(writing, alphas)
    falling = list(rough.values())
    reached = float(writing.done.reached.mean())
    x, y = writing.path.T
    return Result(
        data=DATA,
        columns=["rms acceleration of the joints"],
        rows=[Row(f"smoothing {alpha:g}", [value]) for alpha, value in rough.items()],
        claims=[
            Claim(
                f"the word {WORD!r} is cut into its letters ({' '.join(writing.labels)})",
                "".join(writing.labels) == WORD,
            ),
            Claim(
                f"{ORDER!r} in a hand between the two is executed ({100 * reached:.0f} % of samples)",
                reached > 0.99,
            ),
            Claim("more smoothing, smoother joints (figure 5.6)", falling[-1] < falling[0]),
        ],
        notes=[f"Half way between the hands; {writing.duration:.2f} s."],
        figures=[
            lines(
                "written",
                f"What is written: {ORDER!r}, half way between both hands (metres).",
                x,
                {"path": y},
                "x",
                "y",
                yaxis={"scaleanchor": "x"},
            ),
            lines(
                "smooth",
                "Root mean square acceleration against the weight of smoothing.",
                list(rough),
                {"acceleration": falling},
                "smoothing, s",
                "rad/s^2",
            ),
        ],
    )


def run_dexterity(seed: int, quick: bool) -> Result:
    """Run [B2006] figures 5.9 and 5.10: dexterity and energy of imitation and of a controller."""
    writing = write(WORD, random_state=seed)
    arm, q, dt = writing.arm, writing.done.q, writing.done.dt
    plain = track(arm, arm.points(q)[:, -1], arm.clip(q[0])).q
    rows, energy = [], {}
    for name, joints in (("imitation", q), ("controller", plain)):
        measures = dexterity(arm, joints, dt=dt)
        energy[name] = kinetic_energy(arm, joints, np.gradient(joints, dt, axis=0))
        values = [measures.closeness_to_limits, measures.sigma_min, energy[name]]
        rows.append(Row(name, [float(v.mean()) for v in values]))
    closer = rows[0].measured[0] or 0.0
    other = rows[1].measured[0] or 0.0
    return Result(
        data=DATA,
        columns=["closeness to limits", "smallest singular value", "kinetic energy, J"],
        rows=rows,
        claims=[
            Claim(
                f"imitation stays further from the limits ({closer:.2f} against {other:.2f})",
                closer < other,
                expected=False,
                why="not general: it depends on where the board stands (13 of 15 placements were closer)",
            )
        ],
        notes=[
            "Means over the movement. The controller is a pseudo-inverse with null-space centring, in "
            "the place of the manufacturer's."
        ],
        figures=[
            lines(
                "energy",
                "Kinetic energy along the movement, links of even density.",
                np.arange(len(q)) * dt,
                energy,
                "s",
                "J",
            )
        ],
        digits=3,
    )


# -- spectra of the maps ----------------------------------------------------------------------------


def _split(n: int, seed: int) -> tuple[NDArray, NDArray]:
    order = np.random.default_rng(seed).permutation(n)
    return order[: 2 * n // 3], order[2 * n // 3 :]


def run_spectra(seed: int, quick: bool) -> Result:
    """Run [B2006] figures 6.7 to 6.9: spectra of the feature spaces, reduced rank against PLS."""
    bunch, data = sources.silhouettes()
    rows = np.random.default_rng(seed).permutation(len(bunch.data))[: 500 if quick else 1500]
    X, Y = bunch.data[rows], bunch.target[rows]
    values = {}
    for name, Z in (("inputs", X), ("outputs", Y)):
        found = KernelMap(gamma=median_gamma(Z, random_state=0)).fit(Z).eigenvalues_
        values[name] = np.cumsum(found) / found.sum()
    kept = {name: int(np.searchsorted(v, 0.95)) + 1 for name, v in values.items()}
    train, test = _split(len(X), seed)
    F = KernelMap(150, gamma=median_gamma(X, random_state=0)).fit(X[train])
    A = F.transform(X[train])
    B = F.transform(X[test])
    size = (A**2).sum() / len(A)
    curves: dict[str, NDArray] = {}
    for name, model in {
        "reduced rank, ridge": ReducedRankRegression(20, alpha=0.03 * size, scale=False),
        "reduced rank, no ridge": ReducedRankRegression(20, alpha=0.0, scale=False),
        "PLS": PLS(20, scale=False),
    }.items():
        path = model.fit(A, Y[train]).predict_path(B)
        curves[name] = ((path - Y[test]) ** 2).sum(axis=2).mean(axis=1) / Y.var(axis=0).sum()
    least = {name: float(v.min()) for name, v in curves.items()}
    few = {name: float(v[3]) for name, v in curves.items()}
    ranks = np.arange(1, 21)
    return Result(
        data=f"{data}. The thesis has pictures of one person, which are not available",
        columns=["error at rank 4", "least error", "best rank"],
        rows=[Row(n, [few[n], least[n], float(v.argmin() + 1)]) for n, v in curves.items()],
        claims=[
            Claim(
                f"a few components hold 95 % of the outputs ({kept['outputs']} of them, {kept['inputs']} "
                "of the inputs)",
                kept["outputs"] < kept["inputs"],
            ),
            Claim(
                f"reduced rank beats PLS at few components ({few['reduced rank, ridge']:.3f}, "
                f"{few['PLS']:.3f})",
                few["reduced rank, ridge"] < few["PLS"],
            ),
        ],
        notes=["Squared error over the variance of the outputs."],
        figures=[
            lines("rrr", "Test error by rank.", ranks, curves, "rank", "relative squared error"),
            lines(
                "spectra",
                "Share of variance in the leading kernel principal components.",
                np.arange(1, 61),
                {name: v[:60] for name, v in values.items()},
                "components",
                "share",
            ),
        ],
        digits=3,
    )


def run_translation(seed: int, quick: bool) -> Result:
    """Run [B2006] figure 6.11: what happens to the prediction when the picture moves?"""
    bunch, data = sources.digits()
    rows = np.random.default_rng(seed).permutation(len(bunch.data))[: 600 if quick else 2000]
    images = bunch.images[rows]
    labels = np.eye(10)[bunch.target[rows]]
    X = images.reshape(len(images), -1)
    train, test = _split(len(X), seed)
    features = KernelMap(200, gamma=median_gamma(X, random_state=0)).fit(X[train])
    A = features.transform(X[train])
    alpha = 0.003 * (A**2).sum() / len(A)
    model = ReducedRankRegression(9, alpha=alpha, scale=False).fit(A, labels[train])
    shifts = range(5)
    errors = []
    for shift in shifts:
        moved = np.roll(images[test], shift, axis=2).reshape(len(test), -1)
        predicted = model.predict(features.transform(moved)).argmax(axis=1)
        errors.append(float((predicted != labels[test].argmax(axis=1)).mean()))
    return Result(
        data=f"{data}. Stands in for the camera pictures of the thesis",
        columns=[f"{shift} pixels" for shift in shifts],
        rows=[Row("share of wrong digits", errors)],
        claims=[
            Claim(
                f"the map tolerates a shift of one pixel (errors {errors[0]:.2f} to {errors[1]:.2f})",
                errors[1] < errors[0] + 0.3,
            ),
            Claim("and fails for large ones", errors[-1] > 2 * errors[0] + 0.1),
        ],
        notes=["A Gaussian kernel on pixels, for which neighbouring pixels are unrelated."],
        figures=[
            lines("shift", "Errors against the shift.", list(shifts), {"errors": errors}, "pixels",
                  "share wrong")
        ],
    )  # fmt: skip
