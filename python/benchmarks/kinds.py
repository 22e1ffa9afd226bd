"""Compare fbo with Optuna and SMAC3 on kinds of parameters that are hard to model.

    python benchmarks/kinds.py --seeds 10 --json results.json

Each problem has two floats, whose best values are 0.3 and 0.7, beside one parameter of another kind. Its result is
the least value of 60 designs; the minimum is 0.

- many: a categorical of 30 choices. One of them has the offset 0, the others have offsets from 0.25 to 1. The seed
  determines them.
- ordered: one of 12 numbers in order, of which the seventh is best.
- width: an int from 1 to 4096 on a log scale, of which 37 is best.

The table has the median, mean and largest result over the seeds, and the number of runs whose best design has the
best choice, number or int. Results are appended to the file as they are made; a second call with the same file
makes only those that it does not have. The method smac needs smac.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import random
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import optuna

import fbo

FLAGS = ["--mdns=false", "--listen", "/ip4/127.0.0.1/tcp/0", "--wait-for-peers", "0"]
SIZES = [8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024]
CHOICES = [f"c{i}" for i in range(30)]
WIDEST, BEST_WIDTH = 4096, 37


@dataclass(frozen=True)
class Problem:
    """A parameter beside the floats x and y, what a value of it adds to the objective, and its best value."""

    parameter: dict[str, Any]  # as in a task file
    offset: Callable[[Any], float]
    best: Any

    def value(self, x: float, y: float, kind: Any) -> float:
        return (x - 0.3) ** 2 + (y - 0.7) ** 2 + self.offset(kind)


def many(seed: int) -> Problem:
    rng = random.Random(seed)
    offsets = {choice: rng.uniform(0.25, 1) for choice in CHOICES}
    best = rng.choice(CHOICES)
    offsets[best] = 0
    return Problem({"type": "categorical", "choices": CHOICES}, offsets.__getitem__, best)


def ordered(seed: int) -> Problem:
    return Problem({"type": "int", "choices": SIZES}, lambda size: ((SIZES.index(size) - 6) / 11) ** 2, SIZES[6])


def width(seed: int) -> Problem:
    parameter = {"type": "int", "low": 1, "high": WIDEST, "scale": "log"}
    return Problem(parameter, lambda n: (math.log2(n / BEST_WIDTH) / math.log2(WIDEST)) ** 2, BEST_WIDTH)


PROBLEMS: dict[str, Callable[[int], Problem]] = {"many": many, "ordered": ordered, "width": width}

Found = tuple[float, bool]  # the least value, and whether its design has the best value of the parameter


class Record:
    """The objective of a run, with the best of its designs."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.best: Found = math.inf, False

    def __call__(self, x: float, y: float, kind: Any) -> float:
        value = float(self.problem.value(x, y, kind))
        self.best = min(self.best, (value, bool(kind == self.problem.best)), key=lambda found: found[0])
        return value


def by_optuna(sampler: Callable[[int], optuna.samplers.BaseSampler], problem: Problem, seed: int, evals: int) -> Found:
    """Numbers in order are suggested by their index, so that the sampler knows the order."""
    record, parameter = Record(problem), problem.parameter

    def objective(trial: optuna.Trial) -> float:
        x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
        if parameter["type"] == "categorical":
            return record(x, y, trial.suggest_categorical("kind", parameter["choices"]))
        if "choices" in parameter:
            return record(x, y, parameter["choices"][trial.suggest_int("kind", 0, len(parameter["choices"]) - 1)])
        return record(x, y, trial.suggest_int("kind", parameter["low"], parameter["high"], log=True))

    optuna.create_study(sampler=sampler(seed)).optimize(objective, n_trials=evals)
    return record.best


def by_smac(problem: Problem, seed: int, evals: int) -> Found:
    import ConfigSpace as cs
    import smac

    record, parameter = Record(problem), problem.parameter
    space = cs.ConfigurationSpace()
    if parameter["type"] == "categorical":
        kind: Any = cs.CategoricalHyperparameter("kind", parameter["choices"])
    elif "choices" in parameter:
        kind = cs.OrdinalHyperparameter("kind", parameter["choices"])
    else:
        kind = cs.UniformIntegerHyperparameter("kind", parameter["low"], parameter["high"], log=True)
    space.add([cs.UniformFloatHyperparameter("x", 0, 1), cs.UniformFloatHyperparameter("y", 0, 1), kind])

    def evaluated(configuration: Any, seed: int = 0) -> float:
        return record(configuration["x"], configuration["y"], configuration["kind"])

    with tempfile.TemporaryDirectory(prefix="smac-") as directory:
        scenario = smac.Scenario(space, n_trials=evals, seed=seed, deterministic=True, output_directory=Path(directory))
        smac.HyperparameterOptimizationFacade(scenario, evaluated, logging_level=logging.ERROR, overwrite=True).optimize()
    return record.best


def by_fbo(node: fbo.Node, strategy: str, problem: Problem, seed: int, evals: int) -> Found:
    record = Record(problem)
    floats = [{"name": name, "type": "float", "low": 0, "high": 1} for name in "xy"]
    task = {
        "name": f"kinds-{problem.parameter['type']}-{problem.best}-{seed}",
        "goal": "minimize",
        "parameters": [*floats, {"name": "kind", **problem.parameter}],
        "strategy": {"type": strategy},
    }
    fbo.minimize(record, task, evals=evals, node=node, seed=seed, progress=False)
    return record.best


METHODS = ("random", "tpe", "smac", "fbo", "fbo-logei")


def methods(node: fbo.Node) -> dict[str, Callable[[Problem, int, int], Found]]:
    return {
        "random": partial(by_optuna, optuna.samplers.RandomSampler),
        "tpe": partial(by_optuna, lambda seed: optuna.samplers.TPESampler(seed=seed)),
        "smac": by_smac,
        "fbo": partial(by_fbo, node, "peer-prior"),
        "fbo-logei": partial(by_fbo, node, "logei"),
    }


def read(path: Path | None) -> dict[tuple[str, str, int, int], Found]:
    if path is None or not path.exists():
        return {}
    lines = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return {(one["problem"], one["method"], one["seed"], one["evals"]): (one["value"], one["best"]) for one in lines}


def print_table(problem: str, of: dict[str, list[Found]]) -> None:
    print(f"{problem:16} median    mean      largest   best choice")
    for name, found in of.items():
        values = [value for value, _ in found]
        figures = (statistics.median(values), statistics.mean(values), max(values))
        print(f"{name:16} {'  '.join(f'{one:.2e}' for one in figures)}  {sum(best for _, best in found)} of {len(found)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10, help="number of seeds (default: 10)")
    parser.add_argument("--first-seed", type=int, default=1001, help="the first seed (default: 1001)")
    parser.add_argument("--evals", type=int, default=60, help="evaluations of each run (default: 60)")
    parser.add_argument("--problems", default=",".join(PROBLEMS), help="a list with commas (default: all)")
    parser.add_argument("--methods", default=",".join(METHODS), help="a list with commas (default: all)")
    parser.add_argument("--json", type=Path, help="file to which each result is appended as a line")
    arguments = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    logging.getLogger("fbo").setLevel(logging.ERROR)
    known = read(arguments.json)
    with tempfile.TemporaryDirectory(prefix="fbo-") as directory, fbo.Node(Path(directory), flags=FLAGS) as node:
        run = methods(node)
        for problem in arguments.problems.split(","):
            found: dict[str, list[Found]] = {name: [] for name in arguments.methods.split(",")}
            for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
                for name in found:
                    key = (problem, name, seed, arguments.evals)
                    if key not in known:
                        known[key] = run[name](PROBLEMS[problem](seed), seed, arguments.evals)
                        if arguments.json is not None:
                            one = dict(zip(("problem", "method", "seed", "evals"), key), value=known[key][0], best=known[key][1])
                            with arguments.json.open("a", encoding="utf-8") as file:
                                file.write(json.dumps(one) + "\n")
                    found[name].append(known[key])
            print_table(problem, found)


if __name__ == "__main__":
    main()
