"""Finding, starting and ending a node."""

from __future__ import annotations

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
