"""Let three studies with different best branches work on one task with conditions, and each alone.

    python benchmarks/branches.py --seeds 5

Each study chooses one of three branches, which has two floats of its own. The best branch differs between the
studies: what is best for one is worst for another. Three nodes of this machine exchange shares, and their studies
take turns. The table has the best value of each study after 15 and 30 trials, as the mean over studies and seeds;
the minimum is 0.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution

import fbo
from fbo.optuna import Sampler

FLAGS = ["--mdns=false", "--listen", "/ip4/127.0.0.1/tcp/0", "--wait-for-peers", "0"]
BRANCHES = ["a", "b", "c"]
PLACES = {"a": (0.2, 0.7), "b": (0.6, 0.3), "c": (0.8, 0.9)}  # where the floats of a branch are best, for all studies
SPACE: dict[str, BaseDistribution] = {
    "branch": CategoricalDistribution(BRANCHES),
    **{f"{branch}_{axis}": FloatDistribution(0, 1) for branch in BRANCHES for axis in "xy"},
}
CONDITIONS = {f"{branch}_{axis}": {"branch": branch} for branch in BRANCHES for axis in "xy"}


def objective_of(study: int) -> Callable[[optuna.Trial], float]:
    """Return the objective in which the branch of this number has the offset 0, and the others 0.2 and 0.4."""

    def objective(trial: optuna.Trial) -> float:
        branch = trial.suggest_categorical("branch", BRANCHES)
        x, y = (trial.suggest_float(f"{branch}_{axis}", 0, 1) for axis in "xy")
        offset = 0.2 * ((BRANCHES.index(branch) - study) % 3)
        return float(offset + (x - PLACES[branch][0]) ** 2 + (y - PLACES[branch][1]) ** 2)

    return objective


def best_values(seed: int, trials: int, together: bool) -> list[list[float]]:
    """Return the best value of each study after each of its trials."""
    found: list[list[float]] = [[] for _ in BRANCHES]
    with contextlib.ExitStack() as stack:
        studies: list[optuna.Study] = []
        address = ""
        for number in range(len(BRANCHES)):
            directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fbo-")))
            flags = [*FLAGS, "--peer", address] if address and together else FLAGS
            node = stack.enter_context(fbo.Node(directory, flags=flags))
            address = address or node.info()["addresses"][0]
            sampler = Sampler("branches", node, seed=10 * seed + number, search_space=SPACE, conditions=CONDITIONS)
            studies.append(optuna.create_study(sampler=stack.enter_context(sampler)))
        for _ in range(trials):
            for number, study in enumerate(studies):
                study.optimize(objective_of(number), n_trials=1)
                found[number].append(study.best_value)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5, help="number of seeds, from 1 on (default: 5)")
    parser.add_argument("--trials", type=int, default=30, help="trials of each study (default: 30)")
    arguments = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    logging.getLogger("fbo").setLevel(logging.ERROR)
    print("studies    half    all     largest")
    for name, together in (("alone", False), ("together", True)):
        runs = [one for seed in range(1, arguments.seeds + 1) for one in best_values(seed, arguments.trials, together)]
        half = statistics.mean(one[arguments.trials // 2 - 1] for one in runs)
        last = [one[-1] for one in runs]
        print(f"{name:10} {half:.4f}  {statistics.mean(last):.4f}  {max(last):.4f}", flush=True)


if __name__ == "__main__":
    main()
