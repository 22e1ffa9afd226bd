"""Values by step, and evaluations that are stopped early."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import json
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import objectives
import pytest
from conftest import BOWL, LOCAL

import fbo
import fbo.aio
from fbo.evaluate import takes_trial

LINE = [fbo.Float("x", -1, 1)]
HALVING = BOWL + "stop: {type: asha, grace_period: 1, reduction_factor: 2}\n"


@pytest.fixture(autouse=True)
def program(binary: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FBO_NODE", binary)


def test_ask_report_stop(node: fbo.Node) -> None:
    task = node.task(HALVING)
    good, bad = task.ask(2)
    for step in (1, 2):
        good.report(step, 1 / step)
    assert not good.should_stop() and not good.should_prune()
    assert task.report(bad, 1, 3.0) is not None
    assert bad.should_stop()
    bad.report(2, 2.5)
    ended = task.stop(bad, attributes={"commit": "abc"}, tags=["early"])
    assert (ended.state, ended.value, ended.steps) == ("stopped", None, {1: 3.0, 2: 2.5})
    assert ended.stop is not None and (ended.stop.rule, ended.stop.step) == ("asha", 1)
    assert (ended.attributes, ended.tags) == ({"commit": "abc"}, ("early",))
    assert task.tell(good, 0.4).steps == {1: 1.0, 2: 0.5}
    assert task.counts() == {"waiting": 0, "running": 0, "done": 1, "failed": 0, "stopped": 1}
    row = task.rows()[1]
    assert (row["state"], row["last_step"], row["last_value"]) == ("stopped", 2, 2.5) and "at step 1" in row["stop"]
    assert "stop" not in repr(good) and "of 2 trials" in repr(ended)

    (own,) = task.ask()
    with pytest.raises(fbo.Refused, match="no values by step"):
        task.stop(own)
    own.report(1, 0.3)
    stopped = task.stop(own.id, "seen enough")
    assert stopped.stop == fbo.Stop("program", 1, "seen enough")


def test_reports_that_are_refused(node: fbo.Node, caplog: pytest.LogCaptureFixture) -> None:
    task = node.task(BOWL)
    (trial,) = task.ask()
    for step in (0, -1, 1.5, "1", None, 0.41):
        with pytest.raises(fbo.BadInput, match="expected a whole number from 1 on"):
            trial.report(step, 1)  # type: ignore[arg-type]
    trial.report(3, 1)
    for value in (float("nan"), float("inf"), "loss", None):
        trial.report(4, value)  # type: ignore[arg-type]
    assert caplog.text.count("left out") == 1 and "trial 1: value at step 4 is nan: expected a finite number" in caplog.text
    caplog.clear()
    for step in (2, 1):
        trial.report(step, 1)
    assert caplog.text.count("left out") == 1 and "step 2 with value 1 after step 3; expected increasing steps" in caplog.text
    trial.report(5, True + 0.5)
    (shown,) = task.trials()
    assert shown.steps == {3: 1.0, 5: 1.5} and shown.state == "running"
    with pytest.raises(fbo.Error, match="trial 1 is not evaluated here"):
        shown.report(6, 1)
    other = node.find(task.id, client="other")
    with pytest.raises(fbo.Conflict):
        other.report(trial.id, 6, 1)
    task.tell(trial, 1)
    with pytest.raises(fbo.Conflict):
        trial.report(6, 1)


def test_a_trial_is_continued(node: fbo.Node) -> None:
    first = node.task(BOWL, client="first")
    (trial,) = first.ask()
    assert (trial.attempts, trial.steps) == (1, {})
    trial.report(1, 5)
    trial.report(2, 4)
    first.requeue(trial)
    (again,) = node.find(first.id).ask()
    assert (again.id, again.steps) == (trial.id, {1: 5.0, 2: 4.0})
    again.report(max(again.steps) + 1, 3)
    with pytest.raises(fbo.Conflict):
        trial.report(3, 3)


def test_a_copy_of_a_trial_reports(node: fbo.Node) -> None:
    task = node.task(BOWL)
    (trial,) = task.ask()
    copy = pickle.loads(pickle.dumps(trial))
    assert copy == trial
    copy.report(1, 2)
    assert task.trials()[0].steps == {1: 2.0}
    assert json.dumps(dataclasses.asdict(trial))  # no client


def test_values_wait_for_the_node(binary: str, short_dir: Path, caplog: pytest.LogCaptureFixture) -> None:
    with fbo.Node(short_dir, binary=binary, flags=LOCAL) as node:
        task = node.task(BOWL)
        (trial,) = task.ask()
        copy: fbo.Trial = pickle.loads(pickle.dumps(trial))  # it does not start the node again
        assert copy._reporter is not None
        copy._reporter._http._patience = 0
        assert node._daemon is not None
        node._daemon._process.kill()
        node._daemon._process.wait()
        for step in (1, 2):
            copy.report(step, step)
        assert caplog.text.count("are sent later") == 1
        assert task.trials()[0].steps == {}  # starts it again
        copy.report(3, 3)
        assert task.trials()[0].steps == {}
        copy._reporter._again = 0  # after the pause
        copy.report(4, 4)
        assert task.trials()[0].steps == {1: 1.0, 2: 2.0, 3: 3.0, 4: 4.0}


def test_values_that_wait_are_sent_before_the_end(node: fbo.Node, caplog: pytest.LogCaptureFixture) -> None:
    task = node.task(BOWL)
    ends: tuple[tuple[str, Callable[[fbo.Trial], fbo.Trial]], ...] = (
        ("done", lambda trial: task.tell(trial, 1)), ("done", lambda trial: task.tell(trial.id, 1)), ("stopped", task.stop),
        ("failed", lambda trial: task.fail(trial, "no")), ("waiting", task.requeue),
    )  # fmt: skip
    for number, (state, end) in enumerate(ends, 1):
        (trial,) = task.ask()
        task.report(trial.id, 1, 3)
        objectives.cut_off(trial)
        task.report(trial.id, 2, 2)
        trial.report(3, 1)
        assert task.trials()[-1].steps == {1: 3.0}
        assert trial._reporter is not None
        trial._reporter._http = task._http
        assert end(trial).state == state
        assert task.trials()[-1].steps == {1: 3.0, 2: 2.0, 3: 1.0} and len(task.trials()) == number
    # Values of a trial that has ended elsewhere do not hold up its outcome.
    (trial,) = task.ask()
    objectives.cut_off(trial)
    trial.report(4, 1)
    assert trial._reporter is not None
    trial._reporter._http = task._http
    node.find(task.id, client="other").tell(trial.id, 1)
    assert task.tell(trial, 1).state == "done" and "its last values by step are left out" in caplog.text
    with pytest.raises(fbo.Unreachable):
        (trial,) = task.ask()
        objectives.cut_off(trial)
        trial.report(1, 1)
        task.tell(trial, 1)
    assert trial._reporter is not None
    trial._reporter._http = task._http
    assert task.tell(trial, 1).steps == {1: 1.0}


def test_values_that_wait_in_workers() -> None:
    result = fbo.minimize(objectives.unsent, LINE, evals=4, workers=2, progress=False)
    assert len(result.trials) == 4
    for trial in result.trials:
        x = float(trial.parameters["x"])
        assert (trial.state, trial.steps) == (("stopped", {1: x}) if x < 0 else ("done", {1: x, 2: x + 1}))


def test_rules_of_a_task(node: fbo.Node) -> None:
    rules: list[tuple[Any, dict[str, Any]]] = [
        (fbo.Asha(), {"type": "asha", "grace_period": 1, "reduction_factor": 3}),
        (
            fbo.Asha(grace_period=2, reduction_factor=4, patience=5, min_delta=0.1),
            {"type": "asha", "grace_period": 2, "reduction_factor": 4, "patience": 5, "min_delta": 0.1},
        ),
        (fbo.Asha(2, 4), {"type": "asha", "grace_period": 2, "reduction_factor": 4}),
        (fbo.Median(grace_period=3, startup_trials=2), {"type": "median", "grace_period": 3, "startup_trials": 2}),
        (fbo.Forecast(grace_period=2), {"type": "forecast", "grace_period": 2, "startup_trials": 5}),
        (fbo.Patience(7), {"type": "none", "grace_period": 1, "patience": 7, "min_delta": 0}),
    ]
    assert all(isinstance(rule, fbo.StopRule) for rule, _ in rules)
    parameters = [{"name": "x", "type": "float", "low": 0, "high": 1}]
    plain = {"name": "rules", "goal": "minimize", "parameters": parameters}
    identity = node.task(plain).id
    node.find(identity).leave()
    for rule, expected in rules:
        task = node.task({**plain, "stop": rule})
        assert task.id == identity  # the rule is this node's own choice
        stored = node._client.get(f"/v1/tasks/{task.id}")["task"]
        assert task.definition["stop"] == stored["stop"] == expected == rule.definition()
        task.leave()
        again = node.task(task.definition)
        assert json.dumps(node._client.get(f"/v1/tasks/{task.id}")["task"]) == json.dumps(stored)
        again.leave()
    with pytest.raises(fbo.Refused, match="reduction_factor"):
        node.task({**plain, "stop": fbo.Asha(reduction_factor=1)})


def test_minimize_stops_early(caplog: pytest.LogCaptureFixture) -> None:
    result = fbo.minimize(objectives.curve, LINE, evals=20, stop=fbo.Asha(), seed=1, progress=False)
    assert len(result.trials) == 20 and result.value < 0.5
    assert 5 <= len(result.stopped) < 20
    for trial in result.trials:
        if trial.state == "stopped":
            assert trial.stop is not None and trial.stop.rule == "asha" and max(trial.steps) < 9
        else:
            assert trial.state == "done" and trial.steps[9] == trial.value
    assert f"{len(result.stopped)} stopped early" in repr(result) and "stop" in result._repr_html_()
    assert caplog.text == ""


def test_a_forecast_stops_early(node: fbo.Node) -> None:
    task = node.task({"name": "line", "goal": "minimize", "parameters": [{"name": "x", "type": "float", "low": 0, "high": 1}], "stop": fbo.Forecast()})
    for value in range(5):  # startup_trials
        (trial,) = task.ask()
        for step in range(1, 5):
            assert task.report(trial, step, value + 1 / step) is None
        task.tell(trial, value + 0.2)
    (trial,) = task.ask()
    decision = task.report(trial, 1, 9.0)
    assert trial.should_stop() and decision is not None
    assert (decision.rule, decision.step) == ("forecast", 1) and "worse than the best outcome 0.2" in decision.reason
    assert decision.forecast is not None and 0.2 < decision.forecast < 9
    assert task.stop(trial).stop == decision


def test_worker_processes_report() -> None:
    result = fbo.minimize(objectives.curve, LINE, evals=12, workers=3, stop=fbo.Asha(), progress=False)
    assert len(result.trials) >= 12 and result.stopped
    assert all(trial.steps for trial in result.trials)


def test_patience_gives_a_value() -> None:
    def f(x: float, trial: fbo.Trial) -> float:
        for step in range(1, 10):
            trial.report(step, x * x + step)
            if trial.should_stop():
                raise fbo.TrialStopped
        raise AssertionError

    result = fbo.minimize(f, LINE, evals=3, stop=fbo.Patience(2), progress=False)
    assert [(trial.state, max(trial.steps)) for trial in result.trials] == [("done", 3)] * 3
    assert result.value == min(trial.steps[3] for trial in result.trials) and not result.stopped


def test_objectives_that_stop_by_themselves(caplog: pytest.LogCaptureFixture) -> None:
    def f(x: float, trial: fbo.Trial) -> float:
        if trial.id == 1:
            raise fbo.TrialStopped
        trial.report(1, x)
        if trial.id == 2:
            raise fbo.TrialPruned("not needed")
        return x

    ended = []
    result = fbo.minimize(f, LINE, evals=3, progress=False, callbacks=[lambda _, trial: ended.append(trial.state)])
    assert ended == ["failed", "stopped", "done", "done"]
    (stopped,) = result.stopped
    assert stopped.stop == fbo.Stop("program", 1, "not needed")
    assert "no values by step" in caplog.text and "expected Trial.report before it" in caplog.text


def test_a_parameter_with_the_name_trial() -> None:
    seen = []

    def f(trial: float, x: float) -> float:
        seen.append(trial)
        return x

    fbo.minimize(f, [fbo.Float("trial", 0, 1), *LINE], evals=2, progress=False)
    assert all(isinstance(one, float) for one in seen)


def test_functions_that_take_the_trial() -> None:
    class Called:
        def __call__(self, x: float, trial: fbo.Trial) -> float:
            return x

    def optional(x: float, *, trial: fbo.Trial | None = None) -> float:
        return x

    def bound(x: float, trial: int) -> float:
        return x

    assert all(takes_trial(f) for f in (objectives.curve, Called(), optional))
    functions: list[Any] = [functools.partial(bound, trial=3), objectives.bowl, lambda **trial: 0.0, lambda *trial: 0.0, max, print]
    assert not any(takes_trial(f) for f in functions)


def test_wrong_rules_and_rules_of_others(node: fbo.Node, caplog: pytest.LogCaptureFixture) -> None:
    for given in ("asha", {"type": "asha"}, 3):
        with pytest.raises(fbo.BadInput, match=r"expected fbo.Asha\(…\)"):
            fbo.minimize(abs, LINE, stop=given)  # type: ignore[arg-type]
    with pytest.raises(fbo.BadInput, match="which has its rule already"):
        fbo.minimize(abs, BOWL, stop=fbo.Asha())
    with pytest.raises(fbo.Refused, match="grace_period"):
        fbo.minimize(abs, LINE, stop=fbo.Asha(grace_period=0))
    for stop in (fbo.Asha(), fbo.Median()):
        fbo.minimize(lambda x: x, LINE, task="mine", node=node, stop=stop, evals=1, progress=False)
    assert "serves the task 'mine' with the rule stop={" in caplog.text and "'asha'}, not {'type': 'median'" in caplog.text


def test_past_trials_with_steps(node: fbo.Node) -> None:
    task = node.task(BOWL)
    design = {"x": 0.5, "units": 2}
    past: list[dict[str, Any]] = [
        {"parameters": design, "outcome": {"value": 1.0}, "steps": {1: 3.0, 2: 1.0}},
        {"parameters": design, "stopped": "pruned at step 1", "steps": {1: 9.0}},
    ]
    assert (task.add_trials(past), task.add_trials(past)) == (2, 0)
    done, stopped = task.trials()
    assert (done.state, done.steps) == ("done", {1: 3.0, 2: 1.0})
    assert (stopped.state, stopped.steps, stopped.stop) == ("stopped", {1: 9.0}, fbo.Stop("program", 1, "pruned at step 1"))


def test_threads_report_side_by_side(node: fbo.Node) -> None:
    task = node.task(BOWL)
    trials = task.ask(4)
    threads = [threading.Thread(target=lambda one=one: [one.report(step, step) for step in range(1, 21)]) for one in trials]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(trial.steps) for trial in task.trials()] == [20] * 4


def test_asyncio(binary: str, short_dir: Path) -> None:
    async def run() -> fbo.Trial:
        async with fbo.aio.Node(short_dir, binary=binary, flags=LOCAL) as node:
            task = await node.task(HALVING)
            good, bad = await task.ask(2)
            assert await task.report(good, 1, 1) is None
            assert await task.report(bad, 1, 2) is not None
            return await task.stop(bad)

    assert asyncio.run(run()).state == "stopped"
