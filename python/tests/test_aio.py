"""The form for asyncio."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import BOWL, LOCAL

import fbo
import fbo.aio


def test_many_at_once(binary: str, short_dir: Path) -> None:
    async def work(task: fbo.aio.Task) -> None:
        for _ in range(2):
            for trial in await task.ask():
                await asyncio.sleep(0)
                await task.tell(trial, float(trial.parameters["x"]) ** 2)

    async def run() -> None:
        async with fbo.aio.Node(short_dir, binary=binary, flags=LOCAL) as node:
            task = await node.task(BOWL)
            await asyncio.gather(*(work(task) for _ in range(3)))
            rows = await task.rows()
            done = [row for row in rows if row["state"] == "done"]
            assert len(done) == 6 and {row["state"] for row in rows} <= {"done", "waiting"}
            best = await task.best()
            assert best is not None and best.value == min(row["value"] for row in done)
            failed = await task.fail((await task.ask())[0], "no")
            assert failed.state == "failed"
            again = await node.find("bowl")
            (trial,) = await again.ask()
            assert (await again.requeue(trial)).state == "waiting"
            assert set(await task.recommend() or {}) == {"x", "units"}
            assert len(await node.tasks()) == 1 and (await node.info())["tasks"] == 1
            with pytest.raises(fbo.NotFound):
                await node.find("nothing")
        with pytest.raises(fbo.Error, match="async with"):
            await node.tasks()

    asyncio.run(run())
    assert not (short_dir / "control.sock").exists()


def test_a_cancelled_ask_hands_back(binary: str, short_dir: Path) -> None:
    async def run() -> None:
        async with fbo.aio.Node(short_dir, binary=binary, flags=LOCAL) as node:
            task = await node.task(BOWL)
            asking = asyncio.ensure_future(task.ask(20))
            await asyncio.sleep(0)  # it is sent
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            give_up = time.monotonic() + 60
            while [trial.state for trial in await task.trials()] != ["waiting"] * 20 or task.sync._held.ids():
                assert time.monotonic() < give_up
                await asyncio.sleep(0.02)

    asyncio.run(run())


def test_a_cancelled_start_leaves_no_node(binary: str, short_dir: Path) -> None:
    async def run() -> tuple[fbo.aio.Node, ThreadPoolExecutor]:
        node = fbo.aio.Node(short_dir, binary=binary, flags=LOCAL)
        starting = asyncio.ensure_future(node.__aenter__())
        while (threads := node._threads) is None:
            await asyncio.sleep(0)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        return node, threads

    node, threads = asyncio.run(run())
    threads.shutdown(wait=True)
    assert (short_dir / "identity.key").exists() and not node._node.in_use and not node._node.started
    with fbo.Node(short_dir, binary=binary, flags=LOCAL) as other:
        assert other.started
