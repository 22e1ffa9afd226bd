"""Compare samplers of Optuna on problems with several objectives.

    python benchmarks/several.py --seeds 10 --json benchmarks/several.jsonl

All objectives are minimised. A result is the common logarithm of the hypervolume regret: the maximal hypervolume
above the reference point, less that of the evaluated designs. The table has its mean over the seeds after 40 and 80
evaluations, and the 95 % bounds of the mean (of Student's t).

| problem | parameters | objectives | reference | maximal hypervolume |
| branin-currin | 2 | 2 | 18, 6 | 59.406612 |
| zdt1, zdt2 | 6 | 2 | 11, 11 | 121 - 1/3, 121 - 2/3 |
| zdt3 | 6 | 2 | 11, 11 | 128.778116 |
| dtlz2 | 6 | 3 | 1.1, 1.1, 1.1 | 1.331 - pi/6 |

The reference points are those of BoTorch, whose maximum of branin-currin, 59.360119, is an estimate from below.
`lab/testfunc` has the same problems in Go, with sources and a test that computes the maxima without a closed form.
NSGA-II has a population of 20: with the default of 50 its first 50 designs are random. Results are appended to the
file as they are made; a second call with the same file makes only those that it does not have. The method qlognehvi
is that of BoTorch, with the settings of its tutorial. Needs optuna 5.0.0 and scipy, and for qlognehvi botorch 0.18.1
with torch 2.15.0, whose wheels bring several GB of libraries.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import optuna

BUDGETS = (40, 80)


def branin_currin(x: Sequence[float]) -> tuple[float, ...]:
    a, b = 15 * x[0] - 5, 15 * x[1]
    valley = b - 5.1 / (4 * math.pi**2) * a**2 + 5 / math.pi * a - 6
    branin = valley**2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(a) + 10
    factor = 1 - math.exp(-1 / (2 * x[1])) if x[1] > 0 else 1
    above = ((2300 * x[0] + 1900) * x[0] + 2092) * x[0] + 60
    below = ((100 * x[0] + 500) * x[0] + 4) * x[0] + 20
    return branin, factor * above / below


def zdt(shape: Callable[[float, float], float], x: Sequence[float]) -> tuple[float, ...]:
    g = 1 + 9 * sum(x[1:]) / (len(x) - 1)
    return x[0], g * shape(x[0], g)


def dtlz2(x: Sequence[float]) -> tuple[float, ...]:
    g = 1 + sum((one - 0.5) ** 2 for one in x[2:])
    first, second = (one * math.pi / 2 for one in x[:2])
    return g * math.cos(first) * math.cos(second), g * math.cos(first) * math.sin(second), g * math.sin(first)


@dataclass(frozen=True)
class Problem:
    """Objectives of floats from 0 to 1, the reference point and the maximal hypervolume."""

    values: Callable[[Sequence[float]], tuple[float, ...]]
    floats: int
    reference: tuple[float, ...]
    maximum: float


PROBLEMS = {
    "branin-currin": Problem(branin_currin, 2, (18, 6), 59.406612),
    "zdt1": Problem(partial(zdt, lambda f, g: 1 - math.sqrt(f / g)), 6, (11, 11), 121 - 1 / 3),
    "zdt2": Problem(partial(zdt, lambda f, g: 1 - (f / g) ** 2), 6, (11, 11), 121 - 2 / 3),
    "zdt3": Problem(
        partial(zdt, lambda f, g: 1 - math.sqrt(f / g) - f / g * math.sin(10 * math.pi * f)), 6, (11, 11), 128.778116
    ),
    "dtlz2": Problem(dtlz2, 6, (1.1, 1.1, 1.1), 1.1**3 - math.pi / 6),
}


def hypervolume(points: Sequence[tuple[float, ...]], reference: tuple[float, ...]) -> float:
    """Return the volume that minimised points dominate. It sums slices along the last objective."""
    inside = sorted((p for p in points if all(a < b for a, b in zip(p, reference))), key=lambda p: p[-1])
    if len(reference) == 1:
        return reference[0] - inside[0][0] if inside else 0.0
    total = 0.0
    for i, p in enumerate(inside):
        end = inside[i + 1][-1] if i + 1 < len(inside) else reference[-1]
        if end > p[-1]:
            total += (end - p[-1]) * hypervolume([q[:-1] for q in inside[: i + 1]], reference[:-1])
    return total


def front(points: Sequence[tuple[float, ...]]) -> list[tuple[float, ...]]:
    return [p for p in set(points) if not any(q != p and all(a <= b for a, b in zip(q, p)) for q in points)]


def by_optuna(sampler: Callable[[int], optuna.samplers.BaseSampler], problem: Problem, seed: int) -> list[tuple[float, ...]]:
    study = optuna.create_study(directions=["minimize"] * len(problem.reference), sampler=sampler(seed))
    values: list[tuple[float, ...]] = []

    def objective(trial: optuna.Trial) -> tuple[float, ...]:
        values.append(problem.values([trial.suggest_float(f"x{i + 1}", 0, 1) for i in range(problem.floats)]))
        return values[-1]

    study.optimize(objective, n_trials=BUDGETS[-1])
    return values


def by_botorch(problem: Problem, seed: int) -> list[tuple[float, ...]]:
    """Maximise qLogNEHVI as BoTorch's tutorial does, after 2 (d + 1) Sobol points, with one process for each objective."""
    import torch
    from botorch.acquisition.multi_objective.logei import qLogNoisyExpectedHypervolumeImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import ModelListGP, SingleTaskGP
    from botorch.models.transforms import Standardize
    from botorch.optim import optimize_acqf
    from botorch.sampling import SobolQMCNormalSampler
    from gpytorch.mlls import SumMarginalLogLikelihood

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    start = 2 * (problem.floats + 1)
    x = torch.quasirandom.SobolEngine(problem.floats, scramble=True, seed=seed).draw(start, dtype=torch.double)
    values = [problem.values(row) for row in x.tolist()]
    bounds = torch.stack([torch.zeros(problem.floats), torch.ones(problem.floats)]).double()
    while len(values) < BUDGETS[-1]:
        y = -torch.tensor(values, dtype=torch.double)
        model = ModelListGP(*[SingleTaskGP(x, y[:, k : k + 1], outcome_transform=Standardize(1)) for k in range(y.shape[1])])
        fit_gpytorch_mll(SumMarginalLogLikelihood(model.likelihood, model))
        gain = qLogNoisyExpectedHypervolumeImprovement(
            model=model,
            ref_point=[-v for v in problem.reference],
            X_baseline=x,
            prune_baseline=True,
            sampler=SobolQMCNormalSampler(torch.Size([128]), seed=seed),
        )
        options = {"batch_limit": 5, "maxiter": 200}
        best, _ = optimize_acqf(gain, bounds, q=1, num_restarts=10, raw_samples=512, options=options, sequential=True)
        x = torch.cat([x, best])
        values.append(problem.values(best[0].tolist()))
    return values


# A method returns the values of the evaluated designs in order.
METHODS: dict[str, Callable[[Problem, int], list[tuple[float, ...]]]] = {
    "random": partial(by_optuna, lambda seed: optuna.samplers.RandomSampler(seed=seed)),
    "nsga2": partial(by_optuna, lambda seed: optuna.samplers.NSGAIISampler(population_size=20, seed=seed)),
    "tpe": partial(by_optuna, lambda seed: optuna.samplers.TPESampler(seed=seed)),
    "qlognehvi": by_botorch,
}


def read(path: Path | None) -> dict[tuple[str, str, int], list[float]]:
    if path is None or not path.exists():
        return {}
    lines = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return {(one["problem"], one["method"], one["seed"]): one["hypervolume"] for one in lines}


def interval(values: Sequence[float]) -> str:
    mean = statistics.mean(values)
    if len(values) < 2:
        return f"{mean:6.3f}"
    from scipy import stats

    half = stats.t.ppf(0.975, len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return f"{mean:6.3f} ± {half:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10, help="number of seeds (default: 10)")
    parser.add_argument("--first-seed", type=int, default=1001, help="the first seed (default: 1001)")
    parser.add_argument("--problems", default=",".join(PROBLEMS), help="a list with commas (default: all)")
    parser.add_argument("--methods", default="random,nsga2,tpe", help=f"a list with commas, of {', '.join(METHODS)} (default: those of Optuna)")
    parser.add_argument("--json", type=Path, help="file to which each result is appended as a line")
    arguments = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    known = read(arguments.json)
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    for name in arguments.problems.split(","):
        problem = PROBLEMS[name]
        print(f"{name:16}" + "".join(f"{f'{budget} evaluations':18}" for budget in BUDGETS))
        for method in arguments.methods.split(","):
            for seed in seeds:
                if (name, method, seed) in known:
                    continue
                begin = time.monotonic()
                values = METHODS[method](problem, seed)
                volumes = [round(hypervolume(front(values[:budget]), problem.reference), 7) for budget in BUDGETS]
                known[name, method, seed] = volumes
                if arguments.json is not None:
                    one = {"problem": name, "method": method, "seed": seed, "evals": BUDGETS, "hypervolume": volumes}
                    with arguments.json.open("a", encoding="utf-8") as file:
                        file.write(json.dumps({**one, "seconds": round(time.monotonic() - begin, 2)}) + "\n")
            regrets = [[math.log10(problem.maximum - known[name, method, seed][i]) for seed in seeds] for i in range(len(BUDGETS))]
            print(f"{method:16}" + "".join(f"{interval(one):18}" for one in regrets), flush=True)


if __name__ == "__main__":
    main()
