"""Finding, starting and ending a node."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import BOWL, LOCAL

import fbo


def test_a_running_node_is_used_and_left(node: fbo.Node) -> None:
    assert node.started and node.dir is not None
    with fbo.Node(node.dir) as second:
        assert not second.started
        second.task(BOWL)
    assert [task["name"] for task in node.tasks()] == ["bowl"]


def test_what_was_started_is_ended_and_goes_on(binary: str, short_dir: Path) -> None:
    with fbo.Node(short_dir, binary=binary, flags=LOCAL) as node:
        task = node.task(BOWL)
        task.tell(task.ask()[0], 3)
    assert not (short_dir / "control.sock").exists()
    with pytest.raises(fbo.Error, match="with fbo.Node"):
        node.tasks()
    with fbo.Node(short_dir, binary=binary, flags=LOCAL) as node:
        best = node.find("bowl").best()
        assert best is not None and best.value == 3


def test_a_node_ends_with_a_program_that_is_killed(binary: str, short_dir: Path) -> None:
    script = (
        "import fbo, sys, time\n"
        f"with fbo.Node({str(short_dir)!r}, binary={binary!r}, flags={LOCAL!r}) as node:\n"
        "    print(node._daemon._process.pid, flush=True)\n"
        "    time.sleep(600)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(fbo.__file__).parents[1])}
    program = subprocess.Popen([sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, text=True)
    assert program.stdout is not None
    daemon = int(program.stdout.readline())
    assert (short_dir / "control.sock").exists()
    program.kill()
    program.communicate()
    give_up = time.monotonic() + 60
    while (short_dir / "control.sock").exists() or _lives(daemon):
        assert time.monotonic() < give_up, "the node outlives its program"
        time.sleep(0.02)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    # One that has ended may wait for whoever collects its code.
    status = Path(f"/proc/{process}/stat")
    return not status.exists() or status.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def test_over_a_port_with_the_token(binary: str, short_dir: Path) -> None:
    deep = short_dir / ("long" * 25)  # a socket's path has less room
    with fbo.Node(deep, binary=binary, flags=LOCAL) as node:
        client = node._client
        assert client._host.startswith("127.0.0.1:")
        url, token = f"http://{client._host}", client._token
        with fbo.Node(url=url, token=token) as same:
            assert same.info()["peer_id"] == node.info()["peer_id"]
        with pytest.raises(fbo.Denied, match="header Authorization"), fbo.Node(url=url, token="wrong"):
            pass


def test_where_the_binary_comes_from(short_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("FBO_NODE", raising=False)
    with pytest.raises(fbo.BinaryMissing, match="go install ./cmd/fbo-node"), fbo.Node(short_dir):
        pass
    with pytest.raises(fbo.BinaryMissing, match="binary '/nothing/here'"), fbo.Node(short_dir, binary="/nothing/here"):
        pass


def test_a_node_that_does_not_start_says_why(binary: str, short_dir: Path) -> None:
    with pytest.raises(fbo.NotStarted, match="--lease"), fbo.Node(short_dir, binary=binary, flags=["--lease", "-1s"]):
        pass
    with pytest.raises(fbo.BadInput, match="url names a node"):
        fbo.Node(short_dir, url="http://127.0.0.1:1", token="t")
    with pytest.raises(fbo.BadInput, match="http.token"):
        fbo.Node(url="http://127.0.0.1:1")
