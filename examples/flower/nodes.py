"""The nodes of fbo of several sites, on this machine."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import fbo

LOCAL = ["--mdns=false", "--listen", "/ip4/127.0.0.1/tcp/0", "--wait-for-peers", "0"]


@contextlib.contextmanager
def running(folder: Path, directories: Sequence[str]) -> Iterator[None]:
    """Start a node in each data directory of a folder, and end them with the context.

    All nodes connect to the first one, which introduces them to each other.
    """
    with contextlib.ExitStack() as stack:
        peers: list[str] = []
        for directory in directories:
            node = stack.enter_context(fbo.Node(folder / directory, flags=LOCAL, peers=peers[:1]))
            peers += [address for address in node.info()["addresses"] if "/tcp/" in address][:1]
        yield
