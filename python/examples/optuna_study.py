"""A study of Optuna that takes part in a task and survives its end.

    python optuna_study.py study.db 50

Run it on several machines: the studies have the same task, and learn from each other.
"""

from __future__ import annotations

import sys

import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

import fbo.optuna

SPACE: dict[str, optuna.distributions.BaseDistribution] = {
    "rate": FloatDistribution(1e-3, 1, log=True),
    "steps": IntDistribution(10, 100, step=10),
    "momentum": CategoricalDistribution([None, 0.5, 0.9]),
}


def train(trial: optuna.Trial) -> float:
    """Minimise a narrow valley by gradient descent; return how far it got."""
    rate = trial.suggest_float("rate", 1e-3, 1, log=True)
    steps = trial.suggest_int("steps", 10, 100, step=10)
    kept = float(trial.suggest_categorical("momentum", [None, 0.5, 0.9]) or 0)
    x, y, speed_x, speed_y = 4.0, -3.0, 0.0, 0.0
    for step in range(steps):
        speed_x = kept * speed_x - rate * 2 * x
        speed_y = kept * speed_y - rate * 20 * y
        x, y = x + speed_x, y + speed_y
        if abs(x) + abs(y) > 1e6:
            raise ArithmeticError(f"diverged after {step + 1} steps")
    return x * x + 10 * y * y + 0.001 * steps


def main(file: str, trials: int) -> None:
    """Continue until the study has this number of complete trials."""
    study = optuna.create_study(
        study_name="training",
        storage=f"sqlite:///{file}",
        load_if_exists=True,
        sampler=fbo.optuna.Sampler(task="training", search_space=SPACE),
    )
    complete = optuna.study.MaxTrialsCallback(trials, states=(optuna.trial.TrialState.COMPLETE,))
    study.optimize(train, callbacks=[complete], catch=(ArithmeticError,))
    for trial in study.trials:
        of_task = trial.user_attrs.get("fbo", {})
        print(trial.number, trial.value, of_task.get("chosen"), of_task.get("why", {}).get("peer", ""))
    print("best:", study.best_value, study.best_params)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
