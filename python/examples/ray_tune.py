"""An experiment of Ray Tune that takes part in a task.

    python ray_tune.py 20

The program asks the node; four workers of a Ray cluster on this machine train. With
ray.init(address="auto") the workers are those of a cluster that runs.
"""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

import ray
from ray import tune

import fbo.ray

SPACE = {
    "rate": tune.loguniform(1e-3, 0.2),
    "steps": tune.qrandint(10, 100, 10),
    "momentum": tune.choice([0.0, 0.5, 0.9]),
}


def train(config: dict[str, Any]) -> dict[str, float]:
    """Minimise a narrow valley by gradient descent; return how far it got."""
    x, y, speed_x, speed_y = 4.0, -3.0, 0.0, 0.0
    for step in range(config["steps"]):
        speed_x = config["momentum"] * speed_x - config["rate"] * 2 * x
        speed_y = config["momentum"] * speed_y - config["rate"] * 20 * y
        x, y = x + speed_x, y + speed_y
        if abs(x) + abs(y) > 1e6:
            raise ArithmeticError(f"diverged after {step + 1} steps")
    return {"loss": x * x + 10 * y * y + 0.001 * config["steps"], "process": os.getpid()}


def main(trials: int, results: str) -> None:
    """Run an experiment with this number of trials, and print them and the best."""
    ray.init(num_cpus=4, include_dashboard=False)
    tuner = tune.Tuner(
        train,
        param_space=SPACE,
        tune_config=tune.TuneConfig(
            metric="loss", mode="min", num_samples=trials, max_concurrent_trials=4, search_alg=fbo.ray.Search("valley")
        ),
        run_config=tune.RunConfig(storage_path=results, verbose=0),
    )
    grid = tuner.fit()
    for number in range(len(grid)):
        metrics = grid[number].metrics or {}
        print(grid[number].config, metrics.get("loss", "failed"), metrics.get("process"))
    best = grid.get_best_result()
    print("best:", (best.metrics or {})["loss"], best.config)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        main(int(sys.argv[1]), directory)
