"""Compare samplers of Optuna on problems with several objectives.

    go build -o objectives ../lab/objectives
    python benchmarks/several.py --seeds 10 --json benchmarks/several.jsonl --objectives ./objectives

All objectives are minimised. A result is the missing hypervolume: the maximal one above the reference point, less
that of the evaluated designs. The table has its mean over the seeds and the standard error, after 40 and 80
evaluations, and the mean of its common logarithm. The last column has the processor's seconds for a suggestion.

| problem | parameters | objectives | reference | maximal hypervolume |
| branin-currin | 2 | 2 | 18, 6 | 59.406612 |
| zdt1, zdt2 | 6 | 2 | 11, 11 | 121 - 1/3, 121 - 2/3 |
| zdt3 | 6 | 2 | 11, 11 | 128.778116 |
| dtlz2 | 6 | 3 | 1.1, 1.1, 1.1 | 1.331 - pi/6 |
| network | 5 | 2 | 0.8, 4 | by a search, differs by seed |

`network` is the family of that name of `fbo-node simulate`: a real training, done by the program `lab/objectives`.
Seed 1001 is the first federation of `--seed 9201` there, and so on.

The reference points are those of BoTorch, whose maximum of branin-currin, 59.360119, is an estimate from below.
`lab/testfunc` has the same problems in Go, with sources and a test that computes the maxima without a closed form.
NSGA-II has a population of 20: with the default of 50 its first 50 designs are random. Results are appended to the
file as they are made; a second call with the same file makes only those that it does not have. The method qlognehvi
is that of BoTorch, with the settings of its tutorial. Needs optuna 5.0.0, and for qlognehvi botorch 0.18.1
with torch 2.15.0, whose wheels bring several GB of libraries.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import optuna


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


FIRST_SEED = 1001


@contextmanager
def problem_of(name: str, seed: int, program: str | None, maximum: float | None) -> Iterator[Problem]:
    """Return a problem of PROBLEMS, or one that the program lab/objectives evaluates, which searches an unknown maximum."""
    if name in PROBLEMS:
        yield PROBLEMS[name]
        return
    if program is None:
        raise SystemExit(f"several.py: problem {name}: expected --objectives with the program of lab/objectives")
    family = name if maximum is None else f"{name}:search=1"
    command = [program, "--family", family, "--seed", "9201", "--repeat", str(seed - FIRST_SEED)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:

        answers = process.stdout
        assert answers is not None  # by the argument stdout

        def answer(point: Sequence[float]) -> tuple[float, ...]:
            print(json.dumps(list(point)), file=process.stdin)
            return tuple(json.loads(answers.readline()))

        about = json.loads(answers.readline())
        yield Problem(answer, about["coordinates"], tuple(about["reference"]), maximum or about["hypervolume"])


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


def by_optuna(sampler: Callable[[int], optuna.samplers.BaseSampler], problem: Problem, seed: int, evals: int) -> list[tuple[float, ...]]:
    study = optuna.create_study(directions=["minimize"] * len(problem.reference), sampler=sampler(seed))
    values: list[tuple[float, ...]] = []

    def objective(trial: optuna.Trial) -> tuple[float, ...]:
        values.append(problem.values([trial.suggest_float(f"x{i + 1}", 0, 1) for i in range(problem.floats)]))
        return values[-1]

    study.optimize(objective, n_trials=evals)
    return values


def by_botorch(problem: Problem, seed: int, evals: int) -> list[tuple[float, ...]]:
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
    while len(values) < evals:
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
METHODS: dict[str, Callable[[Problem, int, int], list[tuple[float, ...]]]] = {
    "random": partial(by_optuna, lambda seed: optuna.samplers.RandomSampler(seed=seed)),
    "nsga2": partial(by_optuna, lambda seed: optuna.samplers.NSGAIISampler(population_size=20, seed=seed)),
    "tpe": partial(by_optuna, lambda seed: optuna.samplers.TPESampler(seed=seed)),
    "qlognehvi": by_botorch,
}


def measure(problem: Problem, method: str, seed: int, budgets: Sequence[int]) -> dict[str, object]:
    """Return what a run comes to. Its seconds are those of this process, for all suggestions together."""
    begin = time.process_time()
    values = METHODS[method](problem, seed, budgets[-1])
    seconds = time.process_time() - begin
    volumes = [round(hypervolume(front(values[:budget]), problem.reference), 7) for budget in budgets]
    return {"seed": seed, "evals": budgets, "hypervolume": volumes, "seconds": round(seconds, 2)}


def read(path: Path | None) -> list[dict[str, Any]]:
    if path is None or not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def maximum_of(line: dict[str, Any]) -> float:
    return line["maximum"] if "maximum" in line else PROBLEMS[line["problem"]].maximum


def row(lines: Sequence[dict[str, Any]], budgets: Sequence[int]) -> str:
    """Return a row of the table. Each line has at least one of the budgets."""
    cells = []
    for budget in budgets:
        ones = [one for one in lines if budget in one["evals"]]
        missing = [maximum_of(one) - one["hypervolume"][one["evals"].index(budget)] for one in ones]
        if not missing:
            cells.append("-")
            continue
        error = statistics.stdev(missing) / math.sqrt(len(missing)) if len(missing) > 1 else math.nan
        # A search may find less than a method; such a volume is not missing.
        logarithm = statistics.mean(math.log10(max(one, 1e-4)) for one in missing)
        cells.append(f"{statistics.mean(missing):.3f} ± {error:.3f} ({logarithm:.2f}, {len(missing)} seeds)")
    return "".join(f"{cell:36}" for cell in cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10, help="number of seeds (default: 10)")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED, help="the first seed (default: %(default)s)")
    parser.add_argument("--problems", default=",".join([*PROBLEMS, "network"]), help="a list with commas (default: all)")
    parser.add_argument("--methods", default="random,nsga2,tpe", help=f"a list with commas, of {', '.join(METHODS)} (default: those of Optuna)")
    parser.add_argument("--evals", default="40,80", help="evaluations of the table's columns, the most last (default: 40,80)")
    parser.add_argument("--objectives", help="the program of lab/objectives, for the problem network")
    parser.add_argument("--table", action="store_true", help="run nothing; print the results of the file")
    parser.add_argument("--json", type=Path, help="file to which each result is appended as a line")
    arguments = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    budgets = [int(one) for one in arguments.evals.split(",")]
    lines = read(arguments.json)
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    for name in arguments.problems.split(","):
        print(f"{name:16}" + "".join(f"{f'{budget} evaluations':36}" for budget in budgets) + "seconds")
        for method in arguments.methods.split(","):
            mine = [one for one in lines if (one["problem"], one["method"]) == (name, method) and one["seed"] in seeds]
            for seed in seeds:
                if arguments.table or any(one["seed"] == seed and set(budgets) <= set(one["evals"]) for one in mine):
                    continue
                known = next((one["maximum"] for one in lines if (one["problem"], one["seed"]) == (name, seed) and "maximum" in one), None)
                with problem_of(name, seed, arguments.objectives, known) as problem:
                    line = {"problem": name, "method": method, **measure(problem, method, seed, budgets)}
                    if name not in PROBLEMS:  # differs by seed
                        line["maximum"] = problem.maximum
                mine = [one for one in mine if one["seed"] != seed] + [line]
                lines.append(line)
                if arguments.json is not None:
                    with arguments.json.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(line) + "\n")
            spent = [one["seconds"] / one["evals"][-1] for one in mine if "seconds" in one]
            print(f"{method:16}{row(mine, budgets)}{statistics.mean(spent or [math.nan]):.4f}", flush=True)


if __name__ == "__main__":
    main()
