"""Studies and programs that use the node of one data directory."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import optuna
import pytest
from conftest import LOCAL, assert_no_node_is_left

import fbo
from fbo.optuna import Sampler

SOURCES = Path(fbo.__file__).parents[1]
SPACE: dict[str, optuna.distributions.BaseDistribution] = {"x": optuna.distributions.FloatDistribution(-10, 10)}

optuna.logging.set_verbosity(optuna.logging.ERROR)


def quadratic(trial: optuna.Trial) -> float:
    return (trial.suggest_float("x", -10, 10) - 2) ** 2


@pytest.fixture
def local(binary: str, short_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data directory of all programs, whose node stays on this machine."""
    script = short_dir / "fbo-node"
    quoted = " ".join(f"'{flag}'" for flag in LOCAL)
    script.write_text(f"#!/bin/sh\nexec '{binary}' \"$@\" {quoted}\n")
    script.chmod(0o700)
    monkeypatch.setenv("FBO_NODE", str(script))
    data = short_dir / "data"
    monkeypatch.setenv("FBO_DATA_DIR", str(data))
    return data


class Program:
    """A program that goes on, up to its next `pause()`, with each line that it gets."""

    def __init__(self, script: str) -> None:
        begin = "import fbo\ndef pause():\n    print('paused', flush=True)\n    input()\n"
        self._process = subprocess.Popen(
            [sys.executable, "-c", begin + script],
            env={**os.environ, "PYTHONPATH": str(SOURCES)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def await_pause(self) -> None:
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "paused\n"

    def go_on(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def await_end(self) -> str:
        """Return what it printed last."""
        output, _ = self._process.communicate(timeout=60)
        assert self._process.returncode == 0
        return str(output)

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def programs() -> Iterator[list[Program]]:
    made: list[Program] = []
    yield made
    for program in made:
        program.kill()


OPTUNA = """
import optuna, fbo.optuna
optuna.logging.set_verbosity(optuna.logging.ERROR)
space = {"x": optuna.distributions.FloatDistribution(-10, 10)}
study = optuna.create_study(sampler=fbo.optuna.Sampler("shared", search_space=space))
def f(trial):
    if trial.number == 2:
        pause()
    return trial.suggest_float("x", -10, 10) ** 2
study.optimize(f, n_trials=5)
print(len(study.trials))
"""

MINIMIZE = """
calls = []
def f(x):
    calls.append(x)
    if len(calls) == 3:
        pause()
    return x * x
fbo.minimize(f, [fbo.Float("x", -10, 10)], task="shared", evals=EVALS, progress=False)
print(len(calls))
"""


def test_two_samplers_in_one_program(local: Path) -> None:
    first = optuna.create_study(sampler=Sampler("first", search_space=SPACE))
    first.optimize(quadratic, n_trials=2)
    second = optuna.create_study(sampler=Sampler("second", search_space=SPACE))
    second.optimize(quadratic, n_trials=2)
    first.optimize(quadratic, n_trials=2)
    del first  # and with it the sampler that has started the node
    second.optimize(quadratic, n_trials=2)
    assert len(second.trials) == 4
    assert (local / "control.sock").exists()
    del second
    assert_no_node_is_left(local)


def test_samplers_share_a_node_object(local: Path) -> None:
    node = fbo.Node()
    first, second = Sampler("first", node, search_space=SPACE), Sampler("second", node, search_space=SPACE)
    optuna.create_study(sampler=first).optimize(quadratic, n_trials=1)
    first.close()
    optuna.create_study(sampler=second).optimize(quadratic, n_trials=1)
    second.close()
    assert not node.in_use
    assert not (local / "control.sock").exists()


def test_minimize_in_threads(local: Path) -> None:
    together = threading.Barrier(2, timeout=60)
    results: list[fbo.Result] = []

    def run(name: str, evals: int) -> None:
        def f(x: float) -> float:
            if len(seen) == 0:
                together.wait()  # both use the node
            seen.append(x)
            return x * x

        seen: list[float] = []
        results.append(fbo.minimize(f, [fbo.Float("x", -1, 1)], task=name, evals=evals, progress=False))

    threads = [threading.Thread(target=run, args=one) for one in (("short", 1), ("long", 6))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(len(result.rows) for result in results) == [1, 6]
    assert_no_node_is_left(local)


@pytest.mark.parametrize("script", [OPTUNA, MINIMIZE], ids=["optuna", "minimize"])
@pytest.mark.parametrize("killed", [False, True], ids=["ends", "killed"])
def test_two_programs(local: Path, programs: list[Program], script: str, killed: bool) -> None:
    first = Program(script.replace("EVALS", "5"))
    programs.append(first)
    first.await_pause()
    second = Program(script.replace("EVALS", "10"))
    programs.append(second)
    second.await_pause()
    if killed:
        first.kill()
    else:
        first.go_on()
        assert int(first.await_end()) >= 3
    second.go_on()
    assert int(second.await_end()) >= 5
    assert_no_node_is_left(local)


def test_a_node_that_is_killed_is_started_again_by_any_of_its_users(local: Path) -> None:
    with fbo.Node() as first, fbo.Node() as second:
        assert first.started and not second.started
        assert first._daemon is not None
        first._daemon._process.kill()
        assert second.tasks() == []
        assert first.tasks() == []
        assert first.started != second.started or not first._daemon.runs
    assert_no_node_is_left(local)


def test_a_copy_of_the_program_does_not_end_the_node(local: Path) -> None:
    script = """
import os, sys
with fbo.Node() as node:
    if os.fork() == 0:
        sys.exit()  # leaves the context
    os.wait()
    print(node.tasks())
"""
    assert Program(script).await_end() == "[]\n"
    assert_no_node_is_left(local)


def test_a_notebook_cell_that_runs_twice(local: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("PYTHONPATH", str(SOURCES))
    new: Any = nbformat.v4
    cells = [
        "import optuna, fbo.optuna\nspace = {'x': optuna.distributions.FloatDistribution(-10, 10)}",
        "study = optuna.create_study(sampler=fbo.optuna.Sampler('cell', search_space=space))\n"
        "study.optimize(lambda trial: trial.suggest_float('x', -10, 10) ** 2, n_trials=3)",
    ]
    notebook = new.new_notebook(cells=[new.new_code_cell(source) for source in (*cells, cells[1], "len(study.trials)")])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    assert notebook.cells[-1].outputs[0]["data"]["text/plain"] == "3"
    assert_no_node_is_left(local)
