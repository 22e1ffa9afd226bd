"""Experiments of Ray Tune on real nodes. They need requirements-ray.txt, and are left out without it."""

from __future__ import annotations

import math
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import BOWL

import fbo

pytest.importorskip("ray.tune", reason="Ray Tune is left out: pip install -r requirements-ray.txt has it")

from ray import tune  # noqa: E402

from fbo.ray import Search  # noqa: E402

HERE = Path(__file__).resolve().parents[1]
QUICK: dict[str, Any] = {"strategy": {"type": "ts", "initial_designs": 2}, "surrogate": {"type": "rff", "features": 16}}


@pytest.fixture
def environment(node: fbo.Node, tmp_path: Path) -> dict[str, str]:
    """An environment in which a program uses the node, and Ray writes nothing to the user's home."""
    return {
        **os.environ,
        "FBO_DATA_DIR": str(node.dir),
        "HOME": str(tmp_path),
        "PYTHONPATH": str(HERE / "src"),
        "RAY_AUTH_MODE": "disabled",
        "RAY_USAGE_STATS_ENABLED": "0",
    }


@pytest.fixture
def program() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []

    def start(arguments: list[str], environment: dict[str, str]) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def ready(node: fbo.Node, config: dict[str, Any], task: Any = None, mode: str = "min", **more: Any) -> Search:
    search = Search(task or {"name": "search", **QUICK}, dir=node.dir, **more)
    assert search.set_search_properties("loss", mode, config)
    return search


def result(loss: Any, iteration: int = 1, **more: Any) -> dict[str, Any]:
    return {"loss": loss, "training_iteration": iteration, **more}


def test_the_example(node: fbo.Node, environment: dict[str, str]) -> None:
    process = subprocess.run(
        [sys.executable, str(HERE / "examples" / "ray_tune.py"), "8"], env=environment, capture_output=True, text=True, timeout=300
    )
    assert process.returncode == 0, process.stderr[-2000:]
    trials = node.find("valley").trials()
    assert len(trials) == 8 and {trial.state for trial in trials} <= {"done", "failed"}
    values = {trial.value for trial in trials if trial.state == "done"}
    shown = re.findall(r"^\{.*\} (\S+) \d+$", process.stdout, re.M)
    assert {float(one) for one in shown} == values
    best = re.search(r"best: (\S+) ", process.stdout)
    assert best is not None and float(best[1]) == min(value for value in values if value is not None)


def test_the_page(node: fbo.Node, environment: dict[str, str]) -> None:
    page = (HERE.parent / "docs" / "clusters.md").read_text()
    (block,) = re.findall(r"```python\n(.*?)```", page, re.S)
    assert "num_samples=30" in block
    process = subprocess.run(
        [sys.executable, "-c", block.replace("num_samples=30", "num_samples=4")],
        env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr[-2000:]
    trials = node.find("tutorial").trials()
    best = min(trials, key=lambda trial: trial.value or 0.0)
    assert [trial.state for trial in trials] == ["done"] * 4
    assert process.stdout.rstrip().endswith(str(best.parameters)), process.stdout[-500:]


EXPERIMENT = """
import pathlib, sys, time
import ray
from ray import tune
import fbo.ray

go, results = pathlib.Path(sys.argv[1]), sys.argv[2]

def train(config):
    while not go.exists():
        time.sleep(0.05)
    return {"loss": config["x"] ** 2}

ray.init(num_cpus=2, include_dashboard=False)
if len(sys.argv) > 3:
    tuner = tune.Tuner.restore(results + "/experiment", train)
else:
    strategy = {"type": "ts", "initial_designs": 2}
    tuner = tune.Tuner(
        train,
        param_space={"x": tune.uniform(-1, 1)},
        tune_config=tune.TuneConfig(
            metric="loss", mode="min", num_samples=4, max_concurrent_trials=2,
            search_alg=fbo.ray.Search({"name": "killed", "strategy": strategy}),
        ),
        run_config=tune.RunConfig(name="experiment", storage_path=results, verbose=0),
    )
print(len(tuner.fit()), "trials")
"""


def test_a_killed_experiment_goes_on(
    node: fbo.Node, environment: dict[str, str], tmp_path: Path, program: Callable[..., subprocess.Popen[str]]
) -> None:
    def running() -> int:
        known = [one for one in node.tasks() if one["name"] == "killed"]
        return sum(trial.state == "running" for trial in node.find("killed").trials()) if known else 0

    line = ["-c", EXPERIMENT, str(tmp_path / "go"), str(tmp_path / "results")]
    environment["TUNE_GLOBAL_CHECKPOINT_S"] = "0"
    first = program(line, environment)
    give_up = time.monotonic() + 200
    while running() < 2 or not list((tmp_path / "results" / "experiment").glob("searcher-state-*")):
        assert first.poll() is None and time.monotonic() < give_up, "no two trials run"
        time.sleep(0.1)
    first.send_signal(signal.SIGKILL)
    first.wait()
    (tmp_path / "go").touch()
    second = program([*line, "again"], environment)
    said, _ = second.communicate(timeout=300)
    assert second.returncode == 0 and "4 trials" in said, said[-2000:]
    trials = node.find("killed").trials()
    assert [trial.state for trial in trials] == ["done"] * 4
    assert all(trial.value == float(trial.parameters["x"]) ** 2 for trial in trials)


def test_spaces(node: fbo.Node) -> None:
    search = ready(
        node,
        {
            "constant": "as it was",
            "inner": {"float": tune.uniform(0, 1), "log": tune.loguniform(1e-5, 1), "steps": tune.quniform(0, 1, 0.25)},
            "int": tune.randint(1, 9),
            "even": tune.qrandint(2, 10, 2),
            "logint": tune.lograndint(1, 1000),
            "texts": tune.choice(["sgd", "adam"]),
            "truth": tune.choice([True, False]),
            "numbers": tune.choice([64.0, 0.0, 1.5]),
        },
    )
    parameters = {one.pop("name"): one for one in node.find("search").definition["parameters"]}
    assert {name: one["type"] for name, one in parameters.items()} == {
        "float": "float", "log": "float", "steps": "float", "int": "int", "even": "int",
        "logint": "int", "texts": "categorical", "truth": "bool", "numbers": "categorical",
    }  # fmt: skip
    assert (parameters["int"]["low"], parameters["int"]["high"]) == (1, 8)
    assert (parameters["even"]["high"], parameters["even"]["step"], parameters["steps"]["step"]) == (10, 2, 0.25)
    assert (parameters["logint"]["high"], parameters["logint"]["scale"]) == (999, "log")
    for number in range(6):
        config = search.suggest(f"t{number}")
        assert config is not None and config.keys() == {"inner", "int", "even", "logint", "texts", "truth", "numbers"}
        assert config["inner"].keys() == {"float", "log", "steps"}
        assert type(config["numbers"]) is float and type(config["truth"]) is bool and type(config["int"]) is int
        assert config["numbers"] in (64, 0, 1.5) and config["even"] in (2, 4, 6, 8, 10)
        search.on_trial_complete(f"t{number}", result(config["inner"]["float"]))
    assert [trial.value for trial in node.find("search").trials()] == [
        trial.parameters["float"] for trial in node.find("search").trials()
    ]


def test_names_that_no_task_accepts(node: fbo.Node) -> None:
    task = {"name": "names", "constraints": [{"name": "time.ms", "high": 1}], **QUICK}
    search = ready(node, {"optimizer.lr": tune.uniform(0, 1), "model": {"the depth": tune.randint(1, 9)}}, task)
    config = search.suggest("t")
    assert config is not None and config.keys() == {"optimizer.lr", "model"} and config["model"].keys() == {"the depth"}
    search.on_trial_complete("t", result(2.0, **{"time.ms": 3}))
    (trial,) = node.find("names").trials()
    assert trial.parameters == {"optimizer.lr": config["optimizer.lr"], "the depth": config["model"]["the depth"]}
    assert trial.violated == ("time.ms",) and trial.value == 2


def test_optuna_search_uses_the_sampler(node: fbo.Node, environment: dict[str, str], tmp_path: Path) -> None:
    program = tmp_path / "search.py"
    program.write_text(
        "import fbo.optuna, optuna\n"
        "from ray import tune\n"
        "from ray.tune.search.optuna import OptunaSearch\n"
        "space = {'x': optuna.distributions.FloatDistribution(-10, 10)}\n"
        "search = OptunaSearch(sampler=fbo.optuna.Sampler('of-optuna', search_space=space))\n"
        "config = tune.TuneConfig(metric='loss', mode='min', num_samples=4, max_concurrent_trials=2, search_alg=search)\n"
        "tune.Tuner(lambda config: {'loss': config['x'] ** 2}, param_space={'x': tune.uniform(-10, 10)}, tune_config=config).fit()\n"
    )
    ran = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr[-2000:]
    trials = [trial for trial in node.find("of-optuna").trials() if trial.state == "done"]
    assert len(trials) == 4 and all(trial.value == float(trial.parameters["x"]) ** 2 for trial in trials)


def test_reported_outcomes(node: fbo.Node) -> None:
    task = {"name": "ends", "constraints": [{"name": "heat", "high": 1}, {"name": "converged", "type": "bool"}], **QUICK}
    search = ready(node, {"x": tune.uniform(0, 1)}, task, mode="max", iterations=3)
    ends: list[tuple[dict[str, Any] | None, bool]] = [
        (result(2.0, 3, heat=0.5, converged=True), False),
        (result(2.0, 2, heat=0.5, converged=True), False),
        (result(math.nan, 3, heat=0.5, converged=True), False),
        (result(2.0, 3, heat=0.5), False),
        (None, True),
        (None, False),
    ]
    for number, (given, error) in enumerate(ends):
        assert search.suggest(f"t{number}") is not None
        search.on_trial_complete(f"t{number}", given, error)
    trials = node.find("ends").trials()
    assert node.find("ends").goal == "maximize"
    assert (trials[0].state, trials[0].value, trials[0].constraints) == ("done", 2, {"heat": 0.5, "converged": True})
    reasons = [
        "reported loss nan", "reported None for the constraint converged", "failed", "ended without",
    ]  # fmt: skip
    stopped = trials[1]
    assert stopped.state == "stopped" and stopped.stop is not None and stopped.steps == {2: 2.0}
    assert stopped.stop.rule == "program" and stopped.stop.reason.startswith("stopped at iteration 2 of 3")
    for trial, reason in zip(trials[2:], reasons, strict=True):
        assert trial.state == "failed" and (trial.reason or "").startswith(reason), trial.reason
    search.on_trial_complete("t0", result(3.0))  # Tune may say it twice
    assert node.find("ends").trials()[0].value == 2


def test_values_by_iteration(node: fbo.Node, tmp_path: Path) -> None:
    search = ready(node, {"x": tune.uniform(0, 1)}, {"name": "steps", **QUICK}, iterations=3)
    for trial in ("whole", "stopped", "diverged", "paused", "failed", "none"):
        assert search.suggest(trial) is not None
    for iteration in (1, 2, 3):
        search.on_trial_result("whole", result(3.0 - iteration, iteration))
    for trial in ("stopped", "diverged", "paused", "failed"):
        search.on_trial_result(trial, result(4.0, 1))
    search.on_trial_complete("whole", result(0.0, 3))  # the same again, with done
    search.save(str(tmp_path / "state"))
    again = Search({"name": "steps", **QUICK}, dir=node.dir, iterations=3)
    again.restore(str(tmp_path / "state"))
    again.on_trial_complete("stopped", result(5.0, 2))
    again.on_trial_complete("diverged", result(math.nan, 2))
    again.on_trial_complete("paused")
    again.on_trial_complete("failed", error=True)
    again.on_trial_complete("none")
    assert [(trial.state, trial.value, trial.steps) for trial in node.find("steps").trials()] == [
        ("done", 0.0, {1: 2.0, 2: 1.0, 3: 0.0}), ("stopped", None, {1: 4.0, 2: 5.0}), ("failed", None, {1: 4.0}),
        ("stopped", None, {1: 4.0}), ("failed", None, {1: 4.0}), ("failed", None, {}),
    ]  # fmt: skip


def test_more_values_than_a_trial_can_have(node: fbo.Node) -> None:
    search = ready(node, {"x": tune.uniform(0, 1)})
    search.suggest("t")
    for iteration in range(1, 2502):
        search.on_trial_result("t", result(iteration, iteration))
    search.on_trial_complete("t", result(2502, 2502))
    (trial,) = node.find("search").trials()
    assert 800 < len(trial.steps) <= 1000 and max(trial.steps) == 2502 == trial.value


def test_trials_that_a_scheduler_stops(node: fbo.Node, environment: dict[str, str], tmp_path: Path) -> None:
    program = tmp_path / "search.py"
    program.write_text(
        "import ray\n"
        "from ray import tune\n"
        "from ray.tune.schedulers import ASHAScheduler\n"
        "import fbo, fbo.ray\n"
        "ray.init(num_cpus=2, include_dashboard=False)\n"
        "def train(config):\n"
        "    for step in range(9):\n"
        "        tune.report({'loss': config['x'] ** 2 + 1 / (step + 1)})\n"
        "config = tune.TuneConfig(metric='loss', mode='min', num_samples=8, max_concurrent_trials=2,\n"
        "    scheduler=ASHAScheduler(max_t=9, grace_period=1, reduction_factor=3), search_alg=fbo.ray.Search('asha', iterations=9))\n"
        "grid = tune.Tuner(train, param_space={'x': tune.uniform(-10, 10)}, tune_config=config).fit()\n"
        "print(sorted(grid[number].metrics['training_iteration'] for number in range(8)))\n"
    )
    ran = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr[-2000:]
    trials = node.find("asha").trials()
    last = sorted(max(trial.steps) for trial in trials)
    assert str(last) in ran.stdout and last[0] < 9 == last[-1]
    for trial in trials:
        assert list(trial.steps) == list(range(1, max(trial.steps) + 1))
        x = float(trial.parameters["x"])
        assert trial.steps == {step: x**2 + 1 / step for step in trial.steps}
        assert (trial.state, trial.value) == (("stopped", None) if max(trial.steps) < 9 else ("done", x**2 + 1 / 9))


def test_a_copy_goes_on_with_what_runs(node: fbo.Node, tmp_path: Path) -> None:
    search = ready(node, {"x": tune.uniform(0, 1)})
    design = search.suggest("a")
    search.save(str(tmp_path / "state"))
    asked_since = search.suggest("b")
    copy = pickle.loads(pickle.dumps(Search({"name": "search", **QUICK}, dir=node.dir)))
    copy.restore(str(tmp_path / "state"))
    assert copy.suggest("c") == asked_since  # it is held by the same client, and nobody evaluates it
    copy.on_trial_complete("a", result(1.0))
    copy.on_trial_complete("c", result(2.0))
    trials = node.find("search").trials()
    assert [(one.parameters, one.value) for one in trials] == [(design, 1.0), (asked_since, 2.0)]


def test_a_value_that_does_not_get_through_is_kept(node: fbo.Node, tmp_path: Path) -> None:
    search = ready(node, {"x": tune.uniform(0, 1)})
    search.suggest("a")
    assert search._task is not None
    search._task._http = fbo.Client(socket=tmp_path / "nothing", patience=0)
    with pytest.raises(fbo.Unreachable):
        search.on_trial_complete("a", result(1.0))
    search.save(str(tmp_path / "state"))
    Search("search", dir=node.dir).restore(str(tmp_path / "state"))
    (trial,) = node.find("search").trials()
    assert (trial.state, trial.value) == ("done", 1)


def test_a_task_with_parameters(node: fbo.Node, tmp_path: Path) -> None:
    (tmp_path / "bowl.yaml").write_text(BOWL)
    search = ready(node, {"constant": 1}, tmp_path / "bowl.yaml")
    config = search.suggest("t")
    assert config is not None and config.keys() == {"x", "units"}
    search.on_trial_complete("t", result(1.0))
    empty = Search(tmp_path / "bowl.yaml", dir=node.dir, metric="loss")  # of which Tune says nothing
    assert empty.suggest("e") is not None
    with pytest.raises(fbo.BadInput, match="metric is missing"):
        Search(tmp_path / "bowl.yaml", dir=node.dir).suggest("e")
    for mode, space, said in (
        ("max", {}, "'bowl' has the goal 'minimize', the experiment the mode 'max'"),
        ("min", {"x": tune.uniform(0, 1)}, r"has parameters already, and so \['x'\] have no place"),
    ):
        with pytest.raises(fbo.BadInput, match=said):
            ready(node, space, tmp_path / "bowl.yaml", mode)
    several = {"name": "trade", "objectives": [fbo.Objective("loss"), fbo.Objective("speed", "maximize")], "strategy": {"type": "alone"}}
    with pytest.raises(fbo.BadInput, match="'trade' has 2 objectives, the experiment one metric"):
        ready(node, {"x": tune.uniform(0, 1)}, several)
    assert "trade" not in {one["name"] for one in node.tasks()}


@pytest.mark.parametrize(
    ("space", "said"),
    [
        ({}, "the task has no parameters, and param_space none either"),
        ({"x": tune.grid_search([1, 2])}, "param_space x: a grid is not accepted"),
        ({"x": tune.randn(0, 1)}, "param_space x: Float by Normal is not accepted; expected uniform"),
        ({"x": tune.qloguniform(1, 10, 1)}, "param_space x: Float by LogUniform is not accepted"),
        ({"x": tune.choice([None, 1])}, "param_space x: Categorical"),
        ({"x": tune.sample_from(lambda _: 1)}, "param_space x: Function"),
        ({"a": {"x": tune.uniform(0, 1)}, "b": {"x": tune.uniform(0, 1)}}, "param_space b/x: there is a/x too"),
    ],
)
def test_spaces_that_a_task_cannot_have(node: fbo.Node, space: dict[str, Any], said: str) -> None:
    with pytest.raises(fbo.BadInput, match=said):
        ready(node, space)
    assert node.tasks() == []


def test_other_bad_input(node: fbo.Node) -> None:
    token: Any = "secret"
    with pytest.raises(fbo.BadInput, match="token is a text") as refused:
        Search("t", url="http://127.0.0.1:1", token=token)
    assert "secret" not in str(refused.value)
    with pytest.raises(fbo.BadInput, match="iterations 0"):
        Search("t", iterations=0)
    with pytest.raises(fbo.BadInput, match=r"metric None, mode None: accepted in TuneConfig"):
        Search("t", dir=node.dir).set_search_properties(None, None, {})
    with pytest.raises(fbo.BadInput, match="the goal 'maximize', the experiment the mode 'min'"):
        ready(node, {"x": tune.uniform(0, 1)}, {"name": "t", "goal": "maximize"})


@pytest.fixture
def halved(node: fbo.Node) -> tuple[Search, fbo.Task]:
    """A search of a task that stops all but the best half, and with patience of two steps."""
    search = ready(node, {"x": tune.uniform(0, 1)}, {"name": "halved", "stop": fbo.Asha(reduction_factor=2, patience=2), **QUICK})
    return search, node.find("halved")


def test_decisions_of_the_node(halved: tuple[Search, fbo.Task], tmp_path: Path) -> None:
    search, task = halved
    for trial in ("good", "bad", "flat", "fails"):
        assert search.suggest(trial) is not None
    assert not search._is_stopped("good", result(1.0, 1))
    assert task.trials()[0].steps == {1: 1.0}  # before its end
    assert not search._is_stopped("good", {"training_iteration": 2})  # a report without the metric
    assert not search._is_stopped("unknown", result(9.0, 1))
    assert search._is_stopped("bad", result(9.0, 1))
    search.save(str(tmp_path / "state"))
    search.restore(str(tmp_path / "state"))
    search.on_trial_complete("bad", result(9.0, 1))
    assert not search._is_stopped("flat", result(0.5, 1))
    assert [search._is_stopped("flat", result(0.5, step)) for step in (2, 3)] == [False, True]
    search.on_trial_complete("flat", result(0.5, 3))
    assert search._is_stopped("fails", result(9.0, 1))
    search.on_trial_complete("fails", error=True)
    search.on_trial_complete("good", result(0.9, 2))
    good, bad, flat, fails = task.trials()
    assert (good.state, good.value, good.steps) == ("done", 0.9, {1: 1.0, 2: 0.9})
    assert bad.stop is not None and (bad.state, bad.stop.rule, bad.steps) == ("stopped", "asha", {1: 9.0})
    assert flat.stop is not None and (flat.state, flat.stop.rule, flat.value) == ("done", "patience", 0.5)
    assert fails.state == "failed"


def test_a_complete_training_is_not_stopped(node: fbo.Node) -> None:
    task = {"name": "complete", "stop": fbo.Asha(reduction_factor=2), **QUICK}
    search = ready(node, {"x": tune.uniform(0, 1)}, task, iterations=1)
    for trial, value in (("a", 1.0), ("b", 9.0)):
        search.suggest(trial)
        assert not search._is_stopped(trial, result(value, 1))
        search.on_trial_complete(trial, result(value, 1))
    assert [(one.state, one.value) for one in node.find("complete").trials()] == [("done", 1.0), ("done", 9.0)]


def test_values_for_the_rule_wait_for_the_node(halved: tuple[Search, fbo.Task], tmp_path: Path) -> None:
    search, task = halved
    search.suggest("a")
    assert not search._is_stopped("a", result(3.0, 1))
    reporter = search._reporters["a"]
    http, reporter._http = reporter._http, fbo.Client(socket=tmp_path / "nothing", patience=0)
    assert not search._is_stopped("a", result(2.0, 2))
    assert not search._is_stopped("a", result(1.0, 3))
    reporter._http = http
    copy = pickle.loads(pickle.dumps(search))
    assert copy._reporters == {} and task.trials()[0].steps == {1: 3.0}
    search.on_trial_complete("a", result(1.0, 3))
    assert (task.trials()[0].value, task.trials()[0].steps) == (1.0, {1: 3.0, 2: 2.0, 3: 1.0})
    search.suggest("b")
    assert not search._is_stopped("b", result(0.5, 1))
    search.save(str(tmp_path / "state"))
    search.restore(str(tmp_path / "state"))
    assert not search._is_stopped("b", result(0.4, 2))
    assert task.trials()[1].steps == {1: 0.5, 2: 0.4}


SCHEDULED = """
import sys
import ray
from ray import tune
from ray.tune.search import ConcurrencyLimiter
import fbo, fbo.ray

ray.init(num_cpus=2, include_dashboard=False)

def train(config):
    for step in range(9):
        tune.report({"loss": config["x"] ** 2 + 1 / (step + 1)})

search = tune.search.BasicVariantGenerator()
if sys.argv[1:] != ["other"]:
    search = ConcurrencyLimiter(fbo.ray.Search({"name": "rule", "stop": fbo.Asha()}), max_concurrent=2)
config = tune.TuneConfig(metric="loss", mode="min", num_samples=9, search_alg=search, scheduler=fbo.ray.Scheduler())
grid = tune.Tuner(train, param_space={"x": tune.uniform(-10, 10)}, tune_config=config).fit()
print(sorted(one.metrics["training_iteration"] for one in grid))
"""


def test_the_rule_of_the_task_stops_trials(node: fbo.Node, environment: dict[str, str]) -> None:
    line = [sys.executable, "-c", SCHEDULED]
    ran = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr[-2000:]
    trials = node.find("rule").trials()
    last = sorted(max(trial.steps) for trial in trials)
    assert len(trials) == 9 and str(last) in ran.stdout and last[0] < 9 == last[-1]
    for trial in trials:
        x = float(trial.parameters["x"])
        assert trial.steps == {step: x**2 + 1 / step for step in range(1, max(trial.steps) + 1)}
        if max(trial.steps) < 9:
            assert trial.state == "stopped" and trial.stop is not None
            assert (trial.stop.rule, trial.stop.step) == ("asha", max(trial.steps))
        elif trial.state == "done":
            assert trial.value == x**2 + 1 / 9
    refused = subprocess.run([*line, "other"], env=environment, capture_output=True, text=True, timeout=300)
    assert refused.returncode != 0 and "expected fbo.ray.Search" in refused.stderr, refused.stderr[-2000:]
