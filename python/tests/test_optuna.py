"""Studies of Optuna on real nodes."""

from __future__ import annotations

import copy
import json
import logging
import math
import multiprocessing
import os
import pickle
import re
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import optuna
import pytest
from conftest import BOWL, LOCAL, assert_no_node_is_left, wait_until
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState, create_trial

import fbo
from fbo.optuna import Pruner, Sampler

ROOT = Path(__file__).resolve().parents[2]

optuna.logging.set_verbosity(optuna.logging.ERROR)

QUICK: dict[str, Any] = {"strategy": {"type": "ts", "initial_designs": 2}, "surrogate": {"type": "rff", "features": 16}}
X: dict[str, BaseDistribution] = {"x": FloatDistribution(-10, 10)}


def quick(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, **QUICK, **more}


def quadratic(trial: optuna.Trial) -> float:
    x = trial.suggest_float("x", -10, 10)
    return (x - 2) ** 2


def known(sampler: Sampler) -> list[fbo.Trial]:
    assert sampler.task is not None
    return sampler.task.trials()


def marks(study: optuna.Study) -> list[dict[str, Any] | None]:
    return [trial.user_attrs.get("fbo") for trial in study.trials]


def test_the_tutorial(node: fbo.Node) -> None:
    study = optuna.create_study(sampler=Sampler("tutorial", node, search_space=X))
    study.optimize(quadratic, n_trials=25)
    assert study.best_value < 0.1, study.best_params
    best = node.find("tutorial").best()
    assert best is not None and best.parameters == study.best_params and best.value == study.best_value


def test_a_node_that_runs_is_left(node: fbo.Node, monkeypatch: pytest.MonkeyPatch) -> None:
    assert node.dir is not None
    monkeypatch.setenv("FBO_DATA_DIR", str(node.dir))
    sampler = Sampler("tutorial", search_space=X)
    study = optuna.create_study(sampler=sampler)
    study.ask(X)
    sampler.close()
    assert [trial.state for trial in node.find("tutorial").trials()] == ["waiting"]


def test_a_node_that_was_started_is_ended(binary: str, short_dir: Path) -> None:
    with Sampler(quick("tutorial"), fbo.Node(short_dir, binary=binary, flags=LOCAL), search_space=X) as sampler:
        study = optuna.create_study(sampler=sampler)
        study.optimize(quadratic, n_trials=2)
        study.ask(X)
        assert (short_dir / "control.sock").exists()
    assert not (short_dir / "control.sock").exists()
    with fbo.Node(short_dir, binary=binary, flags=LOCAL) as node:
        assert [trial.state for trial in node.find("tutorial").trials()] == ["done", "done", "waiting"]


def test_a_program_ends_the_node_that_it_started(binary: str, short_dir: Path) -> None:
    program = """
import sys, optuna, fbo, fbo.optuna
node = fbo.Node(sys.argv[1], binary=sys.argv[2], flags=sys.argv[3:])
space = {"x": optuna.distributions.FloatDistribution(-10, 10)}
study = optuna.create_study(sampler=fbo.optuna.Sampler("program", node, search_space=space))
study.ask(space)
assert node.started
"""
    line = [sys.executable, "-c", program, str(short_dir), binary, *LOCAL]
    subprocess.run(line, check=True, timeout=120, env={**os.environ, "PYTHONPATH": str(ROOT / "python" / "src")})
    assert any(short_dir.iterdir())
    assert not (short_dir / "control.sock").exists()


SPACE: dict[str, BaseDistribution] = {
    "float": FloatDistribution(0, 1),
    "log": FloatDistribution(1e-5, 1, log=True),
    "steps": FloatDistribution(0, 1, step=0.1),
    "int": IntDistribution(1, 9),
    "even": IntDistribution(2, 10, step=2),
    "logint": IntDistribution(1, 1000, log=True),
    "texts": CategoricalDistribution(["sgd", "adam"]),
    "truth": CategoricalDistribution([True, False]),
    "numbers": CategoricalDistribution([64, 16, 0.5]),
    "anything": CategoricalDistribution([None, True, 1.5, "null", ""]),
    "single": FloatDistribution(3, 3),
    "only": CategoricalDistribution(["this"]),
}


def test_all_distributions(node: fbo.Node) -> None:
    sampler = Sampler(quick("all"), node, search_space=SPACE)
    study = optuna.create_study(sampler=sampler)
    for _ in range(12):
        trial = study.ask(SPACE)
        assert trial.params.keys() == SPACE.keys()
        for name, value in trial.params.items():
            assert SPACE[name]._contains(SPACE[name].to_internal_repr(value)), (name, value)
        assert trial.params["single"] == 3 and trial.params["only"] == "this"
        assert type(trial.params["int"]) is int and type(trial.params["float"]) is float
        assert type(trial.params["truth"]) is bool
        study.tell(trial, trial.params["float"])
    trials = known(sampler)
    assert [trial.state for trial in trials] == ["done"] * 12
    assert sampler.task is not None and {"name": "single", "type": "float", "value": 3} in sampler.task.definition["parameters"]
    for mine, theirs in zip(study.trials, trials, strict=True):
        for name in ("float", "log", "steps", "int", "even", "logint", "texts", "truth", "numbers", "single", "only"):
            assert mine.params[name] == theirs.parameters[name]
        assert theirs.parameters["anything"] == json.dumps(mine.params["anything"])


def test_every_choice_comes_and_goes(node: fbo.Node) -> None:
    anything = CategoricalDistribution([None, True, 1.5, "null", ""])
    start = {"strategy": {"type": "ts", "initial_designs": 60}}  # spread over the choices
    sampler = Sampler(quick("choices", **start), node, search_space={"c": anything, "x": FloatDistribution(0, 1)})
    study = optuna.create_study(sampler=sampler)
    for _ in range(60):
        trial = study.ask({"c": anything, "x": FloatDistribution(0, 1)})
        study.tell(trial, 0.0)
    for choice in anything.choices:
        study.enqueue_trial({"c": choice, "x": 0.5})
        study.tell(study.ask({"c": anything, "x": FloatDistribution(0, 1)}), 0.0)
    assert {json.dumps(trial.params["c"]) for trial in study.trials[:60]} == {"null", "true", "1.5", '"null"', '""'}
    assert [json.dumps(trial.params["c"]) for trial in study.trials] == [t.parameters["c"] for t in known(sampler)]


def test_lists_and_dictionaries_are_choices_too(node: fbo.Node) -> None:
    choices: list[Any] = [[1, 2], {"layers": [3], "act": "relu"}]
    sampler = Sampler(quick("nested"), node, n_startup_trials=2)
    study = optuna.create_study(sampler=sampler)

    def objective(trial: optuna.Trial) -> float:
        return float(len(trial.suggest_categorical("c", choices)))

    with pytest.warns(UserWarning, match="persistent storage"):
        study.optimize(objective, n_trials=4)
    assert {trial.parameters["c"] for trial in known(sampler)} <= {"[1, 2]", '{"act": "relu", "layers": [3]}'}
    assert marks(study)[3] is not None and study.trials[3].params["c"] in choices


def test_the_order_of_names_and_choices_does_not_matter(node: fbo.Node) -> None:
    def task_of(space: dict[str, BaseDistribution]) -> str:
        sampler = Sampler(quick("order"), node, search_space=space)
        optuna.create_study(sampler=sampler).ask()
        assert sampler.task is not None
        return sampler.task.id

    turned: dict[str, BaseDistribution] = {
        name: CategoricalDistribution(one.choices[::-1]) if isinstance(one, CategoricalDistribution) else one
        for name, one in reversed(SPACE.items())
    }
    assert task_of(SPACE) == task_of(turned)


def test_failed_pruned_and_not_finite(node: fbo.Node) -> None:
    def objective(trial: optuna.Trial) -> float:
        trial.suggest_float("x", -10, 10)
        if trial.number == 0:
            raise RuntimeError("diverged")
        if trial.number == 1:
            return math.nan
        if trial.number == 2:
            return math.inf
        if trial.number == 3:
            trial.report(7.0, 4)
            raise optuna.TrialPruned
        return 1.0

    sampler = Sampler(quick("failures"), node, search_space=X)
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=5, catch=(RuntimeError,))
    trials = known(sampler)
    assert [trial.state for trial in trials] == ["failed"] * 3 + ["stopped", "done"]
    reasons = [trial.reason or "" for trial in trials[:3]]
    assert reasons[0].startswith("failed") and reasons[1].startswith("failed")
    assert "inf, which is not finite" in reasons[2]
    reason = f"pruned at step 4 (trial 3 of study {study.study_name})"
    assert (trials[3].stop, trials[3].steps) == (fbo.Stop("program", 4, reason), {4: 7.0})


def test_pruned_trials_can_tell_their_last_value(node: fbo.Node) -> None:
    def objective(trial: optuna.Trial) -> float:
        trial.suggest_float("x", -10, 10)
        if trial.number == 0:
            trial.report(7.0, 4)
        raise optuna.TrialPruned

    sampler = Sampler(quick("pruned"), node, search_space=X, pruned="last")
    optuna.create_study(sampler=sampler, pruner=optuna.pruners.HyperbandPruner()).optimize(objective, n_trials=2)
    first, second = known(sampler)
    assert (first.state, first.value, first.metrics) == ("done", 7, {"pruned_at_step": 4})
    assert second.state == "failed"


def epochs(trial: optuna.Trial) -> float:
    """Report nine values that approach the outcome. Each trial is worse than those before it."""
    trial.suggest_float("x", -10, 10)
    for step in range(9):
        trial.report(trial.number + 9 / (step + 1), step)
        if trial.should_prune():
            raise optuna.TrialPruned
    return trial.number + 1.0


def steps_of(trial: optuna.trial.FrozenTrial) -> dict[int, float]:
    """Return the values by step that the task has; the study counts from 0."""
    return {step + 1: value for step, value in trial.intermediate_values.items()}


@pytest.mark.parametrize("pruner", [Pruner(), optuna.pruners.MedianPruner(n_startup_trials=2, n_warmup_steps=1)])
def test_pruned_trials_are_stopped(node: fbo.Node, pruner: optuna.pruners.BasePruner, caplog: pytest.LogCaptureFixture) -> None:
    sampler = Sampler(quick("epochs", stop=fbo.Asha()), node, search_space=X)
    study = optuna.create_study(sampler=sampler, pruner=pruner)
    study.optimize(epochs, n_trials=15)
    states = {"done": TrialState.COMPLETE, "stopped": TrialState.PRUNED}
    pruned = study.get_trials(states=(TrialState.PRUNED,))
    assert 12 <= len(pruned) < 15
    for mine, theirs in zip(study.trials, known(sampler), strict=True):
        assert states[theirs.state] == mine.state and theirs.steps == steps_of(mine) and theirs.parameters == mine.params
        assert theirs.value == (mine.value if mine.state == TrialState.COMPLETE else None)
        if mine.state == TrialState.PRUNED and isinstance(pruner, Pruner):
            assert theirs.stop is not None and theirs.stop.rule == "asha" and theirs.stop.step == max(theirs.steps)

    # A new task gets all of it as past trials, once.
    for again in (Sampler(quick("again"), node, search_space=X) for _ in range(2)):
        study.sampler = again
        study.tell(study.ask(X), 1.0)
    past = [trial for trial in known(again) if trial.why["source"] == "imported"]
    assert [(states[trial.state], trial.steps, trial.value) for trial in past] == [
        (trial.state, steps_of(trial), trial.value if trial.state == TrialState.COMPLETE else None) for trial in study.trials[:15]
    ]


def test_the_pruner_needs_the_sampler() -> None:
    study = optuna.create_study(pruner=Pruner())
    trial = study.ask()
    trial.report(1, 1)
    with pytest.raises(fbo.BadInput, match="expected fbo.optuna.Sampler"):
        trial.should_prune()


def test_trials_without_a_design_are_not_pruned(node: fbo.Node) -> None:
    sampler = Sampler(quick("learned", stop=fbo.Asha(reduction_factor=2)), node, n_startup_trials=3)
    study = optuna.create_study(sampler=sampler, pruner=Pruner())
    study.optimize(epochs, n_trials=3)
    assert [trial.state for trial in study.trials] == [TrialState.COMPLETE] * 3 and sampler.task is None
    study.optimize(epochs, n_trials=8)
    assert TrialState.PRUNED in [trial.state for trial in study.trials]
    assert [len(trial.steps) for trial in known(sampler)[:3]] == [9] * 3


def test_an_enqueued_design_reports_nothing_of_another(node: fbo.Node) -> None:
    sampler = Sampler(quick("over", stop=fbo.Asha()), node, search_space={**X, "n": IntDistribution(1, 8)})
    study = optuna.create_study(sampler=sampler, pruner=Pruner())

    def objective(trial: optuna.Trial) -> float:
        trial.suggest_int("n", 1, 8)
        return epochs(trial)

    study.enqueue_trial({"x": 2.5})
    study.optimize(objective, n_trials=2)
    held, partly = known(sampler)
    assert (partly.parameters["x"], len(partly.steps), partly.why["source"]) == (2.5, 9, "imported")
    assert held.steps == steps_of(study.trials[1]) and held.parameters == study.trials[1].params


def test_many_values_out_of_order_and_not_finite(node: fbo.Node, caplog: pytest.LogCaptureFixture) -> None:
    def objective(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", -10, 10)
        if trial.number == 0:
            for step in (5, 3, 9):
                trial.report(math.nan if step == 9 else x, step)
                trial.should_prune()
        else:
            for step in range(1, 1202):
                trial.report(x, step)
        return x

    sampler = Sampler(quick("odd"), node, search_space=X)
    study = optuna.create_study(sampler=sampler, pruner=Pruner())
    study.optimize(objective, n_trials=2)
    odd, many = known(sampler)
    assert (odd.state, list(odd.steps)) == ("done", [5])
    assert (many.state, list(many.steps)) == ("done", list(range(1, 1001)))
    assert caplog.text.count("1201 intermediate values; the first 1000 are stored") == 1


def test_another_process_ends_a_pruned_trial(node: fbo.Node) -> None:
    storage = JournalStorage(JournalFileBackend(str(node.dir) + "/study.log"))
    first, second = (Sampler(quick("two"), node, search_space=X) for _ in range(2))
    asked = optuna.create_study(study_name="two", storage=storage, sampler=first).ask(X)
    asked.report(3.0, 1)
    study = optuna.load_study(study_name="two", storage=storage, sampler=second)
    study.tell(study.ask(X), 1.0)
    study.tell(asked.number, state=TrialState.PRUNED)
    assert [(trial.state, trial.steps) for trial in known(second)] == [("stopped", {1: 3.0}), ("done", {})]


def test_enqueued_trials_are_told_as_evaluated(node: fbo.Node) -> None:
    space = {"x": FloatDistribution(-10, 10), "n": IntDistribution(1, 8)}

    def objective(trial: optuna.Trial) -> float:
        return trial.suggest_float("x", -10, 10) ** 2 + trial.suggest_int("n", 1, 8)

    sampler = Sampler(quick("enqueued"), node, search_space=space)
    study = optuna.create_study(sampler=sampler)
    study.enqueue_trial({"x": 1.5, "n": 2})
    study.enqueue_trial({"x": 2.5})
    study.optimize(objective, n_trials=3)
    trials = {trial.id: trial for trial in known(sampler)}
    whole, held, partly = trials[1], trials[2], trials[3]
    assert (whole.parameters, whole.value, whole.why["source"]) == ({"x": 1.5, "n": 2}, 4.25, "imported")
    # The second got the rest of a design, which is evaluated by the third as it was meant.
    assert partly.parameters == {"x": 2.5, "n": held.parameters["n"]} == study.trials[1].params
    assert held.state == "done" and held.parameters == study.trials[2].params
    assert len(trials) == 3


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
def test_another_sampler_may_fix_values(node: fbo.Node) -> None:
    inner = Sampler(quick("fixed"), node, search_space={**X, "y": FloatDistribution(0, 1)})
    study = optuna.create_study(sampler=optuna.samplers.PartialFixedSampler({"x": 1.0}, inner))
    study.optimize(lambda trial: quadratic(trial) + trial.suggest_float("y", 0, 1), n_trials=2)
    asked, first, again, second = known(inner)
    assert [one.reason for one in (asked, again)] == ["the study evaluated another design"] * 2
    assert [one.parameters for one in (first, second)] == [trial.params for trial in study.trials]
    assert first.parameters == {"x": 1.0, "y": asked.parameters["y"]}
    assert [one.value for one in (first, second)] == [trial.value for trial in study.trials]


def test_added_trials_are_past_trials(node: fbo.Node, caplog: pytest.LogCaptureFixture) -> None:
    sampler = Sampler(quick("added"), node, search_space=X)
    study = optuna.create_study(sampler=sampler)
    wide: dict[str, BaseDistribution] = {"x": FloatDistribution(-100, 100)}
    study.add_trial(create_trial(params={"x": 3.0}, distributions=X, value=1.0))
    study.add_trial(create_trial(params={"x": 4.0}, distributions=wide, value=4.0))
    study.add_trial(create_trial(params={"x": 50.0}, distributions=wide, value=9.0))
    study.add_trial(create_trial(params={"x": -3.0}, distributions=X, state=TrialState.FAIL))
    study.add_trial(create_trial(params={"y": 1.0}, distributions={"y": FloatDistribution(0, 2)}, value=9.0))
    study.optimize(quadratic, n_trials=2)
    past = [(t.parameters["x"], t.value, t.state) for t in known(sampler) if t.why["source"] == "imported"]
    assert past == [(3.0, 1.0, "done"), (4.0, 4.0, "done"), (-3.0, None, "failed")]
    assert "50 is not accepted" in caplog.text and "do not have the parameters of the task" in caplog.text
    assert len(known(sampler)) == 5


def test_ask_and_tell(node: fbo.Node) -> None:
    sampler = Sampler(quick("asked"), node, search_space=X)
    study = optuna.create_study(sampler=sampler)
    trials = [study.ask(X) for _ in range(3)]
    assert len({trial.params["x"] for trial in trials}) == 3
    assert [trial.state for trial in known(sampler)] == ["running"] * 3
    study.tell(trials[2], 3.0)
    study.tell(trials[0].number, 1.0)
    study.tell(trials[1], state=TrialState.FAIL)
    assert [(trial.state, trial.value) for trial in known(sampler)] == [("done", 1), ("failed", None), ("done", 3)]
    ask = study.ask()  # suggests nothing, and so holds nothing
    study.tell(ask, 1.0)
    assert len(known(sampler)) == 3


def test_four_threads(node: fbo.Node) -> None:
    together = threading.Barrier(4, timeout=60)

    def objective(trial: optuna.Trial) -> float:
        value = quadratic(trial)
        if trial.number < 4:
            together.wait()  # all four hold a trial
        return value

    sampler = Sampler(quick("threads"), node, search_space=X)
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=12, n_jobs=4)
    trials = {trial.id: trial for trial in known(sampler)}
    # A thread that asks while another tells may be given one design more, which is handed back.
    states = [trial.state for trial in trials.values()]
    assert states.count("done") == 12 and set(states) <= {"done", "waiting"}
    assert len({trial.user_attrs["fbo"]["trial"] for trial in study.trials}) == 12
    for trial in study.trials:
        mark = trial.user_attrs["fbo"]
        assert trials[mark["trial"]].parameters == trial.params
        assert trials[mark["trial"]].value == trial.value


def test_the_space_is_learned_from_the_first_trials(node: fbo.Node, caplog: pytest.LogCaptureFixture) -> None:
    def objective(trial: optuna.Trial) -> float:
        value = quadratic(trial)
        if trial.number >= 4:
            value += trial.suggest_int("late", 1, 3)
        return value

    def run() -> optuna.Study:
        sampler = Sampler(quick("learned"), node, n_startup_trials=3, seed=1)
        study = optuna.create_study(sampler=sampler)
        study.optimize(objective, n_trials=8)
        trials = known(sampler)
        # Those before "late" was seen have its centre; the second task has them all.
        assert [one.parameters for one in trials] == [{"late": 2, **trial.params} for trial in study.trials]
        assert [trial.why["source"] for trial in trials[:5]] == ["imported"] * 5
        assert [trial.value for trial in trials] == [trial.value for trial in study.trials]
        return study

    with caplog.at_level(logging.WARNING, "fbo"):
        study = run()
    assert [mark is None for mark in marks(study)] == [True] * 3 + [False] * 5
    said = [record.message for record in caplog.records]
    assert sum("the task has the parameters of 3 trials: x." in one for one in said) == 1
    assert sum("the task has the parameters of 5 trials: late, x." in one for one in said) == 1
    assert sum("'late' is not in the task" in one for one in said) == 1
    assert study.trials[0].params == {"x": -1.6595599059485195}  # of the seed


def branches(trial: optuna.Trial) -> float:
    if trial.suggest_categorical("branch", ["a", "b"]) == "a":
        return trial.suggest_float("x", 1, 100, log=True)
    return trial.suggest_int("n", 0, 10, step=2) + 1.0


BRANCHES: dict[str, BaseDistribution] = {
    "branch": CategoricalDistribution(["a", "b"]),
    "x": FloatDistribution(1, 100, log=True),
    "n": IntDistribution(0, 10, step=2),
}


@pytest.mark.parametrize("given", [False, True])
def test_conditions_are_learned(given: bool, node: fbo.Node) -> None:
    sampler = Sampler(quick("branches"), node, n_startup_trials=4, seed=3, search_space=BRANCHES if given else None)
    study = optuna.create_study(sampler=sampler)
    study.enqueue_trial({"branch": "a"})
    study.enqueue_trial({"branch": "b"})
    study.optimize(branches, n_trials=12)
    assert sampler.task is not None
    when = {one["name"]: one.get("when") for one in sampler.task.definition["parameters"]}
    assert when == {"branch": None, "n": {"branch": ["b"]}, "x": {"branch": ["a"]}}
    trials = [trial for trial in known(sampler) if trial.state == "done"]
    assert [one.parameters for one in trials] == [pytest.approx(trial.params) for trial in study.trials]
    assert [one.value for one in trials] == [trial.value for trial in study.trials]
    for mark in marks(study)[5:]:
        assert mark is not None and mark["task"] == sampler.task.id


def test_conditions_that_are_given(node: fbo.Node) -> None:
    conditions: dict[str, dict[str, Any]] = {"n": {"branch": ["b"]}, "x": {"branch": "a"}}
    sampler = Sampler(quick("given"), node, search_space=BRANCHES, conditions=conditions)
    study = optuna.create_study(sampler=sampler)
    study.add_trial(create_trial(params={"branch": "a", "x": 2.0}, distributions={k: BRANCHES[k] for k in ("branch", "x")}, value=2))
    study.add_trial(create_trial(params={"branch": "a", "n": 2}, distributions={k: BRANCHES[k] for k in ("branch", "n")}, value=3))
    study.enqueue_trial({"branch": "a"})
    study.enqueue_trial({"branch": "b"})
    study.optimize(branches, n_trials=8)
    assert sampler.task is not None and len(node.tasks()) == 1
    reported = [trial for trial in study.trials if trial.number != 1]
    done = [one for one in known(sampler) if one.state == "done"]
    assert sorted((one.value, sorted(one.parameters)) for one in done) == sorted((t.value, sorted(t.params)) for t in reported)

    trial = study.ask()
    branch = trial.suggest_categorical("branch", ["a", "b"])
    with pytest.raises(fbo.BadInput, match="the task has it only with branch: .*: expected suggestions of these first"):
        trial.suggest_int("n", 0, 10, step=2) if branch == "a" else trial.suggest_float("x", 1, 100, log=True)
    # As part of a whole task they are the same task.
    whole = node.task(sampler.task.definition)
    assert whole.id == sampler.task.id
    optuna.create_study(sampler=Sampler(whole)).optimize(branches, n_trials=1)


def test_conditions_of_every_kind(node: fbo.Node) -> None:
    space: dict[str, BaseDistribution] = {
        "list": CategoricalDistribution([None, 1, "a"]),
        "truth": CategoricalDistribution([True, False]),
        "n": IntDistribution(1, 9),
        **{name: FloatDistribution(0, 1) for name in ("p", "q", "r", "s")},
    }
    conditions: dict[str, dict[str, Any]] = {
        "p": {"list": [None, "a"]}, "q": {"truth": True, "n": (3, None)}, "r": {"n": [1, 9]}, "s": {"p": (0.5, 1)},
    }  # fmt: skip
    sampler = Sampler(quick("kinds"), node, search_space=space, conditions=conditions)
    study = optuna.create_study(sampler=sampler)
    study.ask()
    assert sampler.task is not None
    when = {one["name"]: one["when"] for one in sampler.task.definition["parameters"] if "when" in one}
    assert when == {
        "p": {"list": ['"a"', "null"]}, "q": {"truth": [True], "n": {"low": 3}}, "r": {"n": [1, 9]}, "s": {"p": {"low": 0.5, "high": 1}},
    }  # fmt: skip
    cases: tuple[tuple[dict[str, dict[str, Any]], str], ...] = (
        ({"z": {"n": 1}}, "conditions of 'z': unknown parameter; expected one of"),
        ({"p": {"z": 1}}, "conditions of 'p': unknown parameter 'z'"),
        ({"p": {}}, "expected a dictionary of values"),
        ({"p": {"list": "b"}}, "list: 'b': expected a value of Cat"),
        ({"p": {"n": {"above": 1}}}, "expected a limit: low, high or both"),
    )
    for wrong, match in cases:
        with pytest.raises(fbo.BadInput, match=match):
            Sampler("no", node, search_space=space, conditions=wrong)
    with pytest.raises(fbo.BadInput, match="expected search_space="):
        Sampler("no", node, conditions=conditions)


def test_a_contradiction_leads_to_other_conditions(node: fbo.Node) -> None:
    def objective(trial: optuna.Trial) -> float:
        layers = trial.suggest_int("layers", 1, 4)
        return sum(trial.suggest_float(f"width_{i}", 0, 1) for i in range(layers))

    def when() -> dict[str, Any]:
        assert sampler.task is not None
        return {one["name"]: one["when"] for one in sampler.task.definition["parameters"] if "when" in one}

    sampler = Sampler(quick("layers"), node, n_startup_trials=2, seed=1)
    study = optuna.create_study(sampler=sampler)
    for layers in (1, 4):
        study.enqueue_trial({"layers": layers})
    study.optimize(objective, n_trials=3)
    assert when() == {f"width_{i}": {"layers": {"low": 4}} for i in (1, 2, 3)}
    study.enqueue_trial({"layers": 2})
    study.optimize(objective, n_trials=2)
    assert when()["width_1"] == {"layers": {"low": 2}} and when()["width_3"] == {"layers": {"low": 4}}
    done = [one for one in known(sampler) if one.state == "done"]
    assert [one.parameters for one in done] == [pytest.approx(trial.params) for trial in study.trials]


def test_what_no_parent_explains_is_imputed(node: fbo.Node) -> None:
    def objective(trial: optuna.Trial) -> float:
        value = quadratic(trial)
        return value + trial.suggest_int("n", 0, 10) if trial.number % 2 else value

    sampler = Sampler(quick("imputed"), node, n_startup_trials=4, seed=1)
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=10)
    done = [one for one in known(sampler) if one.state == "done"]
    expected = [{"n": 5, **trial.params} for trial in study.trials]
    assert len(done) == 10 and all(one.parameters in expected for one in done)


def test_a_task_is_learned_of_categories_alone(node: fbo.Node) -> None:
    def objective(trial: optuna.Trial) -> float:
        if trial.suggest_categorical("branch", ["a", "b"]) == "a":
            return 1.0
        return float(trial.suggest_categorical("size", [1, 2, 3]))

    sampler = Sampler(quick("categories"), node, n_startup_trials=2, seed=1)
    study = optuna.create_study(sampler=sampler)
    for branch in ("a", "b"):
        study.enqueue_trial({"branch": branch})
    study.optimize(objective, n_trials=6)
    done = [one for one in known(sampler) if one.state == "done"]
    assert [one.parameters for one in done] == [trial.params for trial in study.trials]


def test_a_range_that_changes_is_drawn_where_the_space_is_learned(node: fbo.Node) -> None:
    def objective(trial: optuna.Trial) -> float:
        return quadratic(trial) + trial.suggest_float("y", 0, 1 if trial.number < 2 else 2)

    sampler = Sampler(quick("ranges"), node, n_startup_trials=2)
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=4)
    done = [trial for trial in known(sampler) if trial.state == "done"]
    expected = [t for t in study.trials if t.params["y"] <= 1]
    assert [(t.parameters, t.value) for t in done] == [(t.params, t.value) for t in expected]


def test_a_study_is_resumed_with_its_task(node: fbo.Node, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/study.db"

    def study() -> tuple[optuna.Study, Sampler]:
        sampler = Sampler(quick("resumed"), node, n_startup_trials=2)
        return optuna.create_study(study_name="s", storage=url, load_if_exists=True, sampler=sampler), sampler

    first, before = study()
    first.optimize(quadratic, n_trials=3)
    first.optimize(lambda trial: trial.suggest_float("other", 0, 1), n_trials=1)  # which makes the task larger
    first.optimize(quadratic, n_trials=1)

    # A value that the node did not receive, as when it is gone, is sent when the study goes on.
    lost = first.ask(X)
    assert before.task is not None
    tell, before.task._http = before.task._http, fbo.Client(socket=tmp_path / "nothing", patience=0)
    with pytest.raises(fbo.Unreachable):
        first.tell(lost, 5.0)
    before.task._http = tell

    second, after = study()
    second.optimize(quadratic, n_trials=1)
    assert after.task is not None and after.task.id == before.task.id
    trials = known(after)
    mark = second.trials[lost.number].user_attrs["fbo"]
    assert trials[mark["trial"] - 1].value == 5.0
    assert mark["task"] == after.task.id and mark["node"] == node.info()["peer_id"]
    assert mark["why"] == {"source": "own"} and mark["chosen"] == "own sample" and mark["from_peers"] is False
    assert [trial.value for trial in trials if trial.state == "done"].count(5.0) == 1
    assert sum(trial.state == "done" for trial in trials) == len(second.trials)


def test_a_study_goes_on_at_another_node(node: fbo.Node, binary: str, tmp_path: Path) -> None:
    study = optuna.create_study(sampler=Sampler(quick("moved"), node, search_space=X))
    study.optimize(quadratic, n_trials=3)
    with fbo.Node(tmp_path, binary=binary, flags=LOCAL) as other:
        moved = study.sampler = Sampler(quick("moved"), other, search_space=X)
        study.optimize(quadratic, n_trials=1)
        trials = known(moved)
    assert [one.why["source"] for one in trials[:3]] == ["imported"] * 3
    assert [(one.parameters, one.value) for one in trials] == [(one.params, one.value) for one in study.trials]


def test_a_trial_that_somebody_else_told_of_is_added(node: fbo.Node, caplog: pytest.LogCaptureFixture) -> None:
    sampler = Sampler(quick("twice"), node, search_space=X)
    study = optuna.create_study(sampler=sampler)
    completed, failed = study.ask(X), study.ask(X)
    other = node.find("twice")
    other.tell(1, 9.0)
    other.tell(2, 9.0)
    study.tell(completed, 1.0)
    study.tell(failed, state=TrialState.FAIL)
    assert "is told otherwise already" in caplog.text and "is no longer held" in caplog.text
    assert [(one.state, one.value) for one in known(sampler)] == [("done", 9), ("done", 9), ("done", 1)]
    assert known(sampler)[2].parameters == completed.params
    sampler.close()  # exceptions in the log's records refer to it


def test_a_killed_study_gives_its_trial_back(node: fbo.Node) -> None:
    dead = Sampler(quick("leases"), node, search_space=X, lease=1)
    design = optuna.create_study(sampler=dead).ask(X).params
    assert dead.task is not None
    dead.task._held.close()  # no more heartbeats, as after a kill
    sampler = Sampler(quick("leases"), node, search_space=X)
    study = optuna.create_study(sampler=sampler)
    wait_until(lambda: study.ask(X).params == design, "nobody gets the trial")


KILLED = """
import os, signal, sys, optuna, fbo, fbo.optuna
space = {"x": optuna.distributions.FloatDistribution(-10, 10)}
sampler = fbo.optuna.Sampler({"name": "killed"}, sys.argv[1], search_space=space)
study = optuna.create_study(study_name="s", storage=sys.argv[2], load_if_exists=True, sampler=sampler)
study.ask(space)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_program_leaves_no_running_trial(node: fbo.Node, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/study.db"
    sampler = Sampler({"name": "killed"}, node, search_space=X)
    study = optuna.create_study(study_name="s", storage=url, sampler=sampler)
    mine = study.ask(X)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python" / "src")}
    subprocess.run([sys.executable, "-c", KILLED, str(node.dir), url], env=environment, timeout=120)
    assert [trial.state for trial in study.trials] == [TrialState.RUNNING] * 2
    again = Sampler({"name": "killed"}, node, search_space=X)
    resumed = optuna.load_study(study_name="s", storage=url, sampler=again)
    resumed.ask(X)
    assert [trial.state for trial in resumed.trials] == [TrialState.RUNNING, TrialState.FAIL, TrialState.RUNNING]
    study.tell(mine, 1.0)


def test_heartbeats_keep_a_trial(node: fbo.Node) -> None:
    sampler = Sampler(quick("alive"), node, search_space=X, lease=2)
    study = optuna.create_study(sampler=sampler)
    trial = study.ask(X)
    task = sampler.task
    assert task is not None

    def lease() -> str:
        shown = task._http.get(f"{task._path}/trials/1")
        assert shown["attempts"] == 1 and shown["client"] == task.client
        return str(shown["lease_ends"])

    begin = lease()
    wait_until(lambda: lease() > begin, "the lease is not kept")
    study.tell(trial, 1.0)
    assert known(sampler)[0].state == "done"


def test_one_direction_which_is_the_goal(node: fbo.Node) -> None:
    several = optuna.create_study(directions=["minimize"] * 5, sampler=Sampler("five", node, search_space=X))
    with pytest.raises(fbo.BadInput, match="has 5 directions: expected at most 4"):
        several.optimize(lambda trial: (quadratic(trial),) * 5, n_trials=1)
    with pytest.raises(fbo.BadInput, match=r"has the goals \['minimize'\], the study the directions \['minimize', 'maximize'\]"):
        optuna.create_study(directions=["minimize", "maximize"], sampler=Sampler(BOWL, node)).ask()
    assert node.tasks() == []
    for task in (BOWL, {"name": "bowl", "goal": "minimize"}):
        up = optuna.create_study(direction="maximize", sampler=Sampler(task, node))
        with pytest.raises(fbo.BadInput, match="'bowl' has the goal 'minimize', the study the direction 'maximize'"):
            up.ask()
        assert node.tasks() == []
    up = optuna.create_study(direction="maximize", sampler=Sampler(quick("up"), node, search_space=X))
    up.ask()
    assert node.find("up").goal == "maximize"


def test_a_distribution_that_does_not_fit(node: fbo.Node) -> None:
    sampler = Sampler(node.task(BOWL))
    study = optuna.create_study(sampler=sampler)

    def objective(trial: optuna.Trial) -> float:
        return trial.suggest_float("x", -2, 2) + trial.suggest_int("units", 1, 9)

    with pytest.raises(fbo.BadInput, match=r"'units': the study has IntDistribution\(high=9.* the task has int .*\"high\": 8"):
        study.optimize(objective, n_trials=1)
    assert [trial.state for trial in known(sampler)] == ["waiting"]

    for distribution in (
        FloatDistribution(-2, 2, step=0.5),
        FloatDistribution(1, 2, log=True),
        IntDistribution(-2, 2),
        CategoricalDistribution([-2, 2]),
    ):
        with pytest.raises(fbo.BadInput, match="parameter 'x': the study has"):
            study.ask({"x": distribution})

    # Values that the sampler is not asked for are checked when the trial ends.
    trial = study.ask({"x": FloatDistribution(1, 1), "units": IntDistribution(1, 8)})
    with pytest.raises(fbo.BadInput, match="parameter 'x': the study has FloatDistribution"):
        study.tell(trial, 1.0)
    assert {trial.state for trial in known(sampler)} == {"waiting"}


IMPOSSIBLE: list[tuple[dict[str, BaseDistribution], str]] = [
    ({"rate" * 17: FloatDistribution(0, 1)}, "parameter 'raterate.*at most 64 characters in the task, not 68"),
    ({"x": FloatDistribution(0, 1), "X": FloatDistribution(0, 1)}, "'X' and 'x': expected names that differ in more than case"),
    ({"c": CategoricalDistribution([str(i) for i in range(65)])}, "parameter 'c': choices: expected 1 to 64, not 65"),
]


@pytest.mark.parametrize(("space", "words"), IMPOSSIBLE)
def test_what_no_task_takes_is_refused_in_the_first_trial(space: dict[str, BaseDistribution], words: str, node: fbo.Node) -> None:
    study = optuna.create_study(sampler=Sampler("learned", node))
    with pytest.raises(fbo.BadInput, match=words):
        study.ask(space)
    if len(space) == 2:  # also where no trial has both
        study = optuna.create_study(sampler=Sampler("learned", node))
        for name, one in space.items():
            trial = study.ask()
            if trial.number:
                with pytest.raises(fbo.BadInput, match="differ in more than case"):
                    trial._suggest(name, one)
            else:
                trial._suggest(name, one)
                study.tell(trial, 1.0)
    assert node.tasks() == []


def test_what_no_task_takes_is_refused_by_name(node: fbo.Node) -> None:
    for space, words in IMPOSSIBLE:
        with pytest.raises(fbo.BadInput, match=words):
            Sampler("no", node, search_space=space)
    with pytest.raises(fbo.BadInput, match="at least one"):
        optuna.create_study(sampler=Sampler("no", node, search_space={"x": FloatDistribution(1, 1)})).ask()
    with pytest.warns(UserWarning, match="persistent storage"):
        odd = CategoricalDistribution([object(), 1])  # type: ignore[list-item]
    with pytest.raises(fbo.BadInput, match="parameter 'c': .*accepted as choices is what JSON has"):
        optuna.create_study(sampler=Sampler("no", node, search_space={"c": odd})).ask()
    for wrong in ({"n_startup_trials": 0}, {"pruned": "reported"}, {"wait": -1}, {"search_space": X}):
        with pytest.raises(fbo.BadInput, match=next(iter(wrong))):
            Sampler(BOWL, node, **wrong)
    with pytest.raises(fbo.BadInput, match="has its node"):
        Sampler(node.task(BOWL), node)


LIMITS = [{"name": "gap", "high": 0.5}, {"name": "accuracy", "low": 0.9}, {"name": "ok", "type": "bool"}]


def test_constraints(node: fbo.Node) -> None:
    def objective(trial: optuna.Trial) -> float:
        trial.set_constraint("gap", 0.25 if trial.number else -0.25)
        trial.set_constraint("accuracy", -0.0625)
        trial.set_constraint("ok", 1 if trial.number == 2 else 0)
        return quadratic(trial)

    task = {"name": "limits", "constraints": LIMITS}
    sampler = Sampler(task, node, search_space=X)
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=3)
    trials = known(sampler)
    assert trials[0].constraints == {"gap": 0.25, "accuracy": 0.9625, "ok": True}
    assert trials[1].constraints["gap"] == 0.75 and trials[2].constraints["ok"] is False
    assert [trial.violated for trial in trials] == [(), ("gap",), ("gap", "ok")]

    with pytest.raises(fbo.BadInput, match=r"trial 3 has no value of the task's constraints \['accuracy', 'gap', 'ok'\]"):
        study.optimize(quadratic, n_trials=1)
    assert known(sampler)[3].state == "waiting"


def test_constraints_that_a_task_does_not_have(node: fbo.Node) -> None:
    sampler = Sampler(quick("free"), node, search_space=X)
    study = optuna.create_study(sampler=sampler)
    trial = study.ask(X)
    trial.set_constraint("gap", -1)
    with pytest.raises(fbo.BadInput, match=r"constraints \['gap'\]; the task has none"):
        study.tell(trial, 1.0)
    assert known(sampler)[0].state == "waiting"
    learning = optuna.create_study(sampler=Sampler(quick("learning"), node))
    trial = learning.ask(X)
    trial.set_constraint("gap", -1)
    with pytest.raises(fbo.BadInput, match="the task has none"):
        learning.tell(trial, 1.0)
    both = {"name": "both", "constraints": [{"name": "gap", "low": 0, "high": 1}]}
    with pytest.raises(fbo.BadInput, match="'gap' of the task has two limits"):
        optuna.create_study(sampler=Sampler(both, node, search_space=X)).ask()


def test_no_design_in_time_is_drawn_and_told(node: fbo.Node, caplog: pytest.LogCaptureFixture) -> None:
    sampler = Sampler(quick("late"), node, search_space=X, wait=0)
    study = optuna.create_study(sampler=sampler)
    trial = study.ask(X)
    assert "no design within 0 seconds; it is drawn at random" in caplog.text
    study.tell(trial, 1.0)
    (added,) = (one for one in known(sampler) if one.state == "done")
    assert added.parameters == trial.params and added.value == 1 and added.why["source"] == "imported"


def test_what_the_objective_does_not_use_has_its_centre(node: fbo.Node, caplog: pytest.LogCaptureFixture) -> None:
    space = {"x": FloatDistribution(-10, 10), "momentum": FloatDistribution(0, 1)}
    sampler = Sampler(quick("unused"), node, search_space=space)
    optuna.create_study(sampler=sampler).optimize(quadratic, n_trials=2)
    assert [trial.parameters["momentum"] for trial in known(sampler) if trial.state == "done"] == [0.5] * 2

    # Where failures are constraints the design that was chosen cannot be failed in place of it.
    sampler = Sampler(quick("chosen", failures="constraint"), node, search_space=space)
    optuna.create_study(sampler=sampler).optimize(quadratic, n_trials=2)
    assert [trial.state for trial in known(sampler)] == ["done"] * 2
    assert caplog.text.count("trials without momentum are told to the task 'chosen' with the values that it chose") == 1

    def objective(trial: optuna.Trial) -> float:
        trial.suggest_float("x", -10, 10)
        trial.suggest_float("y", 0, 1)
        return 5.0

    partly: dict[str, BaseDistribution] = {**X, "y": FloatDistribution(0, 1), "momentum": FloatDistribution(0, 1)}
    sampler = Sampler(quick("partly"), node, search_space=partly)
    study = optuna.create_study(sampler=sampler)
    study.enqueue_trial({"x": 1.5})
    study.optimize(objective, n_trials=1)
    asked, added = known(sampler)
    assert added.value == 5 and added.parameters == {**asked.parameters, "x": 1.5, "momentum": 0.5}


def test_a_study_comes_back_from_an_export(node: fbo.Node, binary: str, tmp_path: Path) -> None:
    space = {**BRANCHES, "seed": IntDistribution(3, 3), "loss": CategoricalDistribution(["mse"])}
    task = quick("returned", constraints=[{"name": "heat", "high": 0}])
    sampler = Sampler(task, node, search_space=space, conditions={"n": {"branch": "b"}, "x": {"branch": "a"}})
    study = optuna.create_study(sampler=sampler)

    def objective(trial: optuna.Trial) -> float:
        value = branches(trial)
        value += trial.suggest_int("seed", 3, 3)
        assert trial.suggest_categorical("loss", ["mse"]) == "mse"
        trial.set_constraint("heat", trial.number - 4)
        if trial.number == 3:
            raise RuntimeError("diverged")
        return value

    for branch in ("a", "b"):
        study.enqueue_trial({"branch": branch})
    study.optimize(objective, n_trials=8, catch=(RuntimeError,))
    file = tmp_path / "study.log"
    assert sampler.task is not None
    line = [binary, "export", sampler.task.id, str(file), "--format", "optuna-journal", "--data-dir", str(node.dir)]
    ran = subprocess.run(line, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    storage = JournalStorage(JournalFileBackend(str(file)))
    again = optuna.load_study(study_name="returned", storage=storage)
    found = {trial.user_attrs["trial"]: trial for trial in again.trials}
    mine = {trial.user_attrs["fbo"]["trial"]: trial for trial in study.trials if "fbo" in trial.user_attrs}
    assert len(again.trials) >= 8 and len(mine) >= 6
    for number, trial in mine.items():
        if number not in found:  # it was enqueued over, and is evaluated later
            continue
        other = found[number]
        if trial.number < 2:
            continue
        assert other.state == trial.state and other.value == trial.value and other.distributions == trial.distributions
        assert other.params == pytest.approx(trial.params) and other.user_attrs["why"] == trial.user_attrs["fbo"]["chosen"]
        if other.state == TrialState.COMPLETE:
            assert other.constraints == trial.constraints
    assert again.best_value == study.best_value
    # The study that came back is the same task, with its conditions.
    taken = Sampler(again.user_attrs["task"], node)
    optuna.create_study(sampler=taken).ask()
    assert taken.task is not None and taken.task.id == sampler.task.id == again.user_attrs["task_id"]


def in_a_process(sampler: Sampler, storage: str, trials: int) -> int:
    """Continue a study in another process, and return its ID."""
    study = optuna.load_study(study_name="shared", storage=storage, sampler=sampler)
    study.optimize(quadratic, n_trials=trials)
    return os.getpid()


@pytest.mark.parametrize("learns", [False, True])
def test_a_pickled_sampler_works_in_other_processes(learns: bool, binary: str, short_dir: Path, tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'study.db'}"
    with fbo.Node(short_dir / "node", binary=binary, flags=LOCAL) as node:
        with Sampler(quick("shared"), node, search_space=None if learns else X) as sampler:
            study = optuna.create_study(study_name="shared", storage=storage, sampler=sampler)
            study.optimize(quadratic, n_trials=6)
            with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
                jobs = [pool.submit(in_a_process, sampler, storage, 5) for _ in range(2)]
                assert os.getpid() not in {job.result() for job in jobs}
            study.optimize(quadratic, n_trials=1)
            values = sorted(trial.value for trial in study.trials if trial.value is not None)
            assert len(values) == 17
            done = sorted(trial.value for trial in known(sampler) if trial.value is not None)
            assert done == pytest.approx(values), "the task has the trials of all processes, each once"
            clients = {mark["client"] for mark in marks(study) if mark is not None}
            assert len(clients) == 3, "each process holds its own trials"
    assert_no_node_is_left(short_dir / "node")


def test_a_pickled_sampler_starts_the_node_that_has_ended(binary: str, short_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FBO_NODE", binary)
    with Sampler(quick("later"), short_dir, search_space=X) as sampler:
        optuna.create_study(sampler=sampler).optimize(quadratic, n_trials=2)
        kept = pickle.dumps(sampler)
    assert_no_node_is_left(short_dir)
    with pickle.loads(kept) as copied:
        assert not (short_dir / "control.sock").exists(), "a copy that is not used needs no node"
        optuna.create_study(sampler=copied).optimize(quadratic, n_trials=2)
        assert len([trial for trial in known(copied) if trial.value is not None]) == 4
    assert_no_node_is_left(short_dir)


def test_a_deep_copy_is_another_client(node: fbo.Node) -> None:
    cases = ((Sampler(quick("copied"), node, search_space=X), X["x"]), (Sampler(node.task(BOWL)), FloatDistribution(-2, 2)))
    for sampler, bounds in cases:
        other = copy.deepcopy(sampler)
        for one in (sampler, other):
            optuna.create_study(sampler=one).ask({"x": bounds})
        assert sampler.task is not None and other.task is not None
        assert sampler.task.id == other.task.id and sampler.task.client != other.task.client


def test_the_page_and_the_example(node: fbo.Node, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "optuna.md").read_text(encoding="utf-8")
    programs = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(programs) == 6
    for number, program in enumerate(programs):
        (tmp_path / f"program{number}.py").write_text(program)
    example = ROOT / "python" / "examples" / "optuna_study.py"
    environment = {**os.environ, "FBO_DATA_DIR": str(node.dir), "PYTHONPATH": str(ROOT / "python" / "src")}
    for line in (*([f"program{number}.py"] for number in range(6)), [str(example), str(tmp_path / "study.db"), "6"]):
        ran = subprocess.run(
            [sys.executable, *line], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300
        )
        assert ran.returncode == 0, ran.stderr[-2000:]
    names = {task["name"]: task["trials"]["done"] + task["trials"]["stopped"] for task in node.tasks()}
    assert names == {"tutorial": 30, "models": 10, "epochs": 20, "shared": 8, "regulated": 10, "trade": 20, "training": 6}
    assert node.find("epochs").counts()["stopped"]


def test_the_benchmark(binary: str, tmp_path: Path) -> None:
    script = ROOT / "python" / "benchmarks" / "conditional.py"
    environment = {**os.environ, "FBO_NODE": binary, "PYTHONPATH": str(ROOT / "python" / "src")}
    samplers = ["random", "tpe-group", "fbo", "fbo-conditions"]
    line = [sys.executable, str(script), "--seeds", "1", "--trials", "8", "--problems", "tree,network"]
    line += ["--samplers", ",".join(samplers), "--json", str(tmp_path / "results.json")]
    for _ in range(2):  # the second time from the file
        ran = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=300)
        assert ran.returncode == 0, ran.stderr[-2000:]
        assert [row.split()[0] for row in ran.stdout.splitlines()] == ["tree", *samplers, "network", *samplers]
    assert len((tmp_path / "results.json").read_text().splitlines()) == 8


def test_the_benchmark_of_kinds(binary: str, tmp_path: Path) -> None:
    script = ROOT / "python" / "benchmarks" / "kinds.py"
    environment = {**os.environ, "FBO_NODE": binary, "PYTHONPATH": str(ROOT / "python" / "src")}
    methods, problems = ["random", "tpe", "fbo", "fbo-logei"], ["many", "ordered", "width"]
    line = [sys.executable, str(script), "--seeds", "1", "--evals", "6"]
    line += ["--methods", ",".join(methods), "--json", str(tmp_path / "results.json")]
    for _ in range(2):  # the second time from the file
        ran = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=300)
        assert ran.returncode == 0, ran.stderr[-2000:]
        assert [row.split()[0] for row in ran.stdout.splitlines()] == [name for one in problems for name in (one, *methods)]
    assert len((tmp_path / "results.json").read_text().splitlines()) == 12


def test_the_benchmark_of_stopping(binary: str, tmp_path: Path) -> None:
    script = ROOT / "python" / "benchmarks" / "stopping.py"
    environment = {**os.environ, "FBO_NODE": binary, "PYTHONPATH": str(ROOT / "python" / "src")}
    methods = ["alone", "alone-asha", "together-forecast", "unlike-forecast", "optuna-hyperband"]
    line = [sys.executable, str(script), "--quick", "--problems", "boosting", "--methods", ",".join(methods)]
    line += ["--json", str(tmp_path / "results.jsonl"), "--cache", str(tmp_path / "trainings.db")]
    for _ in range(2):  # the second time from the file
        ran = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=300)
        assert ran.returncode == 0, ran.stderr[-2000:]
        assert [row.split()[0] for row in ran.stdout.splitlines()] == ["boosting", *methods]
    results = [json.loads(one) for one in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert [one["method"] for one in results] == methods
    assert all(one["best"][-1][0] <= one["budget"] == 81 for one in results)


def test_the_benchmark_of_objectives(tmp_path: Path) -> None:
    script = ROOT / "python" / "benchmarks" / "several.py"
    line = [sys.executable, str(script), "--seeds", "1", "--problems", "branin-currin,dtlz2", "--methods", "random,nsga2"]
    line += ["--json", str(tmp_path / "results.jsonl")]
    for _ in range(2):  # the second time from the file
        ran = subprocess.run(line, capture_output=True, text=True, timeout=300)
        assert ran.returncode == 0, ran.stderr[-2000:]
        assert [row.split()[0] for row in ran.stdout.splitlines()] == ["branin-currin", "random", "nsga2", "dtlz2", "random", "nsga2"]
    results = [json.loads(one) for one in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert len(results) == 4
    assert all(0 <= one["hypervolume"][0] <= one["hypervolume"][1] for one in results)


def test_two_studies_on_two_nodes(node: fbo.Node, binary: str, tmp_path: Path) -> None:
    follow = {
        "name": "together",
        "surrogate": {"type": "rff", "features": 16},
        "strategy": {"type": "fts", "schedule": "constant", "own_probability": 0, "initial_designs": 1},
    }
    address = node.info()["addresses"][0]
    with fbo.Node(tmp_path, binary=binary, flags=[*LOCAL, "--peer", address]) as other:
        here, there = (Sampler(follow, one, search_space=X) for one in (node, other))
        one, two = (optuna.create_study(sampler=sampler) for sampler in (here, there))
        one.optimize(quadratic, n_trials=3)
        two.optimize(quadratic, n_trials=1)
        task = there.task
        assert task is not None and here.task is not None and task.id == here.task.id
        wait_until(lambda: task.status()["stored"]["authors"] > 0, "the second node received no share of the first")
        two.optimize(quadratic, n_trials=3)
    helped = [mark for mark in marks(two) if mark is not None and mark["from_peers"]]
    assert node.info()["peer_id"] in [mark["why"].get("peer") for mark in helped]


def test_user_attributes_are_kept(node: fbo.Node, caplog: pytest.LogCaptureFixture) -> None:
    sampler = Sampler(quick("kept"), node, search_space=X)
    study = optuna.create_study(sampler=sampler)

    def objective(trial: optuna.Trial) -> float:
        trial.set_user_attr("commit", "abc")
        trial.set_user_attr("shape", [1, 2])
        trial.set_user_attr("n" * 65, "too long a name")
        value = quadratic(trial)
        if trial.number == 1:
            raise RuntimeError("no luck")
        return value

    study.add_trial(create_trial(params={"x": 1.0}, distributions=X, value=1.0, user_attrs={"commit": "old"}))
    study.optimize(objective, n_trials=3, catch=RuntimeError)
    told = {trial.state: trial.attributes for trial in known(sampler) if trial.attributes.get("commit") == "abc"}
    assert told == {state: {"commit": "abc", "shape": "[1, 2]"} for state in ("done", "failed")}
    assert [trial.attributes for trial in known(sampler) if trial.why["source"] == "imported"] == [{"commit": "old"}]
    assert [record.message for record in caplog.records if "user attribute" in record.message][0].startswith("the user attribute 'nnn")
    assert all(set(trial.user_attrs) <= {"fbo", "commit", "shape", "n" * 65} for trial in study.trials)
