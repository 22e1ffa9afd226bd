"""Several objectives: the calls, the outcomes, the front."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

import fbo

TRADE = [fbo.Objective("error"), fbo.Objective("speed", "maximize", 0)]
SPACE = {"x": (0, 1)}
TASK = {"name": "trade", "objectives": TRADE, "parameters": [{"name": "x", "type": "float", "low": 0, "high": 1}], "strategy": {"type": "alone"}}


def trade(x: float) -> dict[str, float]:
    """Return two objectives between which the front is all of x below .5."""
    return {"error": (x - 0.5) ** 2, "speed": 1 - x, "memory": 3.0}


def fronts(trials: list[fbo.Trial]) -> list[int]:
    """Return the IDs of the front of TRADE by all pairs, the best error first."""
    done = [trial for trial in trials if trial.value is not None]

    def dominates(a: fbo.Trial, b: fbo.Trial) -> bool:
        assert a.value is not None and b.value is not None
        pairs = [(a.value, b.value), (-a.metrics["speed"], -b.metrics["speed"])]
        return all(x <= y for x, y in pairs) and any(x < y for x, y in pairs)

    front = [one for one in done if not any(dominates(other, one) for other in done)]
    return [one.id for one in sorted(front, key=lambda one: one.value or 0.0)]


@pytest.mark.parametrize("whole", [False, True])
def test_front_of_a_function(node: fbo.Node, whole: bool) -> None:
    shown: list[int] = []
    keywords: dict[str, Any] = {} if whole else {"objectives": TRADE, "task": "trade"}
    space: Any = TASK if whole else SPACE
    result = fbo.minimize(trade, space, node=node, evals=8, seed=3, progress=False, callbacks=[lambda run, trial: shown.append(trial.id)], **keywords)
    assert shown == list(range(1, 9)) and result.objectives == tuple(TRADE)
    assert [one.id for one in result.front] == fronts(list(result.trials)) and len(result.front) > 1
    assert result.value == min(one.value for one in result.trials if one.value is not None) == result.front[0].value
    assert all(set(one.metrics) == {"speed", "memory"} for one in result.trials)
    assert str(result).startswith(f"Pareto front: {len(result.front)} designs\ntrial {result.front[0].id}: error ")
    assert f"{len(result.front)} designs on the Pareto front" in repr(result) and "Pareto front" in result._repr_html_()


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        ({"error": 0.5}, "missing objective 'speed': expected a number for each of 'error', 'speed'"),
        ({"speed": 0.5}, "missing objective 'error': expected a number for each of 'error', 'speed'"),
        ({"x": 1}, "missing objectives 'error', 'speed'"),
        (0.5, "missing objective 'speed'"),
        ({"error": 0.5, "speed": math.nan}, "objective: output 'speed' is nan: expected a finite number"),
        ({"error": math.inf, "speed": 1}, "objective: output 'error' is inf"),
        ((math.nan, {"speed": 1}), "f returned the value nan"),
        ({"error": 0.5, "speed": True}, "objective 'speed' is True: expected a finite number"),
    ],
)
def test_wrong_outcomes_fail_with_the_name(binary: str, monkeypatch: pytest.MonkeyPatch, returned: Any, reason: str) -> None:
    monkeypatch.setenv("FBO_NODE", binary)
    with pytest.raises(fbo.Failed) as failed:
        fbo.minimize(lambda x: returned, SPACE, objectives=TRADE, evals=2, max_failures=1, progress=False)
    assert reason in str(failed.value)


def test_forms_of_outcomes(node: fbo.Node) -> None:
    task = node.task(TASK)
    assert task.objectives == tuple(TRADE) and task.goal == "minimize"
    assert node.tasks()[0]["objectives"] == ["error", "speed"]
    (trial,) = task.ask()
    for wrong in ({"error": 0.5}, {"error": 0.5, "speed": 1, "sped": 2}, 0.5):
        with pytest.raises(fbo.BadInput, match="objective 's"):
            task.tell(trial, wrong)
    assert task.tell(trial, {"error": 0.5, "speed": 2}, metrics={"memory": 3}).metrics == {"speed": 2, "memory": 3}
    (trial,) = task.ask()
    assert task.tell(trial, 0.25, metrics={"speed": 1}).value == 0.25
    (trial,) = task.ask()
    failed = task.tell(trial, 0.25, metrics={"speed": math.nan})
    assert (failed.state, failed.reason) == ("failed", "objective 'speed' is nan: expected a finite number")
    assert task.add_trials([{"parameters": {"x": 0.5}, "outcome": {"value": 0.75, "metrics": {"speed": 1}}}]) == 1
    with pytest.raises(fbo.Refused, match="'?\"?speed\"? is missing"):
        task.add_trials([{"parameters": {"x": 0.25}, "outcome": {"value": 0.75}}])
    assert [one.id for one in task.front()] == [2, 1] == fronts(task.trials())
    best = task.best()
    assert best is not None and best.id == 2


def test_dictionaries_need_several_objectives(node: fbo.Node) -> None:
    task = node.task({"name": "one", "goal": "minimize", "parameters": [{"name": "x", "type": "float", "low": 0, "high": 1}]})
    (trial,) = task.ask()
    assert task.tell(trial, {"error": 1}).reason == "value is {'error': 1}: expected a finite number"
    assert task.front() == [] and task.objectives == ()


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"objectives": [fbo.Objective("a")]}, "1 given: expected 2 to 4"),
        ({"objectives": [fbo.Objective("a"), fbo.Objective("a")]}, "expected different names"),
        ({"objectives": ["a", "b"]}, r"expected a list of fbo.Objective\("),
        ({"objectives": [fbo.Objective("a", "maximize"), fbo.Objective("b")]}, "expected 'minimize', or a call of fbo.maximize"),
        ({"objectives": TRADE, "stop": fbo.Asha()}, "expected no rule with several objectives"),
    ],
)
def test_wrong_arguments(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(fbo.BadInput, match=message):
        fbo.minimize(trade, SPACE, **keywords)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("a b",), "expected a name"), (("",), "expected a name"), (("a", "least"), "expected 'minimize' or 'maximize'"), (("a", "minimize", math.nan), "expected a finite number")],
)
def test_wrong_objectives(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(fbo.BadInput, match=message):
        fbo.Objective(*arguments)


def test_front_of_all_orders() -> None:
    """The front does not depend on the order of trials, except that of equal ones it has the first."""
    from fbo.result import front_of

    values = [(0.5, 4.0), (0.6, 3.0), (0.9, 8.0), (0.5, 4.0), (0.5, 3.0)]
    for order in itertools.permutations(range(len(values))):
        trials = [
            fbo.Trial(i + 1, {}, "done", value=values[k][0], metrics={"speed": values[k][1]}, violated=("heat",) if k == 4 else ())
            for i, k in enumerate(order)
        ]
        assert [one.id for one in front_of(TRADE, trials)] == [1 + min(order.index(0), order.index(3)), 1 + order.index(2)]
