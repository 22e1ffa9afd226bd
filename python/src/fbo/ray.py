"""A searcher and a scheduler for Ray Tune: the trials of an experiment are trials of a task.

    tuner = tune.Tuner(train, param_space=space, tune_config=tune.TuneConfig(
        metric="loss", mode="min", num_samples=50, search_alg=fbo.ray.Search("trees")))
"""

from __future__ import annotations

import logging
import math
import os
import pickle
import socket
import uuid
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ray.air.constants import TRAINING_ITERATION
from ray.tune.schedulers import FIFOScheduler, TrialScheduler
from ray.tune.search import Searcher
from ray.tune.search.sample import Categorical, Float, Integer, LogUniform, Quantized, Uniform
from ray.tune.search.variant_generator import parse_spec_vars

from .errors import BadInput, Conflict, NotFound
from .node import LEASE, Node
from .report import MOST, Reporter
from .task import Task
from .trial import Value

_log = logging.getLogger("fbo")

_POLL = 1.0  # seconds that Tune waits for a design; meanwhile it processes no trial that ends
_KEPT = ("_client", "_ids", "_untold", "_steps", "_order", "_goal", "_metric", "_mode", "_places", "_stopped")
_ACCEPTED = (
    "expected uniform, quniform, loguniform, randint, qrandint, lograndint, and choice of texts, "
    "numbers, or True and False"
)


@dataclass(frozen=True)
class _End:
    """How a trial has ended."""

    outcome: dict[str, Any] | None
    reason: str  # why there is no outcome
    stopped: bool = False  # early, if there is no outcome and there are steps
    steps: dict[int, float] = field(default_factory=dict)


class Search(Searcher):
    """A search algorithm that takes the designs of an experiment from a task, and reports the outcomes to the task.

    Tune pickles this object into the experiment's directory, with all arguments ([details](clusters.md#ray-tune)).

    Examples:
        ```python
        config = tune.TuneConfig(metric="loss", mode="min", num_samples=50, search_alg=fbo.ray.Search("trees"))
        ```
    """

    def __init__(
        self,
        task: Mapping[str, Any] | str | Path,
        *,
        dir: str | Path | None = None,
        url: str | None = None,
        token: Path | None = None,
        metric: str | None = None,
        iterations: int | None = None,
        client: str | None = None,
        lease: float = LEASE,
    ) -> None:
        """Make a search algorithm of a task and the place of its node.

        Args:
            task: A name, the content of a task file as a dictionary, with or without parameters, or the Path of a
                task file. A task without parameters takes those of param_space.
            dir: The node's data directory. None: that of fbo-node. Only the program that calls fit() connects to
                the node. If no node runs there, one is started; it ends with the last program that uses it.
            url: The address of a node that runs, instead of a directory.
            token: The Path of the file with the token for url.
            metric: The key of the value in the reports of a training. None: the metric of TuneConfig, which Tune
                passes on only with a param_space.
            iterations: The training_iteration of a complete training, 1 or more: a trial that a scheduler stops
                earlier is stopped early in the task, with its values by training_iteration. None: its last value is
                the outcome.
            client: The name by which trials are held. None: a new name.
            lease: Seconds without a sign of life of this program after which other clients get the trials, 1 or
                more.

        Raises:
            BadInput: An argument is wrong.
        """
        super().__init__(metric=metric)
        if token is not None and not isinstance(token, Path):
            raise BadInput("Search: token is a text: expected the Path of a file that has it, since Tune writes what is given here to its directory")
        if iterations is not None and iterations < 1:
            raise BadInput(f"iterations {iterations}: expected 1 or more")
        self._where = {"dir": dir} if url is None else {"dir": dir, "url": url, "token": token}
        if isinstance(task, Path):
            self._given: dict[str, Any] | Path = task.absolute()
        else:
            self._given = {"name": task} if isinstance(task, str) else dict(task)
        self._order = self._given  # with the parameters of param_space
        self._goal: str | None = None
        self._iterations = iterations
        self._client = client or f"ray {socket.gethostname()[:30]} {os.getpid()} {uuid.uuid4().hex[:8]}"
        self._lease = lease
        self._places: dict[str, tuple[tuple[str, ...], list[Any] | None]] = {}  # in param_space, and choices, by parameter
        self._ids: dict[str, int] = {}  # of the task's trials, by Tune's
        self._steps: dict[str, dict[int, float]] = {}  # values by training_iteration, by Tune's trial
        self._untold: dict[int, _End] = {}  # by trial of the task
        self._reporters: dict[str, Reporter] = {}  # of the trials whose values a Scheduler has passed on, by Tune's
        self._stopped: set[str] = set()  # Tune's trials that the rule of the task stops
        self._task: Task | None = None

    def set_search_properties(self, metric: str | None, mode: str | None, config: dict[str, Any], **_: Any) -> bool:
        """Take the space and join the task. Tune calls it when an experiment begins."""
        if not isinstance(metric, str) or mode not in ("min", "max"):
            raise BadInput(f"metric {metric!r}, mode {mode!r}: accepted in TuneConfig are one metric, and mode 'min' or 'max'")
        goal = "minimize" if mode == "min" else "maximize"
        order = self._given
        space = _space_of(config)
        if space and (isinstance(order, Path) or "parameters" in order):
            raise BadInput(f"param_space: the task has parameters already, and so {sorted(space)} have no place; expected one of both")
        if isinstance(order, dict):
            order = dict(order) if "objectives" in order else {"goal": goal, **order}
            if "parameters" not in order:
                order["parameters"] = [
                    {"name": name, **_parameter("/".join(path), domain)} for name, (path, domain) in sorted(space.items())
                ]
        self._metric, self._mode, self._goal, self._order = metric, mode, goal, order
        self._places = {
            name: (path, list(domain.categories) if isinstance(domain, Categorical) else None)
            for name, (path, domain) in space.items()
        }
        self._task = self._join()
        return True

    def _join(self) -> Task:
        """Join the task, in the program that calls fit()."""
        order = self._order
        if self._metric is None:
            raise BadInput("Search: metric is missing: expected the key of the value in what a training reports; Tune gives that of TuneConfig only with a param_space")
        if isinstance(order, dict) and not order.get("parameters"):
            raise BadInput("the task has no parameters, and param_space none either; expected one of both")
        node = Node(**self._where)  # type: ignore[arg-type]
        node.__enter__()
        weakref.finalize(self, node.__exit__, None, None, None)
        before = {one["id"] for one in node.tasks()}
        task = node.task(order, client=self._client, lease=self._lease)
        wrong = ""
        if task.objectives:
            wrong = f"has {len(task.objectives)} objectives, the experiment one metric: expected a task with one"
        elif self._goal not in (None, task.goal):
            wrong = f"has the goal {task.goal!r}, the experiment the mode {self._mode!r}: expected equal ones"
        if wrong:
            if task.id not in before:
                task.leave()
            raise BadInput(f"the task {task.name!r} {wrong}")
        task._held.add(*self._ids.values())
        return task

    def suggest(self, trial_id: str) -> dict[str, Any] | None:
        """Return a design of the task, or None if it has none at the moment."""
        for trial in self._tell().ask(wait=_POLL):
            self._ids[trial_id] = trial.id
            return self._config(trial.parameters)
        return None

    def on_trial_result(self, trial_id: str, result: dict[str, Any]) -> None:
        """Keep a value of a trial, which the task gets at the end of the trial if no `Scheduler` passes it on."""
        value, iteration = _number(result.get(str(self._metric))), result.get(TRAINING_ITERATION, 0)
        if value is not None and iteration > 0 and trial_id in self._ids:
            self._steps.setdefault(trial_id, {})[int(iteration)] = value

    def _is_stopped(self, trial_id: str, result: dict[str, Any]) -> bool:
        """Report the values of a running trial, and return the node's decision. A complete training is not stopped."""
        self.on_trial_result(trial_id, result)
        steps, iteration = self._steps.get(trial_id, {}), int(result.get(TRAINING_ITERATION, 0))
        if trial_id not in self._ids or iteration not in steps:
            return False
        task = self._task = self._task or self._join()
        reporter = self._reporters.get(trial_id)
        if reporter is None:
            reporter = self._reporters[trial_id] = task._reporter(self._ids[trial_id], task.client)
            reporter.add(steps)  # those before a restore, which the node may have
        try:
            reporter.report(iteration, steps[iteration])
        except (Conflict, NotFound) as error:
            _log.warning("trial %d of the task is no longer held: %s", self._ids[trial_id], error)
        if reporter.stop is None or (self._iterations is not None and iteration >= self._iterations):
            return False
        self._stopped.add(trial_id)
        return True

    def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
        """Tell the task what a trial measured."""
        if result:  # one by which Tune has stopped the trial is new here
            self.on_trial_result(trial_id, result)
        number = self._ids.pop(trial_id, None)
        steps = self._steps.pop(trial_id, {})
        reporter = self._reporters.pop(trial_id, None)
        by_rule = trial_id in self._stopped
        self._stopped.discard(trial_id)
        if number is None:
            return
        task = self._task = self._task or self._join()
        if by_rule and not error:
            end = _End(None, "", stopped=True)
        else:
            end = self._outcome(task, result, error, trial_id, max(steps, default=0))
        end = replace(end, stopped=end.stopped and bool(steps))
        self._untold[number] = replace(end, steps=_thinned(steps) if reporter is None else reporter.waiting())
        self._tell()

    def _tell(self) -> Task:
        """Tell the task what it does not know yet. An outcome that does not get through stays, also in what is kept."""
        task = self._task = self._task or self._join()
        for number, end in list(self._untold.items()):
            try:
                if end.steps:
                    task._reporter(number, task.client).send(end.steps)
                if end.outcome is not None:
                    task.tell(number, end.outcome["value"], constraints=end.outcome["constraints"])
                elif end.stopped:
                    task.stop(number, end.reason)
                else:
                    task.fail(number, end.reason)
            except (Conflict, NotFound) as error:
                _log.warning("trial %d of the task: %s", number, error)
            del self._untold[number]
        return task

    def save(self, checkpoint_path: str) -> None:
        """Write what the experiment has begun with, and which trials run."""
        with open(checkpoint_path, "wb") as file:
            pickle.dump({name: getattr(self, name) for name in _KEPT}, file)

    def restore(self, checkpoint_path: str) -> None:
        """Go on with the trials that ran. The lease of one may have ended, but its outcome is still taken."""
        with open(checkpoint_path, "rb") as file:
            self.__dict__.update(pickle.load(file))
        self._task, self._reporters = None, {}
        if self._untold:
            self._tell()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_task": None, "_reporters": {}}

    def _config(self, design: Mapping[str, Value]) -> dict[str, Any]:
        """Return a design as it stands in param_space, with choices of the types that they have there."""
        config: dict[str, Any] = {}
        for name, value in design.items():
            path, choices = self._places.get(name, ((name,), None))
            inner = config
            for part in path[:-1]:
                inner = inner.setdefault(part, {})
            inner[path[-1]] = value if choices is None else choices[choices.index(value)]
        return config

    def _outcome(self, task: Task, result: Mapping[str, Any] | None, error: bool, trial_id: str, last: int) -> _End:
        """Return how a trial has ended, without its steps. The last of them is that of its last finite value, or 0."""
        of = f"(trial {trial_id} of Ray Tune)"
        if error:
            return _End(None, f"failed {of}")
        if not result:  # a scheduler has stopped a paused trial, or one that has not begun
            return _End(None, f"stopped at iteration {last} {of}" if last else f"ended without a result {of}", stopped=True)
        iteration = result.get(TRAINING_ITERATION, 0)
        given = result.get(str(self._metric))
        value = _number(given)
        if self._iterations is not None and iteration < self._iterations:
            stopped = value is not None  # one that diverges fails
            return _End(None, f"stopped at iteration {iteration} of {self._iterations} {of}", stopped=stopped)
        if value is None:
            return _End(None, f"reported {self._metric} {given!r}, which is no finite number {of}")
        constraints: dict[str, float | bool] = {}
        for one in task.definition.get("constraints") or ():
            given = result.get(one["name"])
            reading = bool(given) if one.get("type") == "bool" and given is not None else _number(given)
            if reading is None:
                return _End(None, f"reported {given!r} for the constraint {one['name']} {of}")
            constraints[one["name"]] = reading
        return _End({"value": value, "constraints": constraints}, "")


class Scheduler(FIFOScheduler):
    """A scheduler that stops trials by the rule of the task, the section `stop` of the task file.

    The experiment has a `Search`. Each result of a trial goes to the node as a value by step, and Tune stops the trial if
    the node decides so. With `iterations` of `Search`, a trial with that many runs to its end.

    Examples:
        ```python
        search = fbo.ray.Search({"name": "tutorial", "stop": fbo.Asha(grace_period=3)})
        config = tune.TuneConfig(metric="loss", mode="min", search_alg=search, scheduler=fbo.ray.Scheduler())
        ```
    """

    _supports_buffered_results = False  # the node decides after each

    def on_trial_add(self, tune_controller: Any, trial: Any) -> None:
        """Refuse another search algorithm. Tune calls it."""
        _search_of(tune_controller)

    def on_trial_result(self, tune_controller: Any, trial: Any, result: dict[str, Any]) -> str:
        """Return whether to stop the trial. Tune calls it."""
        stops = _search_of(tune_controller)._is_stopped(trial.trial_id, result)
        return str(TrialScheduler.STOP if stops else TrialScheduler.CONTINUE)

    def debug_string(self) -> str:
        """Return a line for the console."""
        return "Stopping trials by the rule of the fbo task."


def _search_of(tune_controller: Any) -> Search:
    """Return the search algorithm of an experiment, also in a ConcurrencyLimiter."""
    found = tune_controller.search_alg
    while not isinstance(found, Search) and hasattr(found, "searcher"):
        found = found.searcher
    if not isinstance(found, Search):
        raise BadInput(f"fbo.ray.Scheduler: the experiment has the search algorithm {type(found).__name__}: expected fbo.ray.Search")
    return found


def _thinned(steps: Mapping[int, float]) -> dict[int, float]:
    """Return as many values as a trial can have, at equal distances back from the last."""
    every = max(1, math.ceil(len(steps) / MOST))
    return dict(sorted(sorted(steps.items())[::-1][::every]))


def _number(given: Any) -> float | None:
    try:
        number = float(given)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _space_of(config: Mapping[str, Any]) -> dict[str, tuple[tuple[str, ...], Any]]:
    """Return where each parameter stands in a param_space, and its domain."""
    _, domains, grids = parse_spec_vars(dict(config))
    if grids:
        raise BadInput(f"param_space {'/'.join(grids[0][0])}: a grid is not accepted; {_ACCEPTED}")
    space: dict[str, tuple[tuple[str, ...], Any]] = {}
    for path, domain in domains:
        name = path[-1]
        if name in space:
            raise BadInput(f"param_space {'/'.join(path)}: there is {'/'.join(space[name][0])} too; expected different names, also in different places")
        space[name] = (path, domain)
    return space


def _parameter(path: str, domain: Any) -> dict[str, Any]:
    sampler: Any = domain.get_sampler()
    step = None
    if isinstance(sampler, Quantized):
        sampler, step = sampler.sampler, sampler.q
    if isinstance(domain, Categorical) and isinstance(sampler, Uniform):
        choices = list(domain.categories)
        if len(choices) == 2 and all(isinstance(one, bool) for one in choices):
            return {"type": "bool"}
        plain = all(isinstance(one, str) for one in choices) or all(
            isinstance(one, (int, float)) and not isinstance(one, bool) for one in choices
        )
        if plain:
            return {"type": "categorical", "choices": sorted(choices)}
    elif isinstance(domain, (Float, Integer)) and isinstance(sampler, (Uniform, LogUniform)):
        whole, log = isinstance(domain, Integer), isinstance(sampler, LogUniform)
        # Tune's whole numbers end before the upper bound, unless they have a step.
        last = domain.upper - 1 if whole and step is None else domain.upper
        parameter = {"type": "int" if whole else "float", "low": domain.lower, "high": last}
        if log and step is None:
            return {**parameter, "scale": "log"}
        if not log:
            return parameter if step is None or (whole and step == 1) else {**parameter, "step": step}
    raise BadInput(f"param_space {path}: {type(domain).__name__} by {type(sampler).__name__.lstrip('_')} is not accepted; {_ACCEPTED}")
