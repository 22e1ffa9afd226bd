"""From a function and a space to the best design."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .errors import BadInput, Conflict, Failed
from .evaluate import Failure, Objective, Outcome, evaluate
from .node import Node
from .result import Result
from .space import Space, converter, definition, is_task
from .task import Task
from .trial import Trial, Value
from .workers import Workers

_log = logging.getLogger("fbo")

# Failures in a row that end a call without max_failures, before the first value and later.
_MOST_AT_FIRST = 10
_MOST_IN_A_ROW = 100

_POLL = 1.0  # seconds that an ask waits for designs while others are evaluated
_ALONE = ("--mdns=false", "--listen", "/ip4/127.0.0.1/tcp/0", "--wait-for-peers", "0s")


def minimize(
    f: Objective,
    space: Space,
    *,
    evals: int = 30,
    task: str | None = None,
    node: Node | None = None,
    peers: Sequence[str] = (),
    workers: int = 1,
    seed: int | None = None,
    max_failures: int | None = None,
    progress: bool = True,
) -> Result:
    """Find where f is least.

    f is called with the parameters as keywords and returns a number. An exception, nan, an infinity
    and whatever is no number fail the trial, and the search goes on. After max_failures in a row
    fbo.Failed is raised; by default after 10 before the first value, and 100 later, as a part of
    the space may fail.

    space is a list of fbo.Float, fbo.Int, fbo.Categorical and fbo.Bool; a dictionary of bounds such as
    {"rate": (0, 1), "depth": range(1, 9), "kernel": ["rbf", "poly"], "bias": bool}, where a tuple
    is for floats and a range for ints; or a whole task: the path or text of a task file, or its
    dictionary.

    Without a name nothing is shared and nothing is kept: a node runs for this call only, in a
    temporary directory and without a network. With task, or a whole task as space, this node
    works together with the nodes that have the same task, and keeps its trials.

    evals is the number of values that the node has on the task in the end. It includes those of
    earlier calls and of other programs, so that a stopped program is simply run again. Running
    evaluations are finished, so several programs or workers may make a few more. Failed trials do
    not count. A warning states how many earlier values count; after a change of f use another name.
    node is the node to use for a task, in a `with` already or not; by default one in fbo-node's
    own directory. peers are addresses of other nodes, for a node that is started here.
    seed makes the node's decisions repeatable with one worker and without peers.

    workers is the number of processes that evaluate in parallel. They import the program anew: f
    belongs at the top of a module, and the call under `if __name__ == "__main__":`. With
    cloudpickle installed, f may be any function. A process that dies fails its trial.

    progress shows a bar, where tqdm is installed. Ctrl-C hands the running trials back.
    """
    return _optimize("minimize", f, space, evals, task, node, peers, workers, seed, max_failures, progress)


def maximize(
    f: Objective,
    space: Space,
    *,
    evals: int = 30,
    task: str | None = None,
    node: Node | None = None,
    peers: Sequence[str] = (),
    workers: int = 1,
    seed: int | None = None,
    max_failures: int | None = None,
    progress: bool = True,
) -> Result:
    """Find where f is greatest. All else is as in minimize."""
    return _optimize("maximize", f, space, evals, task, node, peers, workers, seed, max_failures, progress)


def _optimize(
    goal: str,
    f: Objective,
    space: Space,
    evals: int,
    name: str | None,
    node: Node | None,
    peers: Sequence[str],
    workers: int,
    seed: int | None,
    max_failures: int | None,
    progress: bool,
) -> Result:
    _check(f, space, evals, name, node, peers, workers, max_failures)
    alone = name is None and not is_task(space)
    order = definition(space, goal, name or "f")
    with contextlib.ExitStack() as stack:
        # Workers come first: in a worker that runs the whole program again nothing else has begun.
        pool = stack.enter_context(Workers(f, workers)) if workers > 1 else None
        used = stack.enter_context(_node(node, alone, peers))
        before = {one["id"]: one for one in used.tasks()}
        task = stack.enter_context(used.task(order, seed=seed))
        try:
            _check_task(task, goal)
        except BadInput:
            if task.id not in before:
                task.leave()
            raise
        if not alone:
            _warn_of_others(task, before)
        run = _Run(task, evals, max_failures, converter(space))
        with _bar(evals, progress) as bar:
            run.show(bar)
            if pool is None:
                _one_by_one(run, f, bar)
            else:
                _side_by_side(run, pool, bar)
        return run.result()


def _one_by_one(run: _Run, f: Objective, bar: Any) -> None:
    while run.wanted():
        for trial in run.ask():
            run.end(trial, evaluate(f, trial.parameters))
            run.show(bar)


def _side_by_side(run: _Run, pool: Workers, bar: Any) -> None:
    under_way = 0
    while run.wanted():
        while pool.free() and under_way < run.wanted():
            given = run.ask(wait=_POLL if under_way else 60.0)
            for trial in given:
                pool.begin(trial)
                under_way += 1
            if not given:
                break
        for trial, outcome in pool.ended(None if under_way else 0.0):
            under_way -= 1
            run.end(trial, outcome)
            run.show(bar)


class _Run:
    """How far it is."""

    def __init__(
        self, task: Task, evals: int, max_failures: int | None, convert: Callable[[Mapping[str, Value]], dict[str, Any]]
    ) -> None:
        self.task = task
        self._convert = convert
        self._evals = evals
        self._max_failures = max_failures
        earlier = [trial for trial in task.trials() if trial.value is not None]
        self._values = [trial.value for trial in earlier if trial.value is not None]
        self._done = len(self._values)
        self._in_a_row = 0
        if earlier:
            self._warn_of_earlier(earlier)

    def wanted(self) -> int:
        """Return how many values are still wanted. Other programs may have added some."""
        self._done = self.task.counts()["done"]
        return max(self._evals - self._done, 0)

    def _warn_of_earlier(self, earlier: Sequence[Trial]) -> None:
        newest = max(trial.finished or "" for trial in earlier)
        left = self._evals - len(earlier)
        what = f"{left} more are evaluated" if left > 0 else "the function is not called"
        _log.warning(
            "the task %r has %d values of earlier calls, the newest of %s. evals=%d counts them, so %s. "
            "If the function has changed since, give the task another name",
            self.task.name, len(earlier), newest[:19].replace("T", " "), self._evals, what,
        )  # fmt: skip

    def ask(self, *, wait: float = 60.0) -> list[Trial]:
        """Return at most one new trial, with values as the function gets them."""
        return [self._as_given(trial) for trial in self.task.ask(wait=wait)]

    def _as_given(self, trial: Trial) -> Trial:
        return dataclasses.replace(trial, parameters=self._convert(trial.parameters))

    def end(self, trial: Trial, outcome: Outcome) -> None:
        """Report the outcome of a trial to the node."""
        try:
            if not isinstance(outcome, Failure):
                self.task.tell(trial, outcome)
                self._done += 1  # for the bar
                self._in_a_row = 0
                self._values.append(outcome)
                return
            self.task.fail(trial, outcome.reason)
        except Conflict as error:
            _log.warning("trial %d: %s", trial.id, error)  # its lease had ended, and another has ended it
            return
        _log.warning("trial %d failed: %s", trial.id, outcome.reason)
        self._in_a_row += 1
        most = self._max_failures or (_MOST_IN_A_ROW if self._values else _MOST_AT_FIRST)
        if self._in_a_row >= most:
            raise Failed(f"{self._in_a_row} trials in a row failed; the last: {outcome.reason}\n{outcome.trace}".rstrip())

    def show(self, bar: Any) -> None:
        """Move the bar."""
        if bar is None:
            return
        bar.n = min(self._done, self._evals)
        values = [value for value in self._values if value is not None]
        if values:
            best = min(values) if self.task.goal == "minimize" else max(values)
            bar.set_postfix(best=f"{best:.6g}", refresh=False)
        bar.refresh()

    def result(self) -> Result:
        """Return what has been found."""
        best = self.task.best()
        if best is None or best.value is None:
            raise Failed("no trial has a value")
        task = self.task
        trials = tuple(self._as_given(trial) for trial in task.trials())
        recommended = best.recommended
        if recommended:
            recommended = dataclasses.replace(recommended, parameters=self._convert(recommended.parameters))
        return Result(task.name, task.id, task.goal, self._convert(best.parameters), best.value, trials, recommended)


@contextlib.contextmanager
def _node(given: Node | None, alone: bool, peers: Sequence[str]) -> Iterator[Node]:
    """Give a node in use: this one, one for this call, or that of the user."""
    if given is not None:
        with given:
            yield given
    elif alone:
        with tempfile.TemporaryDirectory(prefix="fbo-") as directory:
            with Node(Path(directory), flags=_ALONE) as node:
                yield node
    else:
        with Node(peers=peers) as node:
            yield node


@contextlib.contextmanager
def _bar(total: int, wanted: bool) -> Iterator[Any]:
    try:
        from tqdm import tqdm
    except ImportError:
        wanted = False
    if not wanted:
        yield None
        return
    with tqdm(total=total, unit="trial") as bar:
        yield bar


def _check(
    f: object,
    space: Space,
    evals: int,
    name: str | None,
    node: Node | None,
    peers: Sequence[str],
    workers: int,
    max_failures: int | None,
) -> None:
    if not callable(f):
        raise BadInput(f"f is {f!r}: accepted is a function that takes the parameters as keywords")
    for what, number in (("evals", evals), ("workers", workers), ("max_failures", 1 if max_failures is None else max_failures)):
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise BadInput(f"{what} is {number!r}: accepted are whole numbers from 1 on")
    if name is not None and is_task(space):
        raise BadInput(f"task={name!r}: the space is a whole task, which has its name already")
    if peers and node is not None:
        raise BadInput("peers are for a node that is started here; give them to fbo.Node(peers=…) instead")
    if name is None and not is_task(space) and (peers or node is not None):
        what = "peers are" if peers else "node is"
        raise BadInput(f"{what} given without task: accepted is a name, which all nodes of the task have for it")


def _warn_of_others(task: Task, before: Mapping[str, Mapping[str, Any]]) -> None:
    """Warn of tasks of the same name with values that do not count."""
    for identity, one in before.items():
        if one["name"] == task.name and identity != task.id and one["trials"]["done"]:
            _log.warning(
                "the node has another task %r with %d values, which do not count here: its space or settings differ (%s)",
                task.name, one["trials"]["done"], identity,
            )  # fmt: skip


def _check_task(task: Task, goal: str) -> None:
    if task.goal != goal:
        raise BadInput(f"the task's goal is {task.goal}: accepted is a task with the goal {goal}, or fbo.{task.goal}")
    if task.definition.get("constraints"):
        raise BadInput("the task has constraints, for which one number is not enough: use fbo.Node and Task.ask and tell")
