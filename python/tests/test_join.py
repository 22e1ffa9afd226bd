"""Joining a task by one string."""

from __future__ import annotations

import asyncio
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import BOWL, LOCAL

import fbo
import fbo.aio


@pytest.fixture
def second(binary: str) -> Iterator[fbo.Node]:
    """Another node, which knows no peer."""
    with tempfile.TemporaryDirectory(prefix="fbo") as path, fbo.Node(path, binary=binary, flags=LOCAL) as node:
        yield node


def _invite(binary: str, node: fbo.Node, *arguments: str) -> str:
    line = [binary, "task", "invite", "bowl", "--data-dir", str(node.dir), *arguments]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout.split()[0]


@pytest.fixture
def invited(binary: str, node: fbo.Node) -> fbo.Task:
    """A task that the first node works on by invitation."""
    assert node.dir is not None
    file = node.dir / "task.yaml"
    file.write_text(BOWL)
    line = [binary, "task", "invite", str(file)]
    return node.task(BOWL, invitation=subprocess.run(line, check=True, capture_output=True, text=True).stdout)


def test_join_with_a_preview(binary: str, node: fbo.Node, second: fbo.Node, invited: fbo.Task, tmp_path: Path) -> None:
    string = _invite(binary, node, "--guest", "lab")
    shown = second.preview(string)
    assert (shown.id, shown.name, shown.open, shown.served) == (invited.id, "bowl", False, False)
    assert shown.task["goal"] == "minimize" and not shown.reveals  # ts sends nothing
    assert second.tasks() == []
    file = tmp_path / "string.txt"
    file.write_text(string + "\n")
    task = second.join(file, client="a", enqueue=[{"x": 0.5, "units": 3}])
    assert task.id == invited.id
    trial = task.ask()[0]
    assert trial.parameters == {"x": 0.5, "units": 3}
    task.tell(trial, 1.0)
    assert second.join(string).id == task.id and second.preview(string).served


def test_join_errors(binary: str, node: fbo.Node, second: fbo.Node, invited: fbo.Task, tmp_path: Path) -> None:
    string = _invite(binary, node, "--guest", "lab")
    _invite(binary, node, "--revoke", "lab")
    with pytest.raises(fbo.NotAdmitted, match="410 Gone: the string was revoked") as gone:
        second.join(string)
    mistyped = string[:90] + ("a" if string[90] != "a" else "b") + string[91:]
    with pytest.raises(fbo.Refused, match="mistyped") as refused:
        second.join(mistyped)
    for error in (gone.value, refused.value):
        assert string[100:120] not in str(error) + repr(error)
    with pytest.raises(fbo.BadInput, match="expected a file with the string"):
        second.join(tmp_path / "none")
    second.task(BOWL)
    with pytest.raises(fbo.Conflict, match="leave the task first"):
        second.join(_invite(binary, node, "--guest", "other"))


def test_join_asynchronously(binary: str, node: fbo.Node, second: fbo.Node, invited: fbo.Task) -> None:
    string = _invite(binary, node, "--guest", "lab")

    async def join() -> str:
        async with fbo.aio.Node(second.dir) as same:
            shown = await same.preview(string)
            task = await same.join(string)
            return shown.id + task.id

    assert asyncio.run(join()) == 2 * invited.id
