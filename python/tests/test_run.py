"""Constraints, metrics, callbacks, the timeout and interrupts of minimize and maximize."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import objectives
import pytest

import fbo

LINE = [fbo.Float("x", -1, 1)]


@pytest.fixture(autouse=True)
def program(binary: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FBO_NODE", binary)


@pytest.mark.parametrize("workers", [1, 2])
def test_constraints_and_metrics(workers: int) -> None:
    limits: dict[str, Any] = {"latency.ms": "<= 0.25", "accuracy": (0.1, None), "ok": bool}
    result = fbo.minimize(objectives.limited, LINE, constraints=limits, evals=10, workers=workers, seed=1, progress=False)
    for trial in result.trials:
        x = float(trial.parameters["x"])
        assert trial.constraints == {"latency.ms": x, "accuracy": x + 1, "ok": x > -0.8}
        assert trial.metrics == {"memory/MB": x + 100, "cached": 1}
        assert ("latency.ms" in trial.violated) == (x > 0.25) and ("ok" in trial.violated) == (x <= -0.8)
    feasible = [trial.value for trial in result.trials if not trial.violated and trial.value is not None]
    assert result.value == min(feasible) and any(trial.violated for trial in result.trials)
    assert result.rows[0]["constraints.latency.ms"] == result.trials[0].constraints["latency.ms"]


@pytest.mark.parametrize(
    "returned", [lambda x: (x * x, {"m": x, "n": 1}), lambda x: {"value": x * x, "m": x, "n": 1}], ids=["tuple", "mapping"]
)
def test_forms_of_an_outcome(returned: Any) -> None:
    result = fbo.maximize(returned, LINE, evals=3, progress=False)
    for trial in result.trials:
        x = float(trial.parameters["x"])
        assert (trial.value, trial.metrics) == (x * x, {"m": x, "n": 1})


def test_outcomes_that_fail_their_trial(node: fbo.Node, caplog: pytest.LogCaptureFixture) -> None:
    outcomes: Sequence[tuple[Any, str]] = (
        ({"m": 1}, "f returned {'m': 1}: expected the objective under the key 'value'"),
        ((None, {"c": 1}), "f returned the value None: expected a finite number"),
        ((1.0, {"d": 1}), "f returned no output 'c': expected one for each constraint"),
        ((1.0, {"c": float("nan")}), "constraint: output 'c' is nan: expected a finite number"),
        ((1.0, {"c": 0, **{f"m{i}": 1 for i in range(100)}}), "100 metrics"),
    )
    rest = iter([one for one, _ in outcomes])
    result = fbo.minimize(
        lambda x: next(rest, (x, {"c": 0, "bad": float("inf")})),
        LINE, constraints={"c": "<= 1"}, task="fails", node=node, evals=2, progress=False,
    )  # fmt: skip
    reasons = [trial.reason or "" for trial in result.trials if trial.state == "failed"]
    for reason, (_, expected) in zip(reasons, outcomes, strict=True):
        assert expected in reason
    assert "metric: output 'bad' is inf: expected a finite number; it is left out" in caplog.text
    assert all(not trial.metrics for trial in result.trials)


def test_no_feasible_trial() -> None:
    with pytest.raises(fbo.Failed, match="no trial satisfies all constraints") as failed:
        fbo.minimize(lambda x: (x, {"c": 2}), LINE, constraints={"c": "<= 1"}, evals=3, progress=False)
    assert [trial.violated for trial in failed.value.trials] == [("c",)] * 3


def test_a_task_with_constraints(node: fbo.Node) -> None:
    task = {
        "name": "limited",
        "goal": "minimize",
        "parameters": [{"name": "x", "type": "float", "low": -1, "high": 1}],
        "constraints": [{"name": "c", "low": 0}],
    }
    result = fbo.minimize(lambda x: (x, {"c": x}), task, node=node, evals=4, progress=False)
    assert result.value >= 0
    with pytest.raises(fbo.BadInput, match="has its constraints already"):
        fbo.minimize(lambda x: x, task, constraints={"c": "<= 1"}, node=node, progress=False)


def test_wrong_arguments_are_named() -> None:
    cases: Sequence[tuple[str, dict[str, Any]]] = (
        ("timeout is 0: expected a number of seconds above 0", {"timeout": 0}),
        ("timeout is nan", {"timeout": float("nan")}),
        ("timeout is '5'", {"timeout": "5"}),
        ("callbacks is <function", {"callbacks": lambda run, trial: None}),
        (r"callbacks is \[3\]: expected a list of functions", {"callbacks": [3]}),
        ("constraints is 'c <= 1': expected a dictionary", {"constraints": "c <= 1"}),
        ("constraint 'c' is '< 1': expected '<= NUMBER'", {"constraints": {"c": "< 1"}}),
        ("constraint 'c' is 3: expected '<= NUMBER'", {"constraints": {"c": 3}}),
        (r"constraint 'c' is \(None, None\): expected", {"constraints": {"c": (None, None)}}),
        (r"constraint 'c' is \(2, 1\): expected low up to high", {"constraints": {"c": (2, 1)}}),
        ("constraint 'c': high is 'fast': expected a finite number", {"constraints": {"c": "<= fast"}}),
        ("constraint 'value': expected another name", {"constraints": {"value": "<= 1"}}),
    )
    for match, given in cases:
        with pytest.raises(fbo.BadInput, match=match):
            fbo.minimize(objectives.bowl, LINE, progress=False, **given)


@pytest.mark.parametrize("workers", [1, 2])
def test_callbacks_see_each_trial_and_can_stop(workers: int) -> None:
    seen: list[fbo.Trial] = []

    def note(run: fbo.Run, trial: fbo.Trial) -> None:
        seen.append(trial)
        assert run.trials == seen
        values = [one.value for one in seen if one.value is not None]
        assert (None if run.best is None else run.best.value) == (min(values) if values else None)
        if values:
            assert run.result().value == min(values)

    def stop(run: fbo.Run, trial: fbo.Trial) -> None:
        if len(run.trials) == 4:
            run.stop()

    result = fbo.minimize(objectives.fails_right, LINE, workers=workers, callbacks=[note, stop], seed=1, progress=False)
    assert 4 <= len(seen) < 4 + workers
    ended = {trial.id: trial for trial in result.trials if trial.state in ("done", "failed")}
    assert {trial.id: (trial.state, trial.value, trial.reason) for trial in seen} == {
        number: (trial.state, trial.value, trial.reason) for number, trial in ended.items()
    }
    assert {trial.state for trial in seen} == {"done", "failed"}


def test_an_exception_in_a_callback_ends_the_call(node: fbo.Node) -> None:
    def wrong(run: fbo.Run, trial: fbo.Trial) -> None:
        raise LookupError("of the callback")

    with pytest.raises(LookupError, match="of the callback"):
        fbo.minimize(lambda x: x, LINE, task="kept", node=node, callbacks=[wrong], progress=False)
    assert [trial.state for trial in node.find("kept").trials()] == ["done"]


@pytest.mark.parametrize("workers", [1, 2])
def test_no_evaluation_starts_after_the_timeout(workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STARTED", str(tmp_path))
    begin = time.time()
    result = fbo.minimize(objectives.half_a_second, LINE, evals=100, timeout=4, workers=workers, progress=False)
    starts = [float(path.read_text()) for path in tmp_path.iterdir()]
    assert max(starts) < begin + 15 and len(starts) < 100, "evaluations started after the timeout"
    assert len(starts) == len([trial for trial in result.trials if trial.state == "done"]), "all that started have finished"


def test_an_interrupt_has_the_result_so_far() -> None:
    calls: list[float] = []

    def f(x: float) -> float:
        calls.append(x)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return x * x

    with pytest.raises(KeyboardInterrupt) as interrupt:
        fbo.minimize(f, LINE, progress=False)
    assert isinstance(interrupt.value, fbo.Interrupted) and interrupt.value.result is not None
    result = interrupt.value.result
    assert result.value == min(x * x for x in calls[:3])
    assert [trial.state for trial in result.trials] == ["done"] * 3 + ["waiting"]
    calls = [0, 0, 0]
    with pytest.raises(fbo.Interrupted) as early:
        fbo.minimize(f, LINE, progress=False)
    assert early.value.result is None


def test_the_example_of_the_docstring() -> None:
    code = (fbo.minimize.__doc__ or "").split("```python\n")[1].split("```")[0]
    lines = "\n".join(line[8:] for line in code.splitlines())
    here = Path(__file__).parent
    environment = {**os.environ, "PYTHONPATH": str(here.parent / "src")}
    ran = subprocess.run([sys.executable, "-c", f"import fbo\n{lines}"], env=environment, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0 and re.search("'depth': [1-7]}", ran.stdout), ran.stderr
