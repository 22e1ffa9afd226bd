"""minimize and maximize."""

from __future__ import annotations

import builtins
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import objectives
import pytest
from conftest import BOWL, LOCAL

import fbo
import fbo.space

SQUARE = [fbo.Float("x", -1, 1), fbo.Float("y", -1, 1)]
LINE = [fbo.Float("x", -1, 1)]


@pytest.fixture(autouse=True)
def program(binary: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FBO_NODE", binary)


def test_minimize_and_maximize_find_the_optimum() -> None:
    least = fbo.minimize(objectives.bowl, SQUARE, evals=15, seed=1, progress=False)
    assert least.value < 0.01
    assert objectives.bowl(**least.parameters) == least.value  # type: ignore[arg-type]
    assert least.value == min(row["value"] for row in least.rows) == least.best_so_far()[-1]
    assert len(least.rows) == 15 and not least.contributions()
    again = fbo.minimize(objectives.bowl, SQUARE, evals=15, seed=1, progress=False)
    assert [trial.parameters for trial in again.trials] == [trial.parameters for trial in least.trials]

    greatest = fbo.maximize(lambda x, y: -objectives.bowl(x, y), SQUARE, evals=15, seed=1, progress=False)
    assert greatest.value > -0.01 and greatest.goal == "maximize"
    assert [trial.parameters for trial in greatest.trials] == [trial.parameters for trial in least.trials]


def test_a_result_under_noise_begins_with_the_recommended_design() -> None:
    value = iter(range(100))
    result = fbo.minimize(lambda x: 50 * (-1) ** next(value), LINE, evals=30, seed=1, progress=False)
    assert result.recommended is not None and -1 <= float(result.recommended.parameters["x"]) <= 1
    assert re.match(r"recommended: x=\S+, predicted \S+ The noise of outcomes .* mostly luck:\nbest value -50 at x=", str(result))


def test_every_kind_of_parameter() -> None:
    seen: list[Mapping[str, Any]] = []

    def f(**design: Any) -> float:
        seen.append(design)
        return float(design["depth"])

    space = [
        fbo.Float("rate", 1e-4, 1, log=True),
        fbo.Float("momentum", 0, 0.9, step=0.3),
        fbo.Int("depth", 1, 100, log=True),
        fbo.Categorical("kernel", ["rbf", "poly"]),
        fbo.Bool("bias"),
    ]
    result = fbo.minimize(f, space, evals=6, progress=False)
    for design in seen:
        assert [type(value) for value in design.values()] == [float, float, int, str, bool]
        assert min(abs(design["momentum"] - grid) for grid in (0, 0.3, 0.6, 0.9)) < 1e-9
    assert result.parameters == min(seen, key=lambda design: design["depth"])


def test_rows_are_for_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    result = fbo.minimize(objectives.bowl, SQUARE, evals=5, progress=False)
    table = pandas.DataFrame(result.rows)
    assert list(table["trial"]) == [1, 2, 3, 4, 5]
    best = table.loc[table["value"].idxmin()]
    assert best["parameters.x"] == result.parameters["x"]
    assert table["why"][0] == "random start" and "best value" in str(result)


def test_a_named_task_goes_on(short_dir: Path) -> None:
    calls = []

    def f(x: float, y: float) -> float:
        calls.append(x)
        return x + y

    for evals, expected in ((3, 3), (5, 5), (5, 5)):
        node = fbo.Node(short_dir, flags=LOCAL)
        result = fbo.minimize(f, SQUARE, task="mine", node=node, evals=evals, progress=False)
        assert len(calls) == len(result.rows) == expected
        assert not node.in_use


def test_earlier_values_are_named(short_dir: Path, caplog: pytest.LogCaptureFixture) -> None:
    def run(f: Callable[..., float], space: Any, evals: int) -> fbo.Result:
        caplog.clear()
        return fbo.minimize(f, space, task="mine", node=fbo.Node(short_dir, flags=LOCAL), evals=evals, progress=False)

    run(lambda x: -x, LINE, 3)
    assert caplog.text == ""
    corrected = run(lambda x: x, LINE, 3)
    assert len(corrected.rows) == 3
    assert "the task 'mine' has 3 values of earlier calls, the newest of 20" in caplog.text
    assert "evals=3 counts them, so the function is not called. If the function has changed since, give" in caplog.text
    run(lambda x: x, LINE, 5)
    assert "evals=5 counts them, so 2 more are evaluated." in caplog.text
    run(lambda x: x, [fbo.Float("x", -1, 2)], 2)
    assert "the node has another task 'mine' with 5 values, which do not count here" in caplog.text
    assert "earlier calls" not in caplog.text


def test_programs_beside_each_other_count_together(short_dir: Path) -> None:
    both = threading.Barrier(2, timeout=60)

    def run() -> None:
        def f(x: float) -> float:
            if not seen:
                both.wait()  # both evaluate
            seen.append(x)
            return x * x

        seen: list[float] = []
        fbo.minimize(f, LINE, task="both", node=fbo.Node(short_dir), evals=8, progress=False)

    with fbo.Node(short_dir, flags=LOCAL) as node:
        threads = [threading.Thread(target=run) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert node.find("both").counts()["done"] in (8, 9)


def test_a_task_file_or_its_text(node: fbo.Node, tmp_path: Path) -> None:
    file = tmp_path / "bowl.yaml"
    file.write_text(BOWL)

    def f(x: float, units: int) -> float:
        return x * x + units

    assert fbo.minimize(f, BOWL, node=node, evals=3, progress=False).task == "bowl"
    assert len(fbo.minimize(f, file, node=node, evals=4, progress=False).rows) == 4
    with pytest.raises(fbo.BadInput, match="the task's goal is minimize"):
        fbo.maximize(f, str(file), node=node, progress=False)
    assert len(node.tasks()) == 1
    with pytest.raises(fbo.BadInput, match="the task's goal is maximize"):
        fbo.minimize(f, BOWL.replace("minimize", "maximize"), node=node, progress=False)
    assert len(node.tasks()) == 1, "a task of another goal is left again"


def test_wrong_arguments_are_named(node: fbo.Node) -> None:
    f = objectives.bowl
    for match, arguments in (
        ("f is 3", (3, SQUARE)),
        (r"space\[1\] is 'y'", (f, [fbo.Float("x", 0, 1), "y"])),
        (r"space\[0\] is 3", (f, 3)),
        ("space: expected at least one parameter", (f, [])),
        ("differ in more than case", (f, [fbo.Float("x", 0, 1), fbo.Int("X", 0, 1)])),
        (r"space\['x'\] is 3: expected \(low, high\)", (f, {"x": 3})),
        (r"space\['goal'\] is 'minimize': .*; or a task", (f, {"goal": "minimize"})),
        (r"space\['x'\] is \[0, 1\]: expected a tuple", (f, {"x": [0, 1]})),
        (r"space\['x'\] is Float", (f, {"x": fbo.Float("y", 0, 1)})),
    ):
        with pytest.raises(fbo.BadInput, match=match):
            fbo.minimize(*arguments, progress=False)
    keywords: Sequence[tuple[str, dict[str, Any]]] = (
        ("evals is 0", {"evals": 0}),
        ("workers is 1.5", {"workers": 1.5}),
        ("max_failures is True", {"max_failures": True}),
        ("peers are given without task", {"peers": ["/ip4/10.0.0.1/tcp/1"]}),
        ("node is given without task", {"node": node}),
        (r"fbo.Node\(peers=…\)", {"node": node, "task": "t", "peers": ["/ip4/10.0.0.1/tcp/1"]}),
    )
    for match, given in keywords:
        with pytest.raises(fbo.BadInput, match=match):
            fbo.minimize(f, SQUARE, progress=False, **given)
    with pytest.raises(fbo.BadInput, match="task='t': the space is a whole task"):
        fbo.minimize(f, BOWL, task="t", progress=False)


def test_a_bad_parameter_is_refused_at_construction() -> None:
    cases: Sequence[tuple[str, Callable[[], object]]] = (
        ("parameter 'rate': expected low up to high, not 1.0 and 0.0", lambda: fbo.Float("rate", 1, 0)),
        ("parameter 'n': expected low up to high, not 4 and 3", lambda: fbo.Int("n", 4, 3)),
        ("parameter 'x': low is '0'", lambda: fbo.Float("x", "0", 1)),  # type: ignore[arg-type]
        ("parameter 'x': high is inf", lambda: fbo.Float("x", 0, float("inf"))),
        ("parameter 'x': expected bounds from -1e300", lambda: fbo.Float("x", -1e308, 1)),
        ("parameter 'x': low is 0.0: expected a number above 0 with log", lambda: fbo.Float("x", 0, 1, log=True)),
        ("parameter 'x': step is 3: expected a number above 0, up to", lambda: fbo.Float("x", 0, 1, step=3)),
        ("parameter 'x': expected either log or step", lambda: fbo.Float("x", 1, 2, log=True, step=0.5)),
        ("parameter 'n': high is 1.5", lambda: fbo.Int("n", 0, 1.5)),  # type: ignore[arg-type]
        ("parameter 'n': expected bounds from -2", lambda: fbo.Int("n", 0, 2**60)),
        ("parameter '': expected a name of", lambda: fbo.Bool("")),
        (r"parameter 'a\\nb': expected a name of printable", lambda: fbo.Bool("a\nb")),
        (r"parameter 'l{65}': expected a name of at most 64 characters in the task, not 65", lambda: fbo.Bool("l" * 65)),
        ("parameter 3: expected a name of", lambda: fbo.Bool(3)),  # type: ignore[arg-type]
        ("parameter 'c': choices 'ab'", lambda: fbo.Categorical("c", "ab")),
        ("parameter 'c': choices: expected 1 to 64, not 0", lambda: fbo.Categorical("c", [])),
        ("parameter 'c': choices: 1.0 is repeated", lambda: fbo.Categorical("c", [1, 2, 1.0])),
        ("parameter 'c': choices: ' a': expected", lambda: fbo.Categorical("c", [" a", "b"])),
        (r"parameter 'c': choices: \(1, 2\): expected texts", lambda: fbo.Categorical("c", [(1, 2), 3])),  # type: ignore[list-item]
        ("parameter 'c': choices: nan: expected texts", lambda: fbo.Categorical("c", [float("nan"), 3])),
        ("parameter 'c': value None: expected a finite number", lambda: fbo.Fixed("c", None)),
        ("parameter 'c': value ' a': expected a finite number", lambda: fbo.Fixed("c", " a")),
        ("parameter 'c': when is {}: expected a dictionary", lambda: fbo.Bool("c", when={})),
    )
    for match, make in cases:
        with pytest.raises(ValueError, match=match):
            make()


def test_a_refusal_names_no_place_in_what_the_user_has_not_written(node: fbo.Node) -> None:
    for space, message in (
        ({"x": (1, 1 + 1e-14)}, 'parameter "x": high 1.00000000000001 is too close to low 1'),
        ({"name": "t", "goal": "minimize", "parameters": [{"name": "x", "type": "bool", "low": 0}]}, 'parameter "x": low applies'),
    ):
        name = None if fbo.space.is_task(space) else "t"
        with pytest.raises(fbo.Refused) as refused:
            fbo.minimize(objectives.bowl, space, task=name, node=node, progress=False)
        assert str(refused.value).startswith(message)


def test_conditions_fixed_values_and_parameter_constraints() -> None:
    seen: list[Mapping[str, Any]] = []

    def f(**design: Any) -> float:
        seen.append(design)
        return float(design["layers"])

    space = [
        fbo.Categorical("the.kernel", ["rbf", None, True]),
        fbo.Int("layers", 1, 4),
        fbo.Int("degree", 2, 5, when={"the.kernel": [None, True]}),
        fbo.Float("width", 1, 64, log=True, when={"layers": range(2, 5)}),
        fbo.Bool("skip", when={"layers": (3, None), "the.kernel": "rbf"}),
        fbo.Fixed("epochs", 20),
        fbo.Fixed("momentum", 0.5, when={"skip": True}),
        fbo.Int("batch", 1, 64),
    ]
    rules = ["layers * batch <= 100", 'the.kernel != "true" or degree > 2']
    fbo.minimize(f, space, evals=40, seed=1, parameter_constraints=rules, progress=False)
    for one in seen:
        assert ("degree" in one) == (one["the.kernel"] in (None, True))
        assert ("width" in one) == (one["layers"] >= 2)
        assert ("skip" in one) == (one["layers"] >= 3 and one["the.kernel"] == "rbf")
        assert one.get("momentum") == (0.5 if one.get("skip") else None)
        assert one["epochs"] == 20 and type(one["epochs"]) is int
        assert one["layers"] * one["batch"] <= 100 and not (one["the.kernel"] is True and one["degree"] == 2)
    assert len({frozenset(one) for one in seen}) > 3


def test_wrong_conditions_are_named(node: fbo.Node) -> None:
    kernel = fbo.Categorical("kernel", ["rbf", "poly"])
    for match, parameter in (
        ("parameter 'd': when: unknown parameter 'kernal'; expected one of", fbo.Bool("d", when={"kernal": "rbf"})),
        ("when: kernel: .*: expected a limit: low, high or both", fbo.Bool("d", when={"kernel": {"above": 3}})),
        (r"when: kernel: range\(3, 3\): expected a range with at least", fbo.Bool("d", when={"kernel": range(3, 3)})),
        ("when: kernel: low is nan: expected a finite number", fbo.Bool("d", when={"kernel": (float("nan"), None)})),
    ):
        with pytest.raises(fbo.BadInput, match=match):
            fbo.minimize(objectives.bowl, [kernel, parameter], progress=False)
    with pytest.raises(fbo.Refused, match='parameter "d".*one of "rbf", "poly"'):
        fbo.minimize(objectives.bowl, [kernel, fbo.Bool("d", when={"kernel": "linear"})], progress=False)
    for rules, match in (("x < 1", "expected a list of expressions"), (["x <"], "expression"), (["z < 1"], "unknown parameter")):
        with pytest.raises(fbo.Error, match=match):
            fbo.minimize(objectives.bowl, SQUARE, parameter_constraints=rules, progress=False)
    with pytest.raises(fbo.BadInput, match="has them already"):
        fbo.minimize(objectives.bowl, BOWL, parameter_constraints=["x < 1"], progress=False)


def test_values_may_be_those_of_other_libraries() -> None:
    numpy = pytest.importorskip("numpy")
    space = [
        fbo.Int("n", numpy.int64(1), numpy.int64(3)),
        fbo.Categorical("size", [numpy.int64(8), numpy.float64(2.5)]),
        fbo.Bool("b", when={"n": [numpy.int64(1), 3], "size": numpy.float64(2.5)}),
        fbo.Fixed("fixed", numpy.float32(0.5), when={"b": numpy.bool_(True)}),
        fbo.Fixed("truth", numpy.bool_(True), when={"n": (numpy.int64(2), None)}),
    ]
    task = fbo.space.definition(space, "minimize", "t")
    assert isinstance(task, dict)
    _, _, b, fixed, truth = task["parameters"]
    assert b["when"] == {"n": [1, 3], "size": 2.5}
    assert (fixed["type"], fixed["value"], fixed["when"]) == ("float", 0.5, {"b": True})
    assert (truth["type"], truth["value"], truth["when"]) == ("bool", True, {"n": {"low": 2}})
    fbo.minimize(lambda **design: float(design["n"]), space, evals=4, progress=False)


def test_a_dictionary_of_bounds() -> None:
    seen: list[Mapping[str, Any]] = []

    def f(**design: Any) -> float:
        seen.append(design)
        return float(design["rate"])

    space = {"rate": (0, 1), "depth": range(1, 9), "kernel": ["rbf", "poly"], "bias": bool, "scale": fbo.Float("scale", 1, 9)}
    fbo.minimize(f, space, evals=4, progress=False)
    for design in seen:
        assert [type(value) for value in design.values()] == [float, int, str, bool, float]
        assert 0 <= design["rate"] <= 1 and 1 <= design["depth"] <= 8


@pytest.mark.parametrize("choices", [[64, 16, 0.5], [False, True], [None, 1], [None, "none", 1.5, True], ["a", "b"]])
def test_choices_come_back_as_they_are(choices: list[Any], binary: str, short_dir: Path) -> None:
    seen: list[Any] = []

    def f(choice: Any) -> float:
        seen.append(choice)
        return float(len(seen))

    kinds = {(type(one), one) for one in choices}
    space = [fbo.Categorical("choice", choices)]
    node = fbo.Node(short_dir, flags=LOCAL)
    result = fbo.minimize(f, space, task="choices", node=node, evals=8, progress=False)
    assert {(type(one), one) for one in seen} <= kinds and len({str(one) for one in seen}) > 1
    assert result.parameters == {"choice": seen[0]} and type(result.parameters["choice"]) is type(seen[0])
    assert [trial.parameters["choice"] for trial in result.trials] == seen
    assert f"choice={seen[0]!r}" in str(result)


def test_exceptions_fail_trials() -> None:
    calls = []

    def f(x: float) -> float:
        calls.append(x)
        if len(calls) in (2, 3):
            raise ValueError("no convergence")
        return float("nan") if len(calls) == 4 else x * x

    result = fbo.minimize(f, LINE, evals=4, max_failures=4, progress=False)
    states = [row["state"] for row in result.rows]
    assert states == ["done", "failed", "failed", "failed", "done", "done", "done"]
    assert [row["reason"] for row in result.rows[1:4]] == ["ValueError: no convergence"] * 2 + ["f returned nan: expected a finite number"]


def test_too_many_failures_in_a_row_raise(node: fbo.Node) -> None:
    def f(x: float) -> float:
        raise OSError("disk full")

    with pytest.raises(fbo.Failed, match="(?s)3 trials in a row failed; the last: OSError: disk full.*raise OSError"):
        fbo.minimize(f, LINE, task="full", node=node, max_failures=3, progress=False)
    assert [trial.state for trial in node.find("full").trials()] == ["failed"] * 3


@pytest.mark.parametrize("workers", [1, 2])
def test_what_is_no_number_fails_trials(workers: int) -> None:
    result = fbo.minimize(objectives.odd_at_first, LINE, evals=3, max_failures=20, workers=workers, progress=False)
    failed = [trial.reason or "" for trial in result.trials if trial.state == "failed"]
    if workers == 1:
        assert failed == [f"f returned {odd!r}: expected a finite number" for odd in objectives.ODD]
    assert failed and all("expected a finite number" in reason for reason in failed)
    assert sum(trial.state == "done" for trial in result.trials) == 3


def test_a_function_that_never_returns_a_number(node: fbo.Node) -> None:
    wrong: Any = lambda x: None  # noqa: E731
    with pytest.raises(fbo.Failed, match="10 trials in a row failed; the last: f returned None: expected a finite number"):
        fbo.minimize(wrong, LINE, task="none", node=node, progress=False)
    assert [trial.state for trial in node.find("none").trials()] == ["failed"] * 10


def test_a_part_of_the_space_may_fail() -> None:
    calls = iter(range(100))

    def f(x: float) -> float:
        if (call := next(calls)) < 9 or 10 <= call < 30:
            raise MemoryError("too large")
        return x * x

    result = fbo.minimize(f, LINE, evals=3, progress=False)
    assert [row["state"] for row in result.rows] == ["failed"] * 9 + ["done"] + ["failed"] * 20 + ["done"] * 2


def test_an_interrupt_hands_trials_back(node: fbo.Node) -> None:
    def f(x: float) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fbo.minimize(f, LINE, task="cut", node=node, progress=False)
    assert [trial.state for trial in node.find("cut").trials()] == ["waiting"]


def test_ctrl_c_ends_workers_and_hands_trials_back(node: fbo.Node, tmp_path: Path) -> None:
    started = tmp_path / "started"
    script = tmp_path / "script.py"
    script.write_text(
        "import fbo, objectives\n"
        "if __name__ == '__main__':\n"
        f"    with fbo.Node({str(node.dir)!r}) as node:\n"
        "        fbo.minimize(objectives.wait_for_ever, [fbo.Float('x', -1, 1)], task='cut', node=node,\n"
        "                     workers=2, progress=False)\n"
    )
    here = Path(__file__).parent
    environment = {**os.environ, "PYTHONPATH": f"{here.parent / 'src'}{os.pathsep}{here}", "STARTED": str(started)}
    process = subprocess.Popen(
        [sys.executable, script], env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    give_up = time.monotonic() + 60
    while not started.exists() or [one.state for one in _trials(node, "cut")] != ["running"] * 2:
        assert time.monotonic() < give_up and process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does it
    _, said = process.communicate(timeout=60)
    assert "fbo.errors.Interrupted: interrupted" in said and process.returncode != 0
    assert [one.state for one in _trials(node, "cut")] == ["waiting"] * 2
    with pytest.raises(ProcessLookupError):  # the workers, of the same group, have ended
        while time.monotonic() < give_up:
            os.killpg(process.pid, 0)
            time.sleep(0.02)


def _trials(node: fbo.Node, name: str) -> list[fbo.Trial]:
    try:
        return node.find(name).trials()
    except fbo.NotFound:
        return []


def test_workers_are_processes() -> None:
    result = fbo.minimize(objectives.slow_pid, LINE, evals=8, workers=2, progress=False)
    processes = {row["value"] for row in result.rows}
    assert len(processes) == 2 and os.getpid() not in processes
    spans = [(row["started"], row["finished"]) for row in result.rows]
    assert any(a[0] < b[0] < a[1] for a in spans for b in spans), "two are evaluated at the same time"


def test_a_worker_that_dies_fails_its_trial() -> None:
    result = fbo.minimize(objectives.sometimes_killed, LINE, evals=4, workers=2, max_failures=50, seed=1, progress=False)
    for trial in result.trials:
        killed = float(trial.parameters["x"]) > -0.1  # the first design, in the middle, among others
        assert trial.reason == ("the process that evaluated it ended by signal 9" if killed else None)
    assert {trial.state for trial in result.trials} == {"done", "failed"}


def test_a_lambda_needs_cloudpickle(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any) -> Any:
        if name == "cloudpickle":
            raise ImportError(name)
        return real(name, *args)

    with monkeypatch.context() as patched:
        patched.setattr(builtins, "__import__", without)
        with pytest.raises(fbo.BadInput, match="top of a module"):
            fbo.minimize(lambda x: x, LINE, workers=2, progress=False)
    pytest.importorskip("cloudpickle")
    assert len(fbo.minimize(lambda x: x, LINE, evals=2, workers=2, progress=False).rows) == 2


def test_a_program_without_a_guard_is_told_so(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import fbo, objectives\n"
        "fbo.minimize(objectives.bowl, [fbo.Float('x', 0, 1), fbo.Float('y', 0, 1)], workers=2, progress=False)\n"
    )
    here = Path(__file__).parent
    environment = {**os.environ, "PYTHONPATH": f"{here.parent / 'src'}{os.pathsep}{here}"}
    process = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, timeout=120)
    assert process.returncode == 1
    assert "before it was ready" in process.stderr and 'if __name__ == "__main__":' in process.stderr


def test_plot() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    result = fbo.minimize(objectives.bowl, SQUARE, evals=4, progress=False)
    axes = result.plot()
    own, best = axes.lines
    assert list(own.get_ydata()) == [row["value"] for row in result.rows]
    assert list(best.get_ydata()) == result.best_so_far()


def test_plot_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    trial = fbo.Trial(1, {"x": 1.0}, "done", value=1.0)
    with pytest.raises(fbo.Error, match=r"pip install 'fbo\[plot\]'"):
        fbo.Result("t", "id", "minimize", {"x": 1.0}, 1.0, (trial,)).plot()


def test_progress(capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    fbo.minimize(objectives.bowl, SQUARE, evals=3)
    shown = capfd.readouterr().err
    assert "3/3" in shown and "best=" in shown
