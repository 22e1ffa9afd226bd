"""Two nodes on one task, a node that is killed, and systems without Unix sockets."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import objectives
import pytest
from conftest import BOWL, LOCAL

import fbo
import fbo.daemon

SQUARE = [fbo.Float("x", -1, 1), fbo.Float("y", -1, 1)]


@pytest.fixture
def second_dir() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="fbo") as path:
        yield Path(path)


def test_a_peer_has_a_part_in_designs(binary: str, short_dir: Path, second_dir: Path) -> None:
    with fbo.Node(short_dir, binary=binary, flags=LOCAL) as first:
        alone = fbo.minimize(objectives.bowl, SQUARE, task="shared", node=first, evals=8, progress=False)
        assert not alone.contributions()
        info = first.info()
        address = next(one for one in info["addresses"] if "/tcp/" in one)
        # Wait for what the peer knows, as long as it takes.
        flags = [*LOCAL[:-1], "60s"]
        second = fbo.Node(second_dir, binary=binary, peers=[address], flags=flags)
        both = fbo.minimize(objectives.bowl, SQUARE, task="shared", node=second, evals=8, progress=False)
        assert both.task_id == alone.task_id
        helped = [row for row in both.rows if row["from_peers"]]
        assert helped and all(row["peer_count"] == 1 and row["peer"] is None for row in helped)
        assert both.contributions() == {"1 peer": [row["trial"] for row in helped]}
        assert "peers had a part in" in str(both)
        assert all(row["why"] for row in both.rows)


def test_a_strategy_that_follows_one_peer_names_it(binary: str, short_dir: Path, second_dir: Path) -> None:
    followed = BOWL.replace("type: ts", "type: fts, schedule: constant, own_probability: 0")
    with fbo.Node(short_dir, binary=binary, flags=LOCAL) as first, fbo.Node(
        second_dir, binary=binary, peers=first.info()["addresses"], flags=[*LOCAL[:-1], "60s"]
    ) as second:

        def f(x: float, units: int) -> float:
            return x * x + units

        fbo.minimize(f, followed, node=first, evals=5, progress=False)
        result = fbo.minimize(f, followed, node=second, evals=8, progress=False)
        peer = first.info()["peer_id"]
        assert result.contributions()[peer] == [row["trial"] for row in result.rows if row["peer"] == peer]


def _kill(node: fbo.Node) -> None:
    assert node._daemon is not None
    process = node._daemon._process
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def test_a_killed_node_is_started_again(binary: str, short_dir: Path) -> None:
    kills = 0
    with fbo.Node(short_dir, binary=binary, flags=LOCAL) as node:

        def f(x: float, y: float) -> float:
            nonlocal kills
            if kills < 2:
                kills += 1
                _kill(node)
            return objectives.bowl(x, y)

        result = fbo.minimize(f, SQUARE, task="killed", node=node, evals=5, progress=False)
        assert [row["state"] for row in result.rows] == ["done"] * 5
        # Also where many threads find it gone at once.
        task = node.task(BOWL)
        trials = task.ask(4)
        _kill(node)
        threads = [threading.Thread(target=task.tell, args=(trial, 1.0)) for trial in trials]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [trial.state for trial in task.trials()] == ["done"] * 4
    assert kills == 2 and not node.started


def test_a_node_of_the_user_that_is_gone_is_an_error(binary: str, short_dir: Path) -> None:
    line = [binary, "serve", "--json", "--data-dir", str(short_dir), *LOCAL]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as theirs:
        assert theirs.stdout is not None
        for event in theirs.stdout:
            if '"serving"' in event:
                break
        with fbo.Node(short_dir, binary=binary) as ours:
            task = ours.task(BOWL)
            ours._client._patience = 0.2
            theirs.terminate()
            theirs.wait()
            with pytest.raises(fbo.Unreachable, match="no node answers at .*control.sock"):
                task.ask()


def test_two_programs_that_start_at_once_share_one_node(binary: str, short_dir: Path) -> None:
    entered = threading.Barrier(2, timeout=60)
    found: list[tuple[bool, str]] = []

    def use() -> None:
        with fbo.Node(short_dir, binary=binary, flags=LOCAL) as node:
            found.append((node.started, node.info()["peer_id"]))
            entered.wait()  # neither ends before both have used it

    threads = [threading.Thread(target=use) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(started for started, _ in found) == [False, True]
    assert len({peer for _, peer in found}) == 1


def test_without_unix_sockets(binary: str, short_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(socket, "AF_UNIX")  # as on Windows
    with fbo.Node(short_dir, binary=binary, flags=LOCAL) as node:
        client = node._client
        assert client._socket is None and client._host.startswith("127.0.0.1:")
        assert client._token == (short_dir / "http.token").read_text().strip()
        result = fbo.minimize(objectives.bowl, SQUARE, task="ported", node=node, evals=4, progress=False)
        assert len(result.rows) == 4
        port = client._host
        _kill(node)
        assert len(node.tasks()) == 1, "it is started again"
        assert client._host.startswith("127.0.0.1:") and client._host != port
        with fbo.Node(url=f"http://{client._host}", token=short_dir / "http.token") as same:
            assert same.info()["peer_id"] == node.info()["peer_id"]
        with pytest.raises(fbo.BadInput, match=r"token .*nothing"):
            fbo.Node(url=f"http://{client._host}", token=short_dir / "nothing")


def test_long_evaluations_keep_their_trial(binary: str, short_dir: Path) -> None:
    with fbo.Node(short_dir, binary=binary, flags=[*LOCAL, "--lease", "5s"]) as node:
        task = node.task(BOWL, lease=5)  # a heartbeat may come three seconds late
        (trial,) = task.ask()
        give_up = time.monotonic() + 15
        others = node.find("bowl", lease=60)
        while time.monotonic() < give_up:  # three leases; another one asks all the while
            for other in others.ask():
                assert other.id != trial.id
                others.fail(other, "only to look")
            time.sleep(0.1)
        assert task.tell(trial, 1.0).attempts == 1
