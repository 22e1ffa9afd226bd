"""A daemon of this checkout, for the tests."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import build_wheels
import pytest

import fbo

LOCAL = ["--mdns=false", "--listen", "/ip4/127.0.0.1/tcp/0", "--wait-for-peers", "0"]

BOWL = """name: bowl
goal: minimize
parameters:
  - {name: x, type: float, low: -2, high: 2}
  - {name: units, type: int, low: 1, high: 8}
surrogate: {type: rff, features: 16}
strategy: {type: ts, initial_designs: 2}
"""


@pytest.fixture(scope="session")
def binary(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of fbo-node: $FBO_NODE, or built here, as for a wheel."""
    if given := os.environ.get("FBO_NODE"):
        return given
    path = tmp_path_factory.mktemp("bin") / "fbo-node"
    build_wheels.build_program(path)
    return str(path)


@pytest.fixture
def short_dir() -> Iterator[Path]:
    """A directory whose path leaves room for the name of a socket."""
    path = Path(tempfile.mkdtemp(prefix="fbo"))
    yield path
    shutil.rmtree(path)


@pytest.fixture
def node(binary: str, short_dir: Path) -> Iterator[fbo.Node]:
    """A node that stays on this machine."""
    with fbo.Node(short_dir, binary=binary, flags=LOCAL) as started:
        yield started


def assert_no_node_is_left(directory: Path) -> None:
    """Wait until no program uses the node of a directory, and check that it has ended then."""
    give_up = time.monotonic() + 60
    with open(directory / "users.lock", "rb") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                assert time.monotonic() < give_up, "a node or a user of it is left"
                time.sleep(0.02)
        # A node that has not noticed the end of its last user waits for this lock.
        if not (directory / "control.sock").exists():
            return
    wait_until(lambda: not (directory / "control.sock").exists(), "the node is left")


def wait_until(happened: Callable[[], bool], what: str) -> None:
    give_up = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < give_up, what
        time.sleep(0.05)
