"""Studies of Optuna with several directions, on real nodes."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.distributions import BaseDistribution, FloatDistribution
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

import fbo
from fbo.optuna import Sampler

optuna.logging.set_verbosity(optuna.logging.ERROR)

X: dict[str, BaseDistribution] = {"x": FloatDistribution(0, 1)}
DIRECTIONS: list[Any] = ["minimize", "maximize"]


def trade(trial: optuna.Trial) -> tuple[float, float]:
    x = trial.suggest_float("x", 0, 1)
    return (x - 0.5) ** 2, 1 - x


def known(sampler: Sampler) -> list[fbo.Trial]:
    assert sampler.task is not None
    return sampler.task.trials()


@pytest.mark.parametrize(
    ("given", "metric_names", "want"),
    [
        (None, None, ["objective_0", "objective_1"]),
        (None, ["error", "my speed"], ["error", "my_x0020_speed"]),
        (["loss", "speed"], ["error", "velocity"], ["loss", "speed"]),
    ],
)
def test_study_of_two_directions(node: fbo.Node, given: list[str] | None, metric_names: list[str] | None, want: list[str]) -> None:
    sampler = Sampler({"name": "trade", "strategy": {"type": "alone"}}, node, search_space=X, objective_names=given)
    study = optuna.create_study(directions=DIRECTIONS, sampler=sampler)
    if metric_names is not None:
        study.set_metric_names(metric_names)
    study.optimize(trade, n_trials=7)
    task = sampler.task
    assert task is not None and [one.name for one in task.objectives] == want and [one.goal for one in task.objectives] == DIRECTIONS
    trials = task.trials()
    assert [[one.value, one.metrics[want[1]]] for one in trials] == [one.values for one in study.trials]
    assert all(one.client is not None for one in trials)  # all designs are of the task
    assert {one.number for one in study.best_trials} == {one.id - 1 for one in task.front()}
    sampler.close()


def test_outcomes_that_are_not_finite_fail(node: fbo.Node) -> None:
    sampler = Sampler("trade", node, search_space=X)
    study = optuna.create_study(directions=DIRECTIONS, sampler=sampler)
    study.optimize(lambda trial: (trade(trial)[0], math.inf), n_trials=1)
    (trial,) = known(sampler)
    assert trial.state == "failed" and trial.reason is not None and trial.reason.startswith("measured inf, which is not finite")


def test_learned_spaces_and_earlier_trials(node: fbo.Node) -> None:
    sampler = Sampler("trade", node, n_startup_trials=3, seed=1)
    study = optuna.create_study(directions=DIRECTIONS, sampler=sampler)
    study.optimize(trade, n_trials=5)
    trials = known(sampler)
    assert [one.client is None for one in trials] == [True] * 3 + [False] * 2
    assert [[one.value, one.metrics["objective_1"]] for one in trials] == [one.values for one in study.trials]


def test_tasks_and_names_that_do_not_fit(node: fbo.Node) -> None:
    whole = {"name": "trade", "objectives": [fbo.Objective("error"), fbo.Objective("speed", "maximize")]}
    with pytest.raises(fbo.BadInput, match="objective_names: the task has its objectives already"):
        Sampler(whole, node, search_space=X, objective_names=["a", "b"])
    wrong: list[list[Any]] = [["maximize", "minimize"], ["minimize"], ["minimize", "maximize", "minimize"]]
    for directions in wrong:
        with pytest.raises(fbo.BadInput, match=r"has the goals \['minimize', 'maximize'\], the study the directions"):
            optuna.create_study(directions=directions, sampler=Sampler(whole, node, search_space=X)).ask(X)
    with pytest.raises(fbo.BadInput, match="expected 2, one for each direction"):
        optuna.create_study(directions=DIRECTIONS, sampler=Sampler("trade", node, search_space=X, objective_names=["a"])).ask(X)
    assert node.tasks() == []
    sampler = Sampler(whole, node, search_space=X)
    optuna.create_study(directions=DIRECTIONS, sampler=sampler).optimize(trade, n_trials=1)
    assert set(known(sampler)[0].metrics) == {"speed"}


def test_journal_round_trip(binary: str, short_dir: Path, tmp_path: Path) -> None:
    """A study of Optuna becomes trials of a task, and these a study with the same values and front."""
    journal, task, data = tmp_path / "study.log", tmp_path / "trade.yaml", short_dir / "data"
    storage = JournalStorage(JournalFileBackend(str(journal)))
    study = optuna.create_study(study_name="trade", directions=DIRECTIONS, storage=storage, sampler=optuna.samplers.RandomSampler(3))
    study.optimize(trade, n_trials=12)
    task.write_text(
        "name: trade\nobjectives:\n  - {name: error, goal: minimize}\n  - {name: speed, goal: maximize}\n"
        "parameters: [{name: x, type: float, low: 0, high: 1}]\nstrategy: {type: alone}\n"
    )
    local = ["--mdns=false", "--listen", "/ip4/127.0.0.1/tcp/0", "--data-dir", str(data)]

    def run(*args: Any) -> None:
        ended = subprocess.run([binary, *map(str, args)], capture_output=True, text=True, timeout=300)
        assert ended.returncode == 0, ended.stderr

    run("run", task, *local, "--import", journal, "--evals", 1, "--wait-for-peers", "0s", "--", "sh", "-c", """echo '{"value": 9, "speed": -9}'""")
    exported = tmp_path / "exported.log"
    run("export", task, exported, "--format", "optuna-journal", "--data-dir", data)
    again = optuna.load_study(study_name="trade", storage=JournalStorage(JournalFileBackend(str(exported))))
    assert [one.name for one in again.directions] == ["MINIMIZE", "MAXIMIZE"]
    assert [(one.params, one.values) for one in again.trials[:12]] == [(one.params, one.values) for one in study.trials]
    assert again.trials[12].values == [9, -9]
    assert [one.number for one in again.best_trials] == [one.number for one in study.best_trials]
