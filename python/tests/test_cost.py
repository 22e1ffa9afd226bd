"""Costs of trials, and budgets of cost."""

from __future__ import annotations

import logging
import math
from pathlib import Path
from typing import Any

import pytest
from conftest import BOWL, LOCAL

import fbo

LINE = [fbo.Float("x", -1, 1)]


@pytest.fixture(autouse=True)
def program(binary: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FBO_NODE", binary)


def test_costs_of_trials(node: fbo.Node, caplog: pytest.LogCaptureFixture) -> None:
    task = node.task(BOWL)
    done, failed, stopped, wrong = task.ask(4)
    for trial in (done, failed, stopped):
        trial.report(1, 1.0, cost=1.5)
    task.report(done, 2, 1.0, cost=2)
    assert task.tell(done, 0.5, cost=2.5).cost == 2.5
    assert task.fail(failed, "no memory", cost=1).cost == 1.5
    assert task.stop(stopped, "enough", cost=3).cost == 3.0
    wrong.report(1, 1.0, cost=-1)
    assert task.tell(wrong, 0.5, cost=math.nan).cost is None
    assert [text for text in caplog.messages if "cost" in text] == [
        "trial 4: cost at step 1 is -1.0: expected a finite number of 0 or more; it is left out",
        "trial 4: cost is nan: expected a finite number; it is left out",
    ]
    assert [row["cost"] for row in task.rows()] == [2.5, 1.5, 3.0, None]
    past = {"parameters": done.parameters, "outcome": {"value": 1.0}, "cost": 7}
    assert task.add_trials([past]) == 1 and task.trials()[-1].cost == 7.0
    assert task.status()["progress"]["cost"] == {"spent": pytest.approx(7 + 7 / 3), "mean": pytest.approx(7 / 3), "known": 3}


@pytest.mark.parametrize("workers", [1, 2])
def test_budget(workers: int, short_dir: Path) -> None:
    node = fbo.Node(short_dir, flags=LOCAL)
    for budget, count in ((11, 6), (11, 6), (20, 10)):
        result = fbo.minimize(priced, LINE, task="priced", node=node, cost=budget, workers=workers, progress=False)
        assert [trial.cost for trial in result.trials] == [2.0] * count
        assert all(trial.metrics == {"seconds": 1.0} for trial in result.trials)
    assert len(fbo.minimize(priced, LINE, task="priced", node=node, cost=100, evals=11, progress=False).trials) == 11


def priced(x: float) -> dict[str, float]:
    return {"value": x * x, "cost": 2.0, "seconds": 1.0}


def test_values_without_costs_end_the_call(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(fbo.Failed, match=r"(?s)cost=10: 3 values have no cost; expected f to return it under the key 'cost'") as failed:
        fbo.minimize(lambda x: x, LINE, cost=10, progress=False)
    assert len(failed.value.trials) == 3
    caplog.set_level(logging.WARNING)
    result = fbo.minimize(lambda x: (x, {"cost": "much"}), LINE, evals=1, progress=False)
    assert result.trials[0].cost is None and "output 'cost' is a text" in caplog.text


def test_constraint_of_this_name_keeps_its_meaning() -> None:
    result = fbo.minimize(lambda x: (x, {"cost": 1 + x}), LINE, constraints={"cost": "<= 1.5"}, evals=3, progress=False)
    assert all(trial.cost is None and "cost" in trial.constraints for trial in result.trials)


@pytest.mark.parametrize("given", [0, -1, math.nan, math.inf, True, "7"])
def test_wrong_budgets(given: Any) -> None:
    with pytest.raises(fbo.BadInput, match="cost is .*: expected a finite number above 0"):
        fbo.minimize(lambda x: x, LINE, cost=given)
