"""Nodes and tasks for asyncio: the same calls, each in a thread.

    async with fbo.aio.Node() as node:
        task = await node.task("bowl.yaml")
        for trial in await task.ask():
            await task.tell(trial, await measure(**trial.parameters))

Each node has threads of its own for it, so that a wait for designs holds up nothing else.
An `ask` that is cancelled hands back what it still gets.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, SupportsFloat, SupportsIndex, TypeVar

from . import node as _node
from . import task as _task
from .errors import Error
from .space import TaskFile
from .stopping import Stop
from .trial import Row, Trial, Value

_T = TypeVar("_T")
_THREADS = 64  # calls at once; further ones wait


class Node:
    """A node, as an asynchronous context manager. Its arguments are those of `fbo.Node`.

    Examples:
        ```python
        async with fbo.aio.Node() as node:
            task = await node.task("bowl.yaml")
            for trial in await task.ask():
                await task.tell(trial, await measure(**trial.parameters))
        ```
    """

    def __init__(self, *args: Any, **keywords: Any) -> None:
        self._node = _node.Node(*args, **keywords)
        self._threads: ThreadPoolExecutor | None = None

    async def __aenter__(self) -> Node:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="fbo.aio")
        future = self._submit(self._node.__enter__)
        try:
            await asyncio.shield(asyncio.wrap_future(future))
        except BaseException:
            threads, self._threads = self._threads, None
            future.add_done_callback(lambda _: self._node.__exit__(None, None, None))  # also one that comes later
            if threads is not None:
                threads.shutdown(wait=False)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        threads, self._threads = self._threads, None
        if threads is None:
            return
        try:
            await asyncio.get_running_loop().run_in_executor(threads, self._node.__exit__, None, None, None)
        finally:
            threads.shutdown(wait=False)

    async def task(self, task: TaskFile, **keywords: Any) -> Task:
        """Join a task. The keywords are those of `fbo.Node.task`."""
        return Task(self, await self._call(self._node.task, task, **keywords))

    async def join(self, string: str | Path, **keywords: Any) -> Task:
        """Join the task of a string. The keywords are those of `fbo.Node.join`."""
        return Task(self, await self._call(self._node.join, string, **keywords))

    async def preview(self, string: str | Path) -> _node.JoinPreview:
        """Return the task of a string, and join nothing."""
        return await self._call(self._node.preview, string)

    async def find(self, task: str, **keywords: Any) -> Task:
        """Return a task that the node serves already, by its ID or name."""
        return Task(self, await self._call(self._node.find, task, **keywords))

    async def tasks(self) -> list[dict[str, Any]]:
        """Return id, name, goal and number of trials of each task that the node serves."""
        return await self._call(self._node.tasks)

    async def info(self) -> dict[str, Any]:
        """Return the node's version, peer_id, addresses and number of tasks."""
        return await self._call(self._node.info)

    def _submit(self, call: Callable[..., _T], *args: Any, **keywords: Any) -> Future[_T]:
        if self._threads is None:
            raise Error("the node is not in use: write `async with fbo.aio.Node(…) as node:`")
        return self._threads.submit(functools.partial(call, *args, **keywords))

    async def _call(self, call: Callable[..., _T], *args: Any, **keywords: Any) -> _T:
        return await asyncio.wrap_future(self._submit(call, *args, **keywords))


class Task:
    """A task that a node serves. Its calls are those of `fbo.Task`, and raise the same errors.

    Attributes:
        sync: The same task as an `fbo.Task`, for threads.
    """

    def __init__(self, node: Node, task: _task.Task) -> None:
        self._node = node
        self.sync = task  # for threads
        self.id, self.name, self.goal, self.client = task.id, task.name, task.goal, task.client
        self.objectives, self.definition = task.objectives, task.definition

    async def ask(self, count: int = 1, *, wait: float = 60.0) -> list[Trial]:
        """Return up to count new trials, as `fbo.Task.ask` does. A cancelled call returns its trials to the node."""
        future = self._node._submit(self.sync.ask, count, wait=wait)
        try:
            return await asyncio.shield(asyncio.wrap_future(future))
        except asyncio.CancelledError:
            future.add_done_callback(self._hand_back)
            raise

    async def tell(
        self,
        trial: Trial | int,
        value: SupportsFloat | Mapping[str, SupportsFloat],
        *,
        constraints: Mapping[str, SupportsFloat | bool] | None = None,
        metrics: Mapping[str, SupportsFloat] | None = None,
        **kept: Any,
    ) -> Trial:
        """Report the outcome of a trial, as `fbo.Task.tell` does, also with cost, attributes, tags and files."""
        return await self._node._call(self.sync.tell, trial, value, constraints=constraints, metrics=metrics, **kept)

    async def fail(self, trial: Trial | int, reason: str, **kept: Any) -> Trial:
        """Report that a trial has no outcome, as `fbo.Task.fail` does."""
        return await self._node._call(self.sync.fail, trial, reason, **kept)

    async def report(self, trial: Trial | int, step: SupportsIndex, value: SupportsFloat, *, cost: SupportsFloat | None = None) -> Stop | None:
        """Report a value by step, as `fbo.Task.report` does. `Trial.report` would block the event loop."""
        return await self._node._call(self.sync.report, trial, step, value, cost=cost)

    async def stop(self, trial: Trial | int, reason: str = "", **kept: Any) -> Trial:
        """Report that an evaluation was stopped early, as `fbo.Task.stop` does."""
        return await self._node._call(self.sync.stop, trial, reason, **kept)

    async def annotate(self, trial: Trial | int, **changes: Any) -> Trial:
        """Change what a trial keeps for you, as `fbo.Task.annotate` does."""
        return await self._node._call(self.sync.annotate, trial, **changes)

    async def note(self, trial: Trial | int, text: str, *, author: str | None = None) -> Trial:
        """Add a note to a trial, as `fbo.Task.note` does."""
        return await self._node._call(self.sync.note, trial, text, author=author)

    async def requeue(self, trial: Trial | int) -> Trial:
        """Return a trial to the node. The next client that asks gets it."""
        return await self._node._call(self.sync.requeue, trial)

    async def best(self) -> Trial | None:
        """Return the best feasible trial so far, or None; its `recommended` is the design to prefer, if outcomes are noisy."""
        return await self._node._call(self.sync.best)

    async def front(self) -> list[Trial]:
        """Return the Pareto front of a task with several objectives, as `fbo.Task.front` does."""
        return await self._node._call(self.sync.front)

    async def recommend(self) -> dict[str, Value] | None:
        """Return the design that is best according to the model, or None while there is no model."""
        return await self._node._call(self.sync.recommend)

    async def trials(self) -> list[Trial]:
        """Return all trials of this node, in order."""
        return await self._node._call(self.sync.trials)

    async def counts(self) -> dict[str, int]:
        """Return the numbers of trials of this node by state: waiting, running, done, failed and stopped."""
        return await self._node._call(self.sync.counts)

    async def rows(self) -> list[Row]:
        """Return all trials as rows."""
        return await self._node._call(self.sync.rows)

    def _hand_back(self, future: Future[list[Trial]]) -> None:
        if future.cancelled() or future.exception() is not None:
            return
        for trial in future.result():
            try:
                self.sync.requeue(trial)
            except Error:  # the node is gone; the lease ends by itself
                return
