"""How efficient is Bayesian Stiefel regression, and do its intervals cover?

efficiency  effective samples a second of the default sampler against the thesis' sampler
peer        the same against NumPyro's NUTS on the factor model C = A D' with the same priors
rows        cost of a Gaussian draw with a million rows against a thousand, after the moments
coverage    share of held-out values inside 90 % intervals, of each output, on synthetic designs and
            Mulan sets, for each kind of noise

The effective sample size is the smallest, over the entries of the map, for the mean (split chains).
Seconds are of processor time of one thread, warm-up included; finding the mode, from which our samplers
start, is left out. NumPyro's two programs, of warm-up and of draws, are compiled ahead and then run for
two chains. The ratio of draws alone leaves out warm-up on both sides, the other counts warm-up on both
and NumPyro's compilation. The default sampler has the
normal prior on factors, for which the thesis' sampler has no density (that of the singular values is not
known for ranks above one); the thesis' has the half normal prior on singular values, so has our
Hamiltonian one in the last columns. Few effective samples of a slow chain are themselves known only
roughly. A ratio above 1 is in our favour.

    python benchmarks/bayesian.py --only efficiency,rows
    python benchmarks/bayesian.py --write docs/bayesian.md
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from _common import machine
from numpy.typing import NDArray

from isthmus import BayesianStiefelRegression, Moments
from isthmus._solvers.chains import mean_ess, split_rhat
from isthmus.datasets import load_mulan, make_low_rank_regression
from isthmus.papers.kernel_dependency_thesis.sampler import run_metropolised_chain
from isthmus.problems import MomentForm
from isthmus.regression.bayesian import ChainReport
from isthmus.regression.bayesian.chains import Settings, run_chain
from isthmus.regression.bayesian.draws import ChainDraws
from isthmus.regression.bayesian.gibbs import gibbs_chain
from isthmus.regression.bayesian.likelihoods import get_likelihood
from isthmus.regression.bayesian.mode import find_mode, scatter_start
from isthmus.regression.bayesian.problem import Prior, Problem, make_problem

SHAPES = [(100, 6, 4, 2), (200, 15, 10, 3)]
BOUNDS = {"gaussian": 200.0, "laplace": 8.0}
LENGTHS = {"gibbs": (500, 3000), "thesis": (1500, 8000), "hmc": (500, 1000)}
NUTS_LENGTHS = (500, 2000)
N_ROWS = (1_000, 1_000_000)
MULAN = {"edm": 2, "enb": 2, "jura": 3, "wq": 3, "atp1d": 3}
MARKS = "<!-- measured: begin -->", "<!-- measured: end -->"


def data(shape: tuple[int, ...], likelihood: str) -> tuple[NDArray, NDArray]:
    """Rows with a map of rank r as large as the noise."""
    n, p, q, r = shape
    X, Y, _ = make_low_rank_regression(n, p, q, rank=r, noise=0.0, random_state=0)
    rng = np.random.default_rng(0)
    noise = rng.normal(size=Y.shape) if likelihood == "gaussian" else rng.laplace(size=Y.shape)
    return X, Y + 0.5 * noise


def problem_of(X: NDArray, Y: NDArray, likelihood: str) -> Problem:
    form = MomentForm.from_moments(Moments.from_data(X, Y), False)
    rows = None if likelihood == "gaussian" else (X, Y, None)
    return make_problem(form, "common", True, rows)


def effective(chains: list[ChainDraws]) -> float:
    """Smallest effective sample size of an entry of the map."""
    left, right = (np.stack([getattr(c, name) for c in chains]) for name in ("left", "right"))
    C = left @ right.transpose(0, 1, 3, 2)
    return float(mean_ess(C.reshape(*C.shape[:2], -1)).min())


def rates(problem: Problem, likelihood: str, sampler: str, rank: int) -> tuple[float, float]:
    """Effective samples a second, with warm-up and of the draws alone: all steps cost the same."""
    law = get_likelihood(likelihood, 4.0)
    prior = Prior("normal" if sampler == "gibbs" else "half_normal", 1.0, 0.0, 0.0)
    mode = find_mode(problem, law, prior, rank)
    n_warmup, n_draws = LENGTHS[sampler]
    settings = Settings(sampler, 2, n_warmup, n_draws, None, 0)
    begin = time.process_time()
    run = run_metropolised_chain if sampler == "thesis" else run_chain
    chains = [run(problem, law, prior, mode, rank, settings, seed) for seed in (1, 2)]
    whole = effective(chains) / (time.process_time() - begin)
    return whole, whole * (n_warmup + n_draws) / n_draws


def efficiency() -> list[str]:
    lines = [
        "Of the entry of the map that mixes worst, in a second of processor time, warm-up included.",
        "",
        "| likelihood | (n, p, q, r) | default, a second | thesis, a second | ratio | bound "
        "| HMC with the thesis' prior, a second | ratio |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for likelihood, bound in BOUNDS.items():
        for shape in SHAPES:
            problem = problem_of(*data(shape, likelihood), likelihood)
            ours, thesis, hmc = (
                rates(problem, likelihood, sampler, shape[3])[0] for sampler in LENGTHS
            )
            cells = f"{ours:.0f} | {thesis:.2f} | {ours / thesis:.0f} | {bound:g}"
            lines.append(f"| {likelihood} | {shape} | {cells} | {hmc:.1f} | {hmc / thesis:.1f} |")
            print(lines[-1], flush=True)
    return lines


def nuts_model(X: NDArray, Y: NDArray, likelihood: str, rank: int) -> Callable[[], None]:
    """The factor model in NumPyro, with our priors and units, rows centred."""
    import jax
    import numpyro
    import numpyro.distributions as dist

    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    X, Y = X / np.sqrt(X.var(axis=0).mean()), Y / np.sqrt(Y.var(axis=0).mean())
    law = dist.Normal if likelihood == "gaussian" else dist.Laplace

    def model() -> None:
        A = numpyro.sample("A", dist.Normal(0, 1).expand([X.shape[1], rank]).to_event(2))
        D = numpyro.sample("D", dist.Normal(0, 1).expand([Y.shape[1], rank]).to_event(2))
        flat = dist.ImproperUniform(dist.constraints.real_vector, (), (Y.shape[1],))
        log_tau, b = numpyro.sample("log_tau", flat), numpyro.sample("b", flat)
        numpyro.sample("y", law(X @ A @ D.T + b, jax.numpy.exp(log_tau)).to_event(2), obs=Y)

    return model


@dataclass
class NutsRun:
    """Chains of NumPyro, seconds of processor time of all their draws and warm-up, and of compiling."""

    maps: NDArray  # (n_chains, n_draws, p * q)
    drawing: float
    warming: float
    compiling: float

    @property
    def effective(self) -> float:
        return float(mean_ess(self.maps).min())

    @property
    def rhat(self) -> float:
        return float(split_rhat(self.maps).max())


def run_nuts(X: NDArray, Y: NDArray, likelihood: str, rank: int) -> NutsRun:
    """Two programs, of warm-up and of draws, are compiled once and run for two chains."""
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    import jax
    import numpyro

    jax.config.update("jax_enable_x64", True)
    n_warmup, n_draws = NUTS_LENGTHS
    kernel = numpyro.infer.NUTS(nuts_model(X, Y, likelihood, rank))

    def start(seed: int) -> Any:
        return kernel.init(jax.random.PRNGKey(seed), n_warmup, None, (), {})

    def steps(state: Any, length: int) -> Any:
        def step(state: Any, _: None) -> tuple[Any, NDArray]:
            state = kernel.sample(state, (), {})
            return state, state.z["A"] @ state.z["D"].T

        return jax.lax.scan(step, state, None, length=length)

    begin = time.process_time()
    state, run = start(0), jax.jit(steps, static_argnums=1)
    warm, draw = (run.lower(state, length).compile() for length in (n_warmup, n_draws))
    compiling = time.process_time() - begin
    maps, warming, drawing = [], 0.0, 0.0
    for seed in (1, 2):
        begin = time.process_time()
        state = jax.block_until_ready(warm(start(seed))[0])
        middle = time.process_time()
        maps.append(np.asarray(draw(state)[1]).reshape(n_draws, -1))
        warming, drawing = warming + middle - begin, drawing + time.process_time() - middle
    return NutsRun(np.stack(maps), drawing, warming, compiling)


def peer() -> list[str]:
    lines = [
        "Two chains each, of NumPyro 500 steps of warm-up and 2000 draws in double precision. Draws alone "
        "leave out warm-up on both sides; the second ratio counts warm-up on both and compilation.",
        "",
        "| likelihood | (n, p, q, r) | default, draws alone, a second | NUTS, draws alone | ratio "
        "| NUTS with warm-up and compilation | ratio | NUTS compiles, warms up, draws (seconds) "
        "| its R-hat |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for likelihood in BOUNDS:
        for shape in SHAPES:
            X, Y = data(shape, likelihood)
            whole, alone = rates(problem_of(X, Y, likelihood), likelihood, "gibbs", shape[3])
            nuts = run_nuts(X, Y, likelihood, shape[3])
            drawn = nuts.effective / nuts.drawing
            total = nuts.effective / (nuts.drawing + nuts.warming + nuts.compiling)
            cells = f"{alone:.0f} | {drawn:.1f} | {alone / drawn:.0f} | {total:.1f}"
            took = f"{nuts.compiling:.1f}, {nuts.warming:.1f}, {nuts.drawing:.1f}"
            cells += f" | {whole / total:.0f} | {took} | {nuts.rhat:.3f}"
            lines.append(f"| {likelihood} | {shape} | {cells} |")
            print(lines[-1], flush=True)
    return lines


def rows() -> list[str]:
    """Time of a Gaussian draw, best of several interleaved runs."""
    law, best, problems = get_likelihood("gaussian", 4.0), dict.fromkeys(N_ROWS, np.inf), {}
    prior = Prior("normal", 1.0, 0.0, 0.0)
    for n in N_ROWS:
        X, Y = data((n, 15, 10, 3), "gaussian")
        problems[n] = problem_of(X, Y, "gaussian")
    for _ in range(7):
        for n, problem in problems.items():
            start = scatter_start(find_mode(problem, law, prior, 3), 3, np.random.default_rng(0))
            begin = time.process_time()
            gibbs_chain(problem, law, prior, start, 0, 1000, np.random.default_rng(1))
            best[n] = min(best[n], time.process_time() - begin)
    few, many = (best[n] * 1e3 for n in N_ROWS)
    line = (
        f"A Gaussian draw takes {few:.0f} microseconds with {N_ROWS[0]} rows and {many:.0f} with "
        f"{N_ROWS[1]}, after the moments (15 inputs, 10 outputs, rank 3): ratio {many / few:.2f}, "
        "bound 1.2."
    )
    print(line, flush=True)
    return [line]


def covered(
    X: NDArray, Y: NDArray, rank: int, likelihood: str, noise: str, n_train: int
) -> tuple[NDArray, float, ChainReport]:
    """Coverage of held-out values of each output, width in deviations, and the chains' report."""
    order = np.random.default_rng(0).permutation(len(X))
    train, test = order[:n_train], order[n_train:]
    model = BayesianStiefelRegression(
        rank, likelihood=likelihood, noise=noise, prior="normal", prior_variance=1.0, random_state=0
    )
    model.set_params(units="columns")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the figures are in the table
        model.fit(X[train], Y[train])
    bounds = model.predict(X[test], interval=0.9)[1]
    inside = (bounds[..., 0] <= Y[test]) & (Y[test] <= bounds[..., 1])
    width = (bounds[..., 1] - bounds[..., 0]) / Y[train].std(axis=0)
    return inside.mean(axis=0), float(width.mean()), model.diagnostics_


def coverage() -> list[str]:
    lines = [
        "Default sampler and lengths (four chains of 500 steps of warm-up and 1000 draws), columns in "
        "units of their deviations. R-hat is the largest, the effective draws are the fewest (bulk or "
        "tail), over the coefficients and the noise.",
        "",
        "| data | rows used, held out | inputs, outputs, rank | likelihood | noise | coverage "
        "| least and most of an output | mean width (deviations) | R-hat | effective draws |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]

    def add(name: str, X: NDArray, Y: NDArray, rank: int, likelihood: str, n_train: int) -> None:
        kinds = ("common", "per_output", "full") if likelihood == "gaussian" else ("per_output",)
        for noise in kinds:
            inside, width, report = covered(X, Y, rank, likelihood, noise, n_train)
            size = f"{n_train}, {len(X) - n_train} | {X.shape[1]}, {Y.shape[1]}, {rank}"
            ess = min(report.ess_bulk, report.ess_tail)
            verdict = ", warned of" if report.complaints else ""
            shares = f"{100 * inside.mean():.1f} % | {100 * inside.min():.0f}, {100 * inside.max():.0f} %"
            cells = f"{shares} | {width:.2f} | {report.rhat:.3f} | {ess:.0f}{verdict}"
            lines.append(f"| {name} | {size} | {likelihood} | {noise} | {cells} |")
            print(lines[-1], flush=True)

    rng = np.random.default_rng(0)
    X, Y, _ = make_low_rank_regression(2100, 8, 4, rank=2, noise=0.0, random_state=3)
    levels = np.array([0.05, 2.0, 0.05, 2.0])
    add("noise 0.05 and 2", X, Y + levels * rng.normal(size=Y.shape), 2, "gaussian", 100)
    for name, options in {
        "independent inputs": {"rank": 2, "noise": 0.5},
        "collinear inputs": {"rank": 3, "noise": 1.0, "collinearity": 0.3},
    }.items():
        X, Y, _ = make_low_rank_regression(2100, 8, 5, bias=4.0, random_state=3, **options)
        add(name, X, Y, options["rank"], "gaussian", 100)
    X, Y, _ = make_low_rank_regression(2100, 8, 5, rank=2, noise=0.0, random_state=3)
    add("Laplacian noise", X, Y + rng.laplace(0, 0.5, Y.shape), 2, "laplace", 100)
    for name, rank in MULAN.items():
        bunch = load_mulan(name)
        X, Y = bunch.data, bunch.target
        n_train = 2 * len(X) // 3
        for likelihood in ("gaussian", "laplace"):
            if likelihood == "gaussian" or X.shape[1] < 50:
                add(name, X, Y, rank, likelihood, n_train)
    return lines


QUESTIONS = {"efficiency": efficiency, "peer": peer, "rows": rows, "coverage": coverage}
TITLES = {
    "efficiency": "### Effective samples a second, against the thesis' sampler",
    "peer": "### Against NumPyro's NUTS on the factor model with the same priors",
    "rows": "### The number of rows",
    "coverage": "### Coverage of 90 % intervals on held-out rows",
}


def write(path: Path, asked: str, found: list[str]) -> None:
    """Replace one section of the measured part of the document."""
    text = path.read_text("utf-8")
    head, rest = text.split(MARKS[0])
    measured, tail = rest.split(MARKS[1])
    parts = [f"Measured on {machine()}, one thread.", ""]
    for name, title in TITLES.items():
        if name == asked:
            parts += [title, "", *found, ""]
        elif f"{title}\n" in measured:
            old = measured.split(f"{title}\n")[1].split("\n### ")[0]
            parts += [title, "", old.strip(), ""]
    path.write_text(f"{head}{MARKS[0]}\n{chr(10).join(parts)}{MARKS[1]}{tail}", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default=",".join(QUESTIONS), help="questions, with commas")
    parser.add_argument("--write", type=Path, help="the document whose measured part is replaced")
    arguments = parser.parse_args()
    for name in arguments.only.split(","):
        lines = QUESTIONS[name]()
        if arguments.write:
            write(arguments.write, name, lines)


if __name__ == "__main__":
    main()
