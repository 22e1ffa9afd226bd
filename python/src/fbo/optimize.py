"""From a function and a space to the best design."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import BadInput, Conflict, Failed, Interrupted, Refused
from .evaluate import Failure, Measured, Function, Outcome, Stopped, evaluate, takes_trial
from .limits import Constraints, constraints_of
from .node import Node
from .objectives import Objective, scores_of
from .objectives import check as check_objectives
from .result import Result
from .run import Callback, Run
from .space import Space, converter, definition, is_task
from .stopping import StopRule
from .task import Task
from .trial import Trial, Value, reporting
from .workers import Workers

_log = logging.getLogger("fbo")

# Failures in a row that end a call without max_failures, before the first value and later.
_MOST_AT_FIRST = 10
_MOST_IN_A_ROW = 100

_MOST_WITHOUT_COST = 3  # values without any cost that end a call with a budget of cost

_COUNTED = ("done", "stopped")  # states of the trials that evals counts

_LONGEST_ASK = 60.0  # seconds
_POLL = 1.0  # seconds that an ask waits for designs while others are evaluated
_ALONE = ("--mdns=false", "--listen", "/ip4/127.0.0.1/tcp/0", "--wait-for-peers", "0s")


@dataclass(frozen=True)
class _Settings:
    """The keywords of minimize."""

    evals: int | None
    cost: float | None
    timeout: float | None
    constraints: Constraints | None
    parameter_constraints: Sequence[str]
    stop: StopRule | None
    objectives: Sequence[Objective]
    callbacks: Sequence[Callback]
    task: str | None
    node: Node | None
    peers: Sequence[str]
    workers: int
    seed: int | None
    max_failures: int | None
    progress: bool


def minimize(
    f: Function,
    space: Space,
    *,
    evals: int | None = None,
    cost: float | None = None,
    timeout: float | None = None,
    constraints: Constraints | None = None,
    parameter_constraints: Sequence[str] = (),
    stop: StopRule | None = None,
    objectives: Sequence[Objective] = (),
    callbacks: Sequence[Callback] = (),
    task: str | None = None,
    node: Node | None = None,
    peers: Sequence[str] = (),
    workers: int = 1,
    seed: int | None = None,
    max_failures: int | None = None,
    progress: bool = True,
) -> Result:
    """Find the design with the smallest value of a function.

    Without `task` nothing is shared or kept: a node runs for this call only, in a temporary directory and without
    a network. With `task`, or with a whole task as `space`, the node works together with all nodes that have the
    same task, and it keeps its trials.

    Args:
        f: The objective. It is called with the active parameters as keywords. It returns a finite number; or a tuple of
            this number and a dictionary of further outputs; or one dictionary of all, with the number under
            `"value"`. With several `objectives` the dictionary has each under its name. Outputs named in `constraints` are constraints. The output `"cost"` is what the evaluation
            has cost, in a unit of yours, unless a constraint has this name. All other outputs are metrics: the node
            stores up to 64 of them with the trial. An exception fails the trial, and so does a missing or
            non-finite value, objective or constraint. The search continues after a failed trial. If f has a parameter `trial`, without a
            default or with None, and the space has none of this name, it gets the `fbo.Trial`: f may report values by
            step to it, and raise `fbo.TrialStopped` to stop early.
        space: A list of `fbo.Float`, `fbo.Int`, `fbo.Categorical`, `fbo.Bool` and `fbo.Fixed`; or a dictionary of
            bounds such as `{"rate": (0, 1), "depth": range(1, 9), "kernel": ["rbf", "poly"], "bias": bool}`, in which a
            tuple stands for floats and a range for ints; or a whole task: the path or text of a task file, or its
            content as a dictionary.
        evals: The number of values that the node has on the task at the end, 1 or more. It includes values of
            earlier calls and of other programs; a warning states how many. Trials that were stopped early count too,
            failed ones do not. Several programs or workers may evaluate a few more. None: 30, or no limit with `cost`.
        cost: A budget of cost, above 0: no evaluation starts once the costs of this node's ended and running trials reach
            it, earlier calls included. Trials without a cost count with the mean of the others. None: no limit.
        timeout: Seconds, above 0, after which no evaluation starts. Running evaluations finish. None: no limit.
        constraints: Limits of outputs by name: `"<= 50"`, `">= 0.9"`, a tuple `(low, high)` with None for no
            limit, or `bool` for an output that must be true. The best design satisfies all of them. A whole task
            as `space` has its own constraints. None: no constraints.
        parameter_constraints: Expressions that are true for the designs to evaluate, such as `"workers * batch <= 512"`,
            with the names of parameters. A whole task as `space` has its own.
        stop: The rule by which the node stops evaluations early that report values by step: `fbo.Asha`, `fbo.Median`,
            `fbo.Forecast` or `fbo.Patience`. A whole task as `space` has its own. None: evaluations end by themselves.
        objectives: Two to four `fbo.Objective` for a search for the designs that no other dominates, `Result.front`. The
            first has the goal of the function that is called here. A whole task as `space` has its own. Empty: one
            objective.
        callbacks: Functions that are called in this process after each trial, in order, with an `fbo.Run` and the
            trial, which may have failed or been stopped early. `Run.stop()` ends the search: running evaluations finish, and the result
            is returned. An exception in a callback ends the call.
        task: The name of the task, the same at all nodes that work together. None: alone.
        node: The node for the task, in a `with` already or not. None: a node in fbo-node's own data directory.
        peers: Addresses of other nodes, for a node that this call starts.
        workers: The number of processes that evaluate in parallel. They import the program anew: define f at the
            top of a module, and make the call under `if __name__ == "__main__":`. With cloudpickle any function
            works. A process that dies fails its trial.
        seed: An integer that makes the node's decisions repeatable, with one worker and without peers.
        max_failures: The number of failures in a row that ends the call. None: 10 before the first value, and 100
            later.
        progress: Whether to show a progress bar, if tqdm is installed.

    Returns:
        The best design, of several objectives the Pareto front, and all trials of this node on the task.

    Raises:
        BadInput: An argument is wrong. No evaluation has started.
        Failed: Too many trials in a row have failed, no trial has a value that satisfies all constraints, or `cost` is
            given and the first three values have no cost. The attribute `trials` has all trials.
        Interrupted: A KeyboardInterrupt, after Ctrl-C. The attribute `result` has the result so far.
        Refused: The node does not accept the task.
        Unreachable: No node answers.

    Examples:
        ```python
        def loss(rate, depth):
            return (rate - 0.03) ** 2 - 0.01 * depth, {"latency_ms": 7.0 * depth}

        space = {"rate": (0, 1), "depth": range(1, 9)}
        result = fbo.minimize(loss, space, constraints={"latency_ms": "<= 50"}, timeout=600)
        print(result.parameters, result.value)
        ```
    """
    settings = _Settings(
        evals, cost, timeout, constraints, parameter_constraints, stop, objectives, callbacks, task, node, peers, workers, seed, max_failures, progress
    )
    return _optimize("minimize", f, space, settings)


def maximize(
    f: Function,
    space: Space,
    *,
    evals: int | None = None,
    cost: float | None = None,
    timeout: float | None = None,
    constraints: Constraints | None = None,
    parameter_constraints: Sequence[str] = (),
    stop: StopRule | None = None,
    objectives: Sequence[Objective] = (),
    callbacks: Sequence[Callback] = (),
    task: str | None = None,
    node: Node | None = None,
    peers: Sequence[str] = (),
    workers: int = 1,
    seed: int | None = None,
    max_failures: int | None = None,
    progress: bool = True,
) -> Result:
    """Find the design with the largest value of a function. Everything else is as in `fbo.minimize`."""
    settings = _Settings(
        evals, cost, timeout, constraints, parameter_constraints, stop, objectives, callbacks, task, node, peers, workers, seed, max_failures, progress
    )
    return _optimize("maximize", f, space, settings)


def _optimize(goal: str, f: Function, space: Space, settings: _Settings) -> Result:
    _check(f, space, settings)
    if settings.objectives and settings.objectives[0].goal != goal:
        first = settings.objectives[0]
        raise BadInput(f"objectives: the first, {first.name!r}, has the goal {first.goal!r}: expected {goal!r}, or a call of fbo.{first.goal}")
    deadline = math.inf if settings.timeout is None else time.monotonic() + settings.timeout
    alone = settings.task is None and not is_task(space)
    order = definition(space, goal, settings.task or "f", settings.parameter_constraints, settings.stop, settings.objectives)
    if settings.constraints:
        assert isinstance(order, dict)
        order["constraints"] = constraints_of(settings.constraints)
    with contextlib.ExitStack() as stack:
        # Workers come first: in a worker that runs the whole program again nothing else has begun.
        pool = stack.enter_context(Workers(f, settings.workers)) if settings.workers > 1 else None
        used = stack.enter_context(_node(settings.node, alone, settings.peers))
        before = {one["id"]: one for one in used.tasks()}
        task = stack.enter_context(used.task(order, seed=settings.seed))
        try:
            _check_task(task, goal)
        except BadInput:
            if task.id not in before:
                task.leave()
            raise
        if not alone:
            _warn_of_others(task, before)
            _warn_of_another_rule(task, settings.stop)
        search = _Search(task, settings, deadline, converter(space), takes_trial(f))
        try:
            with _bar(search.total, settings.progress) as bar:
                search.show(bar)
                if pool is None:
                    _one_by_one(search, f, bar)
                else:
                    _side_by_side(search, pool, bar)
        except KeyboardInterrupt as interrupt:
            task.close()  # returns running trials
            raise Interrupted(_result_so_far(search)) from interrupt
        return search.result()


def _result_so_far(search: _Search) -> Result | None:
    with contextlib.suppress(Failed):
        return search.result()
    return None


def _one_by_one(search: _Search, f: Function, bar: Any) -> None:
    while search.wanted():
        for trial in search.ask():
            search.end(trial, evaluate(f, search.arguments(trial)))
            search.show(bar)


def _side_by_side(search: _Search, pool: Workers, bar: Any) -> None:
    under_way = 0
    while search.wanted(under_way) or under_way:
        while pool.free() and under_way < search.wanted(under_way):
            given = search.ask(wait=_POLL if under_way else _LONGEST_ASK)
            for trial in given:
                pool.begin(trial, search.arguments(trial))
                under_way += 1
            if not given:
                break
        for trial, outcome in pool.ended(None if under_way else 0.0):
            under_way -= 1
            search.end(trial, outcome)
            search.show(bar)


class _Search:
    """The progress of a call."""

    def __init__(
        self,
        task: Task,
        settings: _Settings,
        deadline: float,
        convert: Callable[[Mapping[str, Value]], dict[str, Any]],
        takes_trial: bool,
    ) -> None:
        self.task = task
        self._takes_trial = takes_trial and all(one["name"] != "trial" for one in task.definition["parameters"])
        self._convert = convert
        self.total = settings.evals or (30 if settings.cost is None else None)  # evaluations; None: no limit
        self._cost = settings.cost
        self._max_failures = settings.max_failures
        self._callbacks = settings.callbacks
        self._deadline = deadline
        self._limits = {str(one["name"]): one.get("type") for one in task.definition.get("constraints") or ()}
        earlier = [self._as_given(trial) for trial in task.trials() if trial.state in _COUNTED]
        self._run = Run(task, self.result, earlier)
        self._done = len(earlier)
        self._in_a_row = 0
        self._valued = 0  # values of this call
        if earlier:
            self._warn_of_earlier(earlier)

    def wanted(self, under_way: int = 0) -> int:
        """Return the number of values that are still wanted, those of evaluations under way included. Other programs may have added some."""
        if self._ended():
            return 0
        counts = self.task.counts()
        self._done = sum(counts[state] for state in _COUNTED)
        left = under_way + 1 if self.total is None else max(self.total - self._done, 0)
        return min(left, under_way + self._affordable())

    def _affordable(self) -> int:
        """Return how many evaluations the budget of cost allows to start now: without one many, else one at a time."""
        if self._cost is None:
            return sys.maxsize
        spending = self.task.status()["progress"].get("cost") or {"spent": 0.0, "known": 0}
        if not spending["known"] and self._valued >= _MOST_WITHOUT_COST:
            raise Failed(
                f"cost={self._cost:g}: {self._valued} values have no cost; expected f to return it under the key 'cost', as in "
                "{'value': 0.25, 'cost': 3.5}, or to report it by step, trial.report(step, value, cost=…)",
                self._trials(),
            )
        return int(spending["spent"] < self._cost)

    def _ended(self) -> bool:
        return self._run.stopped or time.monotonic() >= self._deadline

    def _warn_of_earlier(self, earlier: Sequence[Trial]) -> None:
        newest = max(trial.finished or "" for trial in earlier)
        if self.total is None:
            counts = f"cost={self._cost:g} counts their costs."
        else:
            left = self.total - len(earlier)
            what = f"{left} more are evaluated" if left > 0 else "the function is not called"
            counts = f"evals={self.total} counts them, so {what}."
        _log.warning(
            "the task %r has %d values of earlier calls, the newest of %s. %s "
            "If the function has changed since, give the task another name",
            self.task.name, len(earlier), newest[:19].replace("T", " "), counts,
        )  # fmt: skip

    def ask(self, *, wait: float = _LONGEST_ASK) -> list[Trial]:
        """Return at most one new trial, with values as the function gets them, and none after the timeout."""
        wait = max(0.0, min(wait, self._deadline - time.monotonic()))
        given = self.task.ask(wait=wait)
        if self._ended():
            for trial in given:
                self.task.requeue(trial)
            return []
        return [self._as_given(trial) for trial in given]

    def _as_given(self, trial: Trial) -> Trial:
        made = dataclasses.replace(trial, parameters=self._convert(trial.parameters))
        return reporting(made, trial._reporter)

    def arguments(self, trial: Trial) -> dict[str, Any]:
        """Return the keywords of the function."""
        return {**trial.parameters, "trial": trial} if self._takes_trial else dict(trial.parameters)

    def end(self, trial: Trial, outcome: Outcome) -> None:
        """Report the outcome of a trial to the node, and call the callbacks."""
        try:
            ended, failure = self._report(trial, outcome)
        except Conflict as error:
            _log.warning("trial %d: %s", trial.id, error)  # its lease had ended, and another has ended it
            return
        ended = self._as_given(ended)
        self._run._add(ended)
        if failure is None:
            self._done += 1  # for the bar
            self._valued += ended.value is not None
            self._in_a_row = 0
        else:
            _log.warning("trial %d failed: %s", trial.id, failure.reason)
            self._in_a_row += 1
        for callback in self._callbacks:
            callback(self._run, ended)
        most = self._max_failures or (_MOST_IN_A_ROW if self._done else _MOST_AT_FIRST)
        if failure is not None and self._in_a_row >= most:
            text = f"{self._in_a_row} trials in a row failed; the last: {failure.reason}\n{failure.trace}".rstrip()
            raise Failed(text, self._trials())

    def _report(self, trial: Trial, outcome: Outcome) -> tuple[Trial, Failure | None]:
        """Return the trial as the node has it, and why it failed, if it did."""
        if isinstance(outcome, Stopped):
            try:
                return self.task.stop(trial, outcome.reason), None
            except Refused as error:  # it has no value by step
                outcome = Failure(f"fbo.TrialStopped: {error}; expected Trial.report before it")
        if isinstance(outcome, Measured):
            try:
                value, scores = self._scores(outcome)
                constraints = self._constraints(outcome)
                cost, metrics = self._cost_of(trial, outcome), {**self._metrics(trial, outcome), **scores}
                return self.task.tell(trial, value, constraints=constraints, metrics=metrics, cost=cost, **outcome.kept), None
            except (BadInput, Refused) as error:  # of outputs that the node does not accept
                outcome = Failure(str(error))
        return self.task.fail(trial, outcome.reason), outcome

    def _scores(self, outcome: Measured) -> tuple[float, dict[str, float]]:
        """Return the value, and of several objectives the others by name. It removes them from the outputs."""
        objectives = self.task.objectives
        if not objectives:
            if outcome.value is None:
                raise BadInput(f"f returned {outcome.returned}: expected the objective under the key 'value'")
            return outcome.value, {}
        names = [one.name for one in objectives]
        for name in names:
            if name in outcome.refused:
                raise BadInput(f"objective: {outcome.refused[name]}")
        measured: dict[str, object] = {name: one for name, one in outcome.outputs.items() if name in names}
        if outcome.value is not None:
            measured.setdefault("value" if "value" in names else names[0], outcome.value)
        value, scores = scores_of(objectives, measured)
        for name in names:
            outcome.outputs.pop(name, None)
        return value, scores

    def _constraints(self, outcome: Measured) -> dict[str, float | bool]:
        found: dict[str, float | bool] = {}
        for name, kind in self._limits.items():
            if name in outcome.refused:
                raise BadInput(f"constraint: {outcome.refused[name]}")
            if name not in outcome.outputs:
                raise BadInput(f"f returned no output {name!r}: expected one for each constraint")
            given = outcome.outputs[name]
            found[name] = bool(given) if kind == "bool" else float(given)
        return found

    def _cost_of(self, trial: Trial, outcome: Measured) -> float | None:
        """Return the output cost, and remove it from the others, unless it is a constraint."""
        if "cost" in self._limits:
            return None
        if "cost" in outcome.refused:
            _log.warning("trial %d: %s; it is left out", trial.id, outcome.refused.pop("cost"))
        return outcome.outputs.pop("cost", None)

    def _metrics(self, trial: Trial, outcome: Measured) -> dict[str, float]:
        for name in outcome.refused.keys() - self._limits.keys():
            _log.warning("trial %d: metric: %s; it is left out", trial.id, outcome.refused[name])
        return {name: float(one) for name, one in outcome.outputs.items() if name not in self._limits}

    def show(self, bar: Any) -> None:
        """Move the bar."""
        if bar is None:
            return
        bar.n = self._done if self.total is None else min(self._done, self.total)
        if (best := self._run.best) is not None:
            name = f"best {self.task.objectives[0].name}" if self.task.objectives else "best"
            bar.set_postfix({name: f"{best.value:.6g}"}, refresh=False)
        bar.refresh()

    def result(self) -> Result:
        """Return what has been found."""
        task = self.task
        best, trials = task.best(), self._trials()
        if best is None or best.value is None:
            valued = any(trial.value is not None for trial in trials)
            raise Failed("no trial satisfies all constraints" if valued else "no trial has a value", trials)
        recommended = best.recommended
        if recommended:
            recommended = dataclasses.replace(recommended, parameters=self._convert(recommended.parameters))
        return Result(task.name, task.id, task.goal, self._convert(best.parameters), best.value, trials, recommended, task.objectives)

    def _trials(self) -> tuple[Trial, ...]:
        return tuple(self._as_given(trial) for trial in self.task.trials())


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
def _bar(total: int | None, wanted: bool) -> Iterator[Any]:
    try:
        from tqdm import tqdm
    except ImportError:
        wanted = False
    if not wanted:
        yield None
        return
    with tqdm(total=total, unit="trial") as bar:
        yield bar


def _check(f: object, space: Space, settings: _Settings) -> None:
    if not callable(f):
        raise BadInput(f"f is {f!r}: expected a function that takes the parameters as keywords")
    failures = 1 if settings.max_failures is None else settings.max_failures
    evals = 30 if settings.evals is None else settings.evals
    for what, number in (("evals", evals), ("workers", settings.workers), ("max_failures", failures)):
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise BadInput(f"{what} is {number!r}: expected a whole number from 1 on")
    limit = settings.timeout
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, (int, float)) or not limit > 0):
        raise BadInput(f"timeout is {limit!r}: expected a number of seconds above 0")
    cost = settings.cost
    if cost is not None and (isinstance(cost, bool) or not isinstance(cost, (int, float)) or not 0 < cost < math.inf):
        raise BadInput(f"cost is {cost!r}: expected a finite number above 0")
    calls = settings.callbacks
    if isinstance(calls, (str, bytes)) or not isinstance(calls, Sequence) or not all(callable(one) for one in calls):
        raise BadInput(f"callbacks is {calls!r}: expected a list of functions")
    if settings.constraints is not None and is_task(space):
        raise BadInput("constraints: the space is a whole task, which has its constraints already")
    rules = settings.parameter_constraints
    if isinstance(rules, (str, bytes)) or not isinstance(rules, Sequence) or not all(isinstance(one, str) for one in rules):
        raise BadInput(f"parameter_constraints is {rules!r}: expected a list of expressions, which are texts")
    if rules and is_task(space):
        raise BadInput("parameter_constraints: the space is a whole task, which has them already")
    if settings.stop is not None and not isinstance(settings.stop, StopRule):
        raise BadInput(f"stop is {settings.stop!r}: expected fbo.Asha(…), fbo.Median(…), fbo.Forecast(…) or fbo.Patience(…)")
    check_objectives(settings.objectives)
    if settings.objectives and is_task(space):
        raise BadInput("objectives: the space is a whole task, which has them already, under the key 'objectives'")
    if settings.objectives and settings.stop is not None:
        raise BadInput("stop: its rules compare the values of one objective by step: expected no rule with several objectives")
    if settings.stop is not None and is_task(space):
        raise BadInput("stop: the space is a whole task, which has its rule already, under the key 'stop'")
    _check_together(space, settings)


def _check_together(space: Space, settings: _Settings) -> None:
    name, node, peers = settings.task, settings.node, settings.peers
    if name is not None and is_task(space):
        raise BadInput(f"task={name!r}: the space is a whole task, which has its name already")
    if peers and node is not None:
        raise BadInput("peers are for a node that is started here; give them to fbo.Node(peers=…) instead")
    if name is None and not is_task(space) and (peers or node is not None):
        what = "peers are" if peers else "node is"
        raise BadInput(f"{what} given without task: expected a name, which all nodes of the task have for it")


def _warn_of_others(task: Task, before: Mapping[str, Mapping[str, Any]]) -> None:
    """Warn of tasks of the same name with values that do not count."""
    for identity, one in before.items():
        if one["name"] == task.name and identity != task.id and one["trials"]["done"]:
            _log.warning(
                "the node has another task %r with %d values, which do not count here: its space or settings differ (%s)",
                task.name, one["trials"]["done"], identity,
            )  # fmt: skip


def _warn_of_another_rule(task: Task, stop: StopRule | None) -> None:
    """Warn if the node serves the task with another rule, which a second order does not change."""
    asked, served = None if stop is None else stop.definition(), task.definition.get("stop")
    if stop is not None and asked != served:
        _log.warning("the node serves the task %r with the rule stop=%s, not %s: it keeps the first until it leaves the task", task.name, served, asked)


def _check_task(task: Task, goal: str) -> None:
    if task.goal != goal:
        raise BadInput(f"the task's goal is {task.goal}: expected a task with the goal {goal}, or fbo.{task.goal}")
