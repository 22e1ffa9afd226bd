"""Asking and telling."""

from __future__ import annotations

import json
import threading
import time
from datetime import datetime, timedelta
from typing import Any

import pytest
from conftest import BOWL

import fbo
from fbo.space import definition


def test_ask_tell_best(node: fbo.Node) -> None:
    task = node.task(BOWL)
    for _ in range(4):
        (trial,) = task.ask()
        x = trial.parameters["x"]
        assert isinstance(x, float)
        task.tell(trial, x * x, metrics={"x": x})
    best = task.best()
    assert best is not None and best.value == min(row["value"] for row in task.rows())
    assert set(task.recommend() or {}) == {"x", "units"}
    assert {"parameters.x", "metrics.x", "state"} <= set(task.rows()[0])


def test_best_under_noise_has_the_recommended_design(node: fbo.Node) -> None:
    task = node.task("name: line\ngoal: minimize\nparameters:\n  - {name: x, type: float, low: 0, high: 1}\n")
    values = [(i // 4 / 6, 50 * (-1) ** (i + 1) + i / 100) for i in range(24)]
    task.add_trials({"parameters": {"x": x}, "outcome": {"value": value}} for x, value in values)
    task._http.get(task._path + "/model")  # waits until the model knows all outcomes
    best = task.best()
    assert best is not None and (best.id, best.value) == (1, -50)
    assert best.recommended is not None and 0 <= float(best.recommended.parameters["x"]) <= 1
    assert str(best.recommended).startswith("recommended: x=") and "mostly luck:" in str(best.recommended)


def test_each_ask_gives_other_trials(node: fbo.Node) -> None:
    task = node.task(BOWL)
    first = task.ask(2)
    second = task.ask()
    assert [trial.id for trial in first + second] == [1, 2, 3]
    failed = task.fail(first[0], "out of memory")
    assert (failed.state, failed.reason) == ("failed", "out of memory")
    assert task.requeue(second[0]).state == "waiting"
    task.close()
    assert [trial.state for trial in task.trials()] == ["failed", "waiting", "waiting"]


CONDITIONAL = """name: conditional
goal: minimize
parameters:
  - {name: optimizer, type: categorical, choices: [sgd, adam]}
  - {name: momentum, type: float, low: 0, high: 1, when: {optimizer: sgd}}
  - {name: layers, type: int, low: 1, high: 4}
  - {name: width, type: int, low: 1, high: 64, scale: log, when: {layers: {low: 2}, optimizer: [adam]}}
  - {name: epochs, value: 20}
  - {name: loss, value: mse}
  - {name: batch, type: int, low: 1, high: 256}
parameter_constraints: ["layers * batch <= 512"]
"""


def test_conditions_in_a_file_a_dictionary_and_python(node: fbo.Node) -> None:
    task = node.task(CONDITIONAL)
    stored = node._client.get(f"/v1/tasks/{task.id}")["task"]
    again = node.task(task.definition)
    assert again.id == task.id and node._client.get(f"/v1/tasks/{again.id}")["task"] == stored
    assert json.loads(json.dumps(again.definition)) == again.definition == task.definition
    space = [
        fbo.Categorical("optimizer", ["sgd", "adam"]),
        fbo.Float("momentum", 0, 1, when={"optimizer": "sgd"}),
        fbo.Int("layers", 1, 4),
        fbo.Int("width", 1, 64, log=True, when={"optimizer": "adam", "layers": (2, None)}),
        fbo.Fixed("epochs", 20),
        fbo.Fixed("loss", "mse"),
        fbo.Int("batch", 1, 256),
    ]
    assert node.task(definition(space, "minimize", "conditional", ["layers * batch <= 512"])).id == task.id
    for _ in range(12):
        (trial,) = task.ask()
        one = trial.parameters
        assert ("momentum" in one) == (one["optimizer"] == "sgd") and one["epochs"] == 20 and one["loss"] == "mse"
        assert ("width" in one) == (one["optimizer"] == "adam" and int(one["layers"]) >= 2)
        task.tell(trial, float(int(one["layers"])))
    rows = task.rows()
    assert len({tuple(row) for row in rows}) == 1 and None in {row["parameters.momentum"] for row in rows}
    best = task.best()
    assert best is not None and ("momentum" in best.parameters) != (best.parameters["optimizer"] == "adam")
    assert set(task.recommend() or {}) in [set(trial.parameters) for trial in task.trials()]


def test_threads_share_a_task(node: fbo.Node) -> None:
    task = node.task(BOWL)
    seen: list[int] = []

    def work() -> None:
        for _ in range(5):
            for trial in task.ask():
                seen.append(trial.id)
                task.tell(trial, 1.0)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == len(set(seen)) == 20
    # What an ask got beyond its count, since another thread told meanwhile, is handed back.
    assert {trial.state for trial in task.trials()} <= {"done", "waiting"} and not task._held.ids()


def test_a_client_of_a_name_gets_its_trials_again(node: fbo.Node) -> None:
    held = node.task(BOWL, client="worker").ask(2)
    again = node.find("bowl", client="worker").ask(2)
    assert [trial.id for trial in again] == [trial.id for trial in held]


def test_refusals_say_what_and_where(node: fbo.Node) -> None:
    with pytest.raises(fbo.Refused, match="goal must be one of minimize, maximize") as refused:
        node.task({"name": "bowl", "goal": "minimise", "parameters": [{"name": "x", "type": "bool"}]})
    assert refused.value.status == 422
    assert refused.value.fields[0].location == "body.task"
    with pytest.raises(fbo.NotFound):
        node.find("nothing")
    with pytest.raises(fbo.BadInput, match="expected the path of a task file"):
        node.task("nothing.yaml")
    task = node.task(BOWL)
    (trial,) = task.ask()
    with pytest.raises(fbo.Conflict, match="not held by this client"):
        node.find("bowl").fail(trial, "not mine")
    task.tell(trial, 1)
    with pytest.raises(fbo.Conflict):
        task.tell(trial, 2)


@pytest.mark.parametrize("value", [float("nan"), float("-inf"), "0.5", None, (1.0, 2.0), {"loss": 1.0}])
def test_what_is_no_finite_number_fails_the_trial(node: fbo.Node, value: Any) -> None:
    task = node.task(BOWL)
    (trial,) = task.ask()
    told = task.tell(trial, value)
    assert told.state == "failed" and told.reason == f"value is {value!r}: expected a finite number"
    assert not task._held.ids()
    (following,) = task.ask()
    assert following.id != trial.id, "the trial is still held"


def test_constraints_and_metrics_that_are_no_finite_numbers(node: fbo.Node) -> None:
    task = node.task(BOWL + "constraints:\n  - {name: heat, high: 1}\n")
    one, two = task.ask(2)
    told = task.tell(one, 1.0, constraints={"heat": float("nan")})
    assert (told.state, told.reason) == ("failed", "constraint heat is nan: expected a finite number")
    metrics: Any = {"loss": 0.5, "gap": float("inf"), "note": "text"}
    told = task.tell(two, 1.0, constraints={"heat": 0.5}, metrics=metrics)
    assert (told.state, told.value, told.metrics) == ("done", 1.0, {"loss": 0.5})


def test_heartbeats_keep_a_trial(node: fbo.Node) -> None:
    task = node.task(BOWL, lease=10)  # a heartbeat may come six seconds late
    (trial,) = task.ask()

    def lease() -> datetime:
        shown = node._client.get(f"{task._path}/trials/{trial.id}")
        assert shown["attempts"] == 1 and shown["client"] == task.client
        return datetime.fromisoformat(shown["lease_ends"][:19])  # to the second

    begin = lease()
    give_up = time.monotonic() + 60
    while lease() - begin < timedelta(seconds=4):
        assert time.monotonic() < give_up, "the lease is not kept"
        time.sleep(0.1)
    task.tell(trial, 1.0)


def test_annotations(node: fbo.Node) -> None:
    definition = {
        "name": "kept", "goal": "minimize", "description": "two\nlines", "unit": "ms", "tags": ["a"], "default": {"a.b": 0.25},
        "parameters": [{"name": "a.b", "type": "float", "low": 0, "high": 1, "unit": "1/s"}],
    }  # fmt: skip
    task = node.task(definition)
    for key in ("description", "unit", "tags", "default"):
        assert task.definition[key] == definition[key]
    first, second = task.ask(2)
    assert first.parameters == {"a.b": 0.25} and first.chosen == "the task's default"
    told = task.tell(first, 1, attributes={"commit": "abc", "epochs": 3}, tags=["b", "a"], files=["out/model.pt", fbo.File("x", "0F" * 32)])
    assert told.attributes == {"commit": "abc", "epochs": "3"} and told.tags == ("a", "b")
    assert told.files == (fbo.File("out/model.pt"), fbo.File("x", "0f" * 32))
    assert task.fail(second, "no luck", attributes={"commit": "f00"}).attributes == {"commit": "f00"}
    noted = task.note(first, "the sensor\nwas replaced", author="Ada")
    assert [(one.id, one.text, one.author) for one in noted.notes] == [(1, "the sensor\nwas replaced", "Ada")]
    changed = task.annotate(first, attributes={"commit": ""}, remove_tags=["a"], remove_notes=[1])
    assert changed.attributes == {"epochs": "3"} and changed.tags == ("b",) and changed.notes == ()
    assert task.trials()[0] == changed and changed.row()["attributes.epochs"] == "3"
    with pytest.raises(fbo.Refused, match="is no tag"):
        task.annotate(first, tags=["a\nb"])
    with pytest.raises(fbo.BadInput, match="is no text"):
        task.annotate(first, attributes={"a": object()})
    past = {"parameters": {"a.b": 0.5}, "outcome": {"value": 2}, "attributes": {"commit": "old"}, "tags": ["c"]}
    assert task.add_trials([past]) == 1 and task.add_trials([past]) == 0
    assert task.trials()[2].attributes == {"commit": "old"}
