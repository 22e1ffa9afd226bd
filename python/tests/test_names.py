"""Names of parameters that no task accepts as they are."""

from __future__ import annotations

import logging
import random
import re
from pathlib import Path
from typing import Any

import optuna
import pytest
from conftest import BOWL, LOCAL
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

import fbo
import fbo.optuna
from fbo import names

# With what stands in the task: part of its ID, and so never to be changed.
WRITTEN = {
    "rate": "rate",
    "optimizer.lr": "optimizer_x002E_lr",
    "model/depth": "model_x002F_depth",
    "learning rate": "learning_x0020_rate",
    "_hidden": "x005F_hidden",
    "3d": "x0033_d",
    "größe": "gr_x00F6__x00DF_e",
    "x2024": "x2024",
    "a_x002E_b": "a_x005F_x002E_b",
    "x002E_b": "x0078_002E_b",
    "🙂": "x1F642_",
}


def test_names_in_the_task() -> None:
    assert {name: names.to_task(name) for name in WRITTEN} == WRITTEN
    assert {written: names.from_task(written) for written in WRITTEN.values()} == {b: a for a, b in WRITTEN.items()}
    for other in ("a_x0061_b", "a_x00002E_b", "x110000_", "x000A_", "A_x002e_"):  # what no name is written as
        assert names.from_task(other) == other


def test_different_names_stay_different() -> None:
    draw, seen = random.Random(1), dict[str, str]()
    parts = ["x", "_", "0", "002E", "A", ".", "/", "é", "x002E_", "_x", "Z", "🙂"]
    for _ in range(50_000):
        name = "".join(draw.choice(parts) for _ in range(draw.randint(1, 7)))
        try:
            written = names.to_task(name)
        except fbo.BadInput as error:
            assert "at most 64 characters" in str(error)
            continue
        assert re.fullmatch("[A-Za-z][A-Za-z0-9_]{0,63}", written)
        assert seen.setdefault(written, name) == name
        assert names.from_task(written) == name
    assert len(seen) > 20_000


def test_minimize(node: fbo.Node) -> None:
    def f(**design: Any) -> float:
        seen.append(design)
        return value(design)

    def value(design: dict[str, Any]) -> float:
        return float(design["optimizer.lr"] + design["model/depth"])

    seen: list[dict[str, Any]] = []
    space = {"optimizer.lr": (0, 1), "model/depth": range(1, 9), "the kernel": ["rbf", "poly"]}
    result = fbo.minimize(f, space, task="names", node=node, evals=6, progress=False)
    assert [trial.parameters for trial in result.trials] == seen
    assert result.parameters == min(seen, key=value) and set(result.parameters) == set(space)
    assert "optimizer.lr=" in str(result) and "parameters.model/depth" in result.rows[0]
    # The node has the names of the task, so that nodes in other languages agree.
    (shown,) = node._client.get("/v1/tasks")["tasks"]
    stored = node._client.get(f"/v1/tasks/{shown['id']}")["task"]["parameters"]
    assert [one["name"] for one in stored] == ["optimizer_x002E_lr", "model_x002F_depth", "the_x0020_kernel"]
    with pytest.raises(fbo.Refused, match=re.escape('parameter "a.b": high 1.00000000000001 is too close')):
        fbo.minimize(f, {"a.b": (1, 1 + 1e-14)}, task="close", node=node, progress=False)


def test_ask_and_tell(node: fbo.Node) -> None:
    task = node.task(
        {
            "name": "dots",
            "goal": "minimize",
            "parameters": [{"name": "a.x", "type": "float", "low": 0, "high": 1}, {"name": "b", "type": "bool"}],
            "constraints": [{"name": "time/ms", "high": 5}],
        },
        enqueue=[{"a.x": 0.25, "b": True}],
    )
    assert task.add_trials([{"parameters": {"a.x": 0.5, "b": True}, "outcome": {"value": 2, "constraints": {"time/ms": 1}}}]) == 1
    (trial,) = task.ask()
    assert trial.parameters == {"a.x": 0.25, "b": True}
    with pytest.raises(fbo.Refused, match="time/ms"):
        task.tell(trial, 1.0)
    ended = task.tell(trial, 1.0, constraints={"time/ms": 9}, metrics={"any/thing": 1})
    assert ended.constraints == {"time/ms": 9} and ended.violated == ("time/ms",) and ended.metrics == {"any/thing": 1}
    best = task.best()
    assert best is not None and best.parameters == {"a.x": 0.5, "b": True}
    for event in task.events(0):
        if event.type == "trial_started":
            assert event.data["trial"]["parameters"] == {"a.x": 0.25, "b": True}
            break
    assert [one["name"] for one in task.definition["parameters"]] == ["a.x", "b"]
    assert node.task(task.definition).id == task.id


CONDITIONAL: dict[str, Any] = {
    "name": "conditional",
    "goal": "minimize",
    "parameters": [
        {"name": "optimizer.kind", "type": "categorical", "choices": ["sgd", "adam", "adam/beta"]},
        {"name": "adam/beta", "type": "float", "low": 0, "high": 1, "when": {"optimizer.kind": "adam"}},
        {"name": "batch size", "type": "int", "low": 1, "high": 64},
        {"name": "workers", "type": "int", "low": 1, "high": 8, "when": {"batch size": {"low": 8}}},
    ],
    "parameter_constraints": [
        "workers * batch size <= 128",
        'optimizer.kind != "adam/beta" and adam/beta < .9',
        "batch_x0020_size > 2",
    ],
}


def test_names_in_conditions_and_expressions(node: fbo.Node) -> None:
    task = node.task(CONDITIONAL)
    stored = node._client.get(f"/v1/tasks/{task.id}")["task"]
    assert stored["parameters"][1]["when"] == {"optimizer_x002E_kind": ["adam"]}
    assert stored["parameter_constraints"] == [
        "workers * batch_x0020_size <= 128",
        'optimizer_x002E_kind != "adam/beta" and adam_x002F_beta < .9',
        "batch_x0020_size > 2",
    ]
    assert task.definition["parameters"][3]["when"] == {"batch size": {"low": 8}}
    assert task.definition["parameter_constraints"] == [*CONDITIONAL["parameter_constraints"][:2], "batch size > 2"]
    assert node.task(task.definition).id == task.id
    for _ in range(10):
        (trial,) = task.ask()
        assert ("adam/beta" in trial.parameters) == (trial.parameters["optimizer.kind"] == "adam")
        assert ("workers" in trial.parameters) == (int(trial.parameters["batch size"]) >= 8)
        task.tell(trial, 1.0)
    with pytest.raises(fbo.Refused, match=re.escape('"adam/beta": 0.5 given, expected no value')):
        task.add_trials([{"parameters": {"optimizer.kind": "sgd", "adam/beta": 0.5, "batch size": 4}, "outcome": {"value": 1}}])
    past = {"optimizer.kind": "sgd", "adam/beta": None, "batch size": 4}
    assert task.add_trials([{"parameters": past, "outcome": {"value": 1}}]) == 1


def test_a_name_that_is_an_expression_too(node: fbo.Node) -> None:
    parameters = [{"name": name, "type": "int", "low": 1, "high": 9} for name in ("a", "b", "a-b")]
    task = {"name": "minus", "goal": "minimize", "parameters": parameters}
    with pytest.raises(fbo.BadInput, match=r"'a-b' is a parameter, and an expression of the parameters \['a', 'b'\]: expected a_x002D_b"):
        node.task({**task, "parameter_constraints": ["a-b < 3"]})
    joined = node.task({**task, "parameter_constraints": ["a - b < 3", "a_x002D_b < 8"]})
    assert joined.definition["parameter_constraints"] == ["a - b < 3", "a_x002D_b < 8"]
    assert node.task(joined.definition).id == joined.id


def test_a_task_file_is_sent_as_it_is(node: fbo.Node) -> None:
    with pytest.raises(fbo.Refused, match="a.x"):
        node.task(BOWL.replace("name: x", "name: a.x"))
    assert node.task(BOWL.replace("name: x", "name: a_x002E_x")).ask()[0].parameters.keys() == {"a.x", "units"}


SPACE: dict[str, BaseDistribution] = {
    "optimizer.lr": FloatDistribution(1e-3, 1, log=True),
    "model/depth": IntDistribution(1, 8),
    "the kernel": CategoricalDistribution(["rbf", None]),
}


@pytest.mark.parametrize("given", [True, False])
def test_optuna(given: bool, node: fbo.Node) -> None:
    def objective(trial: optuna.Trial) -> float:
        trial.set_constraint("time.ms", trial.number - 3)
        rate = trial.suggest_float("optimizer.lr", 1e-3, 1, log=True)
        trial.suggest_categorical("the kernel", ["rbf", None])
        return 100 * trial.number + rate + trial.suggest_int("model/depth", 1, 8)

    task = {"name": "study", "constraints": [{"name": "time.ms", "high": 0}]}
    sampler = fbo.optuna.Sampler(task, node, search_space=SPACE if given else None)
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=8)
    assert sampler.task is not None
    known = {trial.value: trial for trial in sampler.task.trials() if trial.state == "done"}
    assert len(known) == 8 and set(study.best_params) == set(SPACE)
    for trial in study.trials:
        found = known[trial.value]
        assert found.parameters["optimizer.lr"] == pytest.approx(trial.params["optimizer.lr"])
        assert found.violated == (("time.ms",) if trial.number > 3 else ())
        if mark := trial.user_attrs.get("fbo"):
            assert set(mark["parameters"]) == set(SPACE)


def test_all_nodes_agree(node: fbo.Node, binary: str, short_dir: Path, caplog: pytest.LogCaptureFixture) -> None:
    space = [fbo.Float("optimizer.lr", 0, 1), fbo.Bool("b.b")]
    one = fbo.minimize(lambda **_: 1.0, space, task="same", node=node, evals=1, progress=False)
    with fbo.Node(short_dir / "other", binary=binary, flags=LOCAL) as other, caplog.at_level(logging.WARNING):
        two = fbo.minimize(lambda **_: 1.0, space, task="same", node=other, evals=1, progress=False)
    assert one.task_id == two.task_id and not caplog.records
