"""Compare samplers of Optuna on its own example of conditional parameters.

    python benchmarks/conditional.py --seeds 20

The objective chooses a classifier and then the parameters of that classifier. Its minimum is 0. The table
has the best value of each study: the median and the mean over the seeds, and how many are above 0.05, which
are those that stay with the wrong classifier.
"""

from __future__ import annotations

import argparse
import logging
import math
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path

import optuna

import fbo
from fbo.optuna import Sampler

FLAGS = ["--mdns=false", "--listen", "/ip4/127.0.0.1/tcp/0", "--wait-for-peers", "0"]
FLAT: dict[str, optuna.distributions.BaseDistribution] = {
    "classifier": optuna.distributions.CategoricalDistribution(["SVC", "RandomForest"]),
    "svc_c": optuna.distributions.FloatDistribution(1e-4, 1e4, log=True),
    "svc_gamma": optuna.distributions.FloatDistribution(1e-5, 1e1, log=True),
    "rf_max_depth": optuna.distributions.IntDistribution(2, 32),
    "rf_n": optuna.distributions.IntDistribution(2, 32, step=2),
}


def objective(trial: optuna.Trial) -> float:
    name = trial.suggest_categorical("classifier", ["SVC", "RandomForest"])
    if name == "SVC":
        c = trial.suggest_float("svc_c", 1e-4, 1e4, log=True)
        gamma = trial.suggest_float("svc_gamma", 1e-5, 1e1, log=True)
        return ((math.log10(c) - 1) ** 2 + (math.log10(gamma) + 2) ** 2) / 10
    depth = trial.suggest_int("rf_max_depth", 2, 32)
    n = trial.suggest_int("rf_n", 2, 32, step=2)
    return 0.1 + abs(depth - 20) / 30 + abs(n - 10) / 50


Make = Callable[[int], optuna.samplers.BaseSampler]


def samplers(node: fbo.Node) -> dict[str, Make]:
    return {
        "random": lambda seed: optuna.samplers.RandomSampler(seed),
        "tpe": lambda seed: optuna.samplers.TPESampler(seed=seed),
        "fbo": lambda seed: Sampler(f"learned{seed}", node, seed=seed),
        "fbo-flat": lambda seed: Sampler(f"flat{seed}", node, seed=seed, search_space=FLAT),
    }


def best_values(make: Make, seeds: range, trials: int) -> list[float]:
    values = []
    for seed in seeds:
        study = optuna.create_study(sampler=make(seed))
        study.optimize(objective, n_trials=trials)
        values.append(study.best_value)
    return values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20, help="number of seeds (default: 20)")
    parser.add_argument("--first-seed", type=int, default=1001, help="the first seed (default: 1001)")
    parser.add_argument("--trials", type=int, default=40, help="trials of each study (default: 40)")
    parser.add_argument("--samplers", default="random,tpe,fbo,fbo-flat", help="a list with commas")
    arguments = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    logging.getLogger("fbo").setLevel(logging.ERROR)
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    print("sampler    median  mean   above .05")
    with tempfile.TemporaryDirectory(prefix="fbo-") as directory:
        with fbo.Node(Path(directory), flags=FLAGS) as node:
            known = samplers(node)
            for name in arguments.samplers.split(","):
                values = best_values(known[name], seeds, arguments.trials)
                stuck = sum(value > 0.05 for value in values)
                print(f"{name:10} {statistics.median(values):.4f}  {statistics.mean(values):.4f} {stuck:5}", flush=True)


if __name__ == "__main__":
    main()
