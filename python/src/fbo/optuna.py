"""A sampler for Optuna: the trials of a study are trials of a task.

    study = optuna.create_study(sampler=fbo.optuna.Sampler(task="learning-rate"))
"""

from __future__ import annotations

import contextlib
import logging
import math
import re
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from optuna.distributions import BaseDistribution
from optuna.exceptions import UpdateFinishedTrialError
from optuna.pruners import BasePruner
from optuna.samplers import BaseSampler, RandomSampler
from optuna.storages import BaseStorage
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from ._optuna_conditions import Shown, explained
from ._optuna_conditions import stated as stated_conditions
from ._optuna_space import Space, parameters_of, same, same_design
from .annotations import LONGEST_NAME, LONGEST_TEXT, MOST_BYTES, accepted, body_of
from .errors import BadInput, Conflict, NotFound, Refused, Unavailable, Unreachable
from .names import differ, to_task
from .node import LEASE, Node
from .objectives import OBJECTIVES, Objective
from .report import MOST, Reporter
from .task import Task, has_ended
from .trial import Trial, Value

_log = logging.getLogger("fbo")

ATTRIBUTE = "fbo"  # the user attribute of studies and trials that is written here
_FILE = re.compile(r"\n|^\s*\{|\.(ya?ml|json)$")
_ENDED = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL)
_LONGEST_ASK = 60.0  # seconds
_MOST_OBJECTIVES = 4
_KEPT = (
    "_order", "_derived", "_learns", "_infers", "_given", "_parameters", "_stated", "_n_startup_trials", "_pruned",
    "_lease", "_wait", "_invitation", "_seed", "_random", "_node", "_objective_names",
)  # fmt: skip


@dataclass
class _Reported:
    """The intermediate values of a trial that the node has."""

    reporter: Reporter
    mark: Mapping[str, Any]  # of the trial of the task
    last: int = 0  # step


class Pruner(BasePruner):
    """A pruner that stops trials by the rule of the task, the section `stop` of the task file.

    The study has a `Sampler`. Each call of `trial.should_prune` reports the intermediate values that the node does not
    have yet, and returns the decision of the node. Trials without a design of the task, such as the first ones of a study
    that learns its space, are not pruned. Values of other pruners reach the node at the end of a trial.

    Examples:
        ```python
        sampler = fbo.optuna.Sampler(task={"name": "tutorial", "stop": fbo.Asha(grace_period=3)})
        study = optuna.create_study(sampler=sampler, pruner=fbo.optuna.Pruner())
        ```
    """

    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        """Report whether to prune the trial. Optuna calls it."""
        sampler = study.sampler
        if not isinstance(sampler, Sampler):
            raise BadInput(f"fbo.optuna.Pruner: the study has the sampler {type(sampler).__name__}: expected fbo.optuna.Sampler")
        return sampler._prune(study, trial)


class Sampler(BaseSampler):
    """A sampler that takes the designs of a study from a task, and reports the outcomes to the task.

    Studies on other nodes with the same task take part in it ([details](optuna.md)). A study with two to four directions
    is a task with as many objectives.

    A sampler can be pickled and copied. The copy uses the same node from its first trial on, starts it if it has
    ended, is another client of the task, and holds no trials. No process owns a node that a sampler has started:
    it ends with the last process that uses it. With a task of `Node.task` the process that made the task must keep
    the node.

    Attributes:
        task: The `fbo.Task`, or None while its parameters are not known.

    Examples:
        ```python
        sampler = fbo.optuna.Sampler(task="tutorial", search_space={"x": FloatDistribution(-10, 10)})
        study = optuna.create_study(sampler=sampler)
        ```
    """

    def __init__(
        self,
        task: Task | Mapping[str, Any] | str | Path,
        node: Node | str | Path | None = None,
        *,
        search_space: Mapping[str, BaseDistribution] | None = None,
        conditions: Mapping[str, Mapping[str, Any]] | None = None,
        n_startup_trials: int = 5,
        pruned: Literal["stop", "last"] = "stop",
        objective_names: Sequence[str] | None = None,
        seed: int | None = None,
        lease: float = LEASE,
        wait: float = 300.0,
        invitation: str | None = None,
    ) -> None:
        """Make a sampler of a task and a node.

        Args:
            task: A name; the content of a task file as a dictionary, with or without parameters; a task file with
                parameters, as its path (ending in .yaml, .yml or .json) or its text; or a task of `Node.task`.
            node: A node, in a `with` already or not, or its data directory. None: fbo-node's own directory. If no
                node runs there, one is started.
            search_space: The distributions by name, for a task without parameters. None: those that the study has
                used in its first n_startup_trials complete trials.
            conditions: For parameters of search_space that only some trials suggest, the values of other parameters
                with which they do: `{"svc_c": {"classifier": "SVC"}}`. A value, a list of values, or for numbers a
                tuple `(low, high)` with None for no limit. None: those that the complete trials show.
            n_startup_trials: The number of complete trials, 1 or more, from which the space and conditions are
                learned.
            pruned: How to report a pruned trial with intermediate values: `"stop"`, as stopped early, or `"last"` for its last
                intermediate value as the outcome.
            objective_names: The names of the objectives of a study with several directions, for a task without them. None:
                the metric names of the study, or `objective_0`, `objective_1` and so on.
            seed: An integer that makes random draws and the task's designs repeatable.
            lease: Seconds without a sign of life of this program after which other clients get its trials, 1 or
                more.
            wait: Seconds, 0 or more, to wait for a design of the task before a trial is drawn at random.
            invitation: The content of an invitation file. None: the stored invitation, or none.

        Raises:
            BadInput: An argument is wrong, or no task accepts the space.
        """
        if conditions is not None and search_space is None:
            raise BadInput("conditions: expected search_space= too, or a task with conditions (when:)")
        stated = None if search_space is None else _stated(search_space, conditions or {})
        if n_startup_trials < 1:
            raise BadInput(f"n_startup_trials {n_startup_trials}: expected 1 or more")
        if pruned not in ("stop", "last"):
            raise BadInput(f"pruned {pruned!r}: expected 'stop' or 'last'")
        if objective_names is not None and (isinstance(objective_names, str) or not all(isinstance(one, str) for one in objective_names)):
            raise BadInput(f"objective_names {objective_names!r}: expected a list of names, one for each direction")
        if not wait >= 0:
            raise BadInput(f"wait {wait!r}: expected a number of seconds")
        self._order: dict[str, Any] | str | Path | None = None
        if isinstance(task, Task):
            if node is not None or search_space is not None or invitation is not None:
                raise BadInput("Sampler: a task of a node has its node, its space and its invitation already")
        elif isinstance(task, Mapping):
            self._order = dict(task)
        else:
            is_file = isinstance(task, Path) or _FILE.search(task)
            self._order = task if is_file else {"name": task}
        self._derived = isinstance(self._order, dict) and "parameters" not in self._order
        self._learns = self._derived and search_space is None  # parameters
        self._infers = self._derived and conditions is None  # conditions
        if search_space is not None and not self._derived and self._order is not None:
            raise BadInput("search_space: the task has parameters already; expected one of both")
        if objective_names is not None and not (isinstance(self._order, dict) and OBJECTIVES not in self._order):
            raise BadInput("objective_names: the task has its objectives already; expected one of both")
        self._objective_names = None if objective_names is None else [to_task(one, "objective") for one in objective_names]
        self._given = task if isinstance(task, Task) else None
        self._parameters = stated  # of search_space
        self._stated = search_space is not None or not self._derived
        self._n_startup_trials = n_startup_trials
        self._pruned = pruned
        self._lease = lease
        self._wait = wait
        self._invitation = invitation
        self._seed = seed
        self._random = RandomSampler(seed)

        self._node: Node | None = None
        if self._given is None:
            self._node = node if isinstance(node, Node) else Node(node)
        self._begin()
        self._reach()

    def _begin(self) -> None:
        """Set what a process has of its own."""
        self._lock = threading.RLock()
        self._study: tuple[BaseStorage, int] | None = None
        self._peer_id = ""
        self._space = Space(())
        self._fills = False  # active parameters that a trial did not use are reported with their centre
        self._current: list[dict[str, Any]] | None = None  # parameters of the task
        self._shown: dict[int, Shown] = {}  # of the complete trials that have been read, by number
        self._limits = _limits_of(self._order)
        self._designs: dict[tuple[BaseStorage, int], Trial] = {}  # of the trials that run, by storage and trial
        self._drawn: set[tuple[BaseStorage, int]] = set()  # trials that run and do without a design
        self._reporters: dict[tuple[BaseStorage, int], _Reported] = {}  # of the trials that run and have values by step
        self._seen: set[int] = set()  # numbers of ended trials that the task knows or cannot take
        self._said: set[str] = set()
        self._task: Task | None = None
        self._reached = False
        self._used = contextlib.ExitStack()  # the node, and tasks of it that this object has joined
        weakref.finalize(self, self._used.close)

    def _reach(self) -> None:
        """Begin to use the node."""
        if not self._reached and self._node is not None:
            self._used.enter_context(self._node)
        self._reached = True

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _KEPT}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make a copy of a pickled sampler. It uses the node from its first trial on, and holds no trials yet."""
        self.__dict__.update(state)
        if self._seed is None:
            self._random = RandomSampler()  # copies draw differently
        self._begin()

    def close(self) -> None:
        """Return the held trials and end the use of the node. A node that was started ends with its last user."""
        with self._lock:
            self._used.close()

    def __enter__(self) -> Sampler:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def task(self) -> Task | None:
        """The task, or None while its parameters are not known."""
        return self._task

    def reseed_rng(self) -> None:
        """Let threads draw differently."""
        self._random.reseed_rng()

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Join the task, and tell it the study's trials that it does not know."""
        if len(study.directions) > _MOST_OBJECTIVES:
            raise BadInput(f"the study has {len(study.directions)} directions: expected at most {_MOST_OBJECTIVES}, the objectives of a task")
        with self._lock:
            self._reach()
            if self._study != (study._storage, study._study_id):
                self._study = (study._storage, study._study_id)
                self._task, self._seen = None, set()
                self._shown = {}
            if self._derived and (parameters := self._learn(study)) != self._current:
                self._current = parameters
                self._leave()
            if self._task is None:
                self._open(study)
                self._bury(study)
            self._catch_up(study)

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """Return nothing: a parameter is answered when its distribution is known."""
        return {}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Return nothing, see infer_relative_search_space."""
        return {}

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Return the parameter's value in the task's design, or draw what the task does not have."""
        task = self._task
        if self._learns and param_name not in self._space.names:
            self._check_learnable(study, trial, param_name, param_distribution)
        if task is None:
            self._drawn.add((study._storage, trial._trial_id))
        elif param_name in self._space.names:
            misfit = self._space.misfit(param_name, param_distribution)
            if misfit is not None and self._stated:
                self._forget(task, study, trial)
                raise BadInput(misfit)
            if not self._infers and not self._space.active(param_name, self._evaluated(trial)):
                self._forget(task, study, trial)
                raise BadInput(self._inactive(param_name))
            if misfit is None:
                design = self._design(task, study, trial)
                if design is not None and param_name in design.parameters:  # it may be of an earlier task
                    return self._space.from_task(param_name, param_distribution, design.parameters[param_name])
            else:
                self._say_once(f"{misfit}; where they differ it is drawn at random")
        else:
            self._say_once(f"parameter {param_name!r} is not in the task {task.name!r}: it is drawn at random")
        return self._random.sample_independent(study, trial, param_name, param_distribution)

    def after_trial(
        self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None
    ) -> None:
        """Report the outcome of the trial to the task."""
        self._designs.pop((study._storage, trial._trial_id), None)
        self._drawn.discard((study._storage, trial._trial_id))
        task = self._task
        try:
            self._check(trial, state)
        except BadInput:
            if task is not None and (mark := self._mark_of(task, trial)):
                self._let_go(task, mark, None)
            raise
        if task is None:
            return  # reported when the task is joined
        self._report(task, study, trial, state, values)
        self._seen.add(trial.number)

    def _prune(self, study: Study, trial: FrozenTrial) -> bool:
        """Report the intermediate values of a trial that runs, and return the node's decision."""
        task, key = self._task, (study._storage, trial._trial_id)
        if task is None or key in self._drawn:
            return False
        known = self._reporters.get(key)
        # The trial that Optuna gives here has no attributes that were set in the storage.
        mark = self._mark_of(task, study._storage.get_trial(trial._trial_id)) if known is None else known.mark
        if mark is None or mark["task"] != task.id or not self._evaluates(trial, mark):
            return False
        try:
            self._send(task, study, trial, mark)
        except (Unavailable, Unreachable) as error:
            self._say_once(f"the node does not answer, so trials are not pruned: {error}")
        except (Conflict, NotFound) as error:
            self._say_once(f"trial {mark['trial']} of the task is no longer held: {error}")
        return self._reported(task, study, trial, mark).reporter.stop is not None

    def _reported(self, task: Task, study: Study, trial: FrozenTrial, mark: Mapping[str, Any]) -> _Reported:
        key = (study._storage, trial._trial_id)
        known = self._reporters.get(key)
        if known is None or known.mark != mark:
            known = self._reporters[key] = _Reported(task._reporter(mark["trial"], mark["client"]), mark)
        return known

    def _send(self, task: Task, study: Study, trial: FrozenTrial, mark: Mapping[str, Any]) -> None:
        """Report the intermediate values that the node does not have yet."""
        steps = _steps_of(trial)
        if len(steps) > MOST:
            self._say_once(f"a trial has {len(steps)} intermediate values; the first {MOST} are stored: expected fewer, such as one in ten steps")
            steps = dict(list(steps.items())[:MOST])
        reported = self._reported(task, study, trial, mark)
        if new := {step: value for step, value in steps.items() if step > reported.last}:
            reported.reporter.send(new)
            reported.last = max(new)

    # Joining.

    def _open(self, study: Study) -> None:
        goals = ["maximize" if one == StudyDirection.MAXIMIZE else "minimize" for one in study.directions]
        task = self._given
        if task is None:
            order = self._order
            if isinstance(order, dict):
                if OBJECTIVES not in order and "goal" not in order:
                    order = {**self._goals(study, goals), **order}
                self._check_goals(order.get("name"), _goals_of(order), goals)
                if self._derived:
                    if self._current is None:
                        return
                    order["parameters"] = self._current
            assert self._node is not None and order is not None
            before = {one["id"] for one in self._node.tasks()}
            task = self._used.enter_context(self._node.task(order, lease=self._lease, invitation=self._invitation, seed=self._seed))
            try:
                self._check_task(task, goals)
            except BadInput:
                if task.id not in before:
                    task.leave()
                raise
        else:
            self._check_task(task, goals)
        self._limits = _limits_of(task.definition)
        self._space = Space(task.definition["parameters"])
        # Each filling fails a trial of the task, which may not count against its design.
        self._fills = task.definition.get("failures") != "constraint"
        self._peer_id = str(task._http.get("/v1/node")["peer_id"])
        self._task = task

    def _goals(self, study: Study, goals: Sequence[str]) -> dict[str, Any]:
        """Return the goal of a task, or its objectives."""
        given = self._objective_names
        if given is not None and len(given) != len(goals):
            raise BadInput(f"objective_names {given}: expected {len(goals)}, one for each direction of the study")
        if len(goals) == 1:
            return {"goal": goals[0]}
        names = given or [to_task(one, "objective") for one in study.metric_names or [f"objective_{i}" for i in range(len(goals))]]
        return {OBJECTIVES: [{"name": name, "goal": goal} for name, goal in zip(names, goals)]}

    def _check_task(self, task: Task, goals: Sequence[str]) -> None:
        self._check_goals(task.name, _goals_of(task.definition), goals)
        for name, one in _limits_of(task.definition).items():
            if "low" in one and "high" in one:
                raise BadInput(
                    f"constraint {name!r} of the task has two limits; Optuna has one number, which is at most 0 where a "
                    "constraint is kept: expected constraints with low, with high, or of type bool"
                )

    @staticmethod
    def _check_goals(name: object, task: Sequence[object], study: Sequence[str]) -> None:
        if list(task) == list(study):
            return
        if len(task) == len(study) == 1:
            raise BadInput(f"the task {name!r} has the goal {task[0]!r}, the study the direction {study[0]!r}: expected equal ones")
        raise BadInput(f"the task {name!r} has the goals {list(task)}, the study the directions {list(study)}: expected equal ones, in the same order")

    def _check_learnable(self, study: Study, trial: FrozenTrial, name: str, distribution: BaseDistribution) -> None:
        """Refuse at once a parameter with which no task can be made once the space is learned."""
        new = parameters_of({**trial.distributions, name: distribution})
        complete = study._storage.get_all_trials(study._study_id, deepcopy=False, states=(TrialState.COMPLETE,))
        known = {name for one in complete for name in one.distributions}
        differ(known | {str(one["name"]) for one in new})

    def _learn(self, study: Study) -> list[dict[str, Any]] | None:
        """Return the parameters of the task with their conditions, or None as long as there is no task.

        Without a search space they are the union of the parameters of the complete trials. Parameters that the study
        has kept stay as they are. The others are those whose distribution was the same in all trials.
        """
        parameters = list(self._parameters or ())
        if not self._infers:
            return parameters
        storage, number = study._storage, study._study_id
        kept = (storage.get_study_user_attrs(number).get(ATTRIBUTE) or {}).get("parameters")
        if kept is not None and (self._learns or _without_conditions(kept) == parameters):
            parameters = kept
        complete = storage.get_all_trials(number, deepcopy=False, states=(TrialState.COMPLETE,))
        if kept is None and len(complete) < self._n_startup_trials:
            return parameters or None
        changing: set[str] = set()
        if self._learns:
            union, changing = _union(parameters, complete)
            if not any("value" not in one for one in union):
                self._say_once(
                    "the complete trials have no parameter that has more than one value and the same range in all of them: "
                    "there is no task yet, and all is drawn at random. search_space= gives the parameters"
                )
                return None
        else:
            union = parameters
        union = explained(union, self._read(complete, union))
        if union == parameters:
            return parameters
        storage.set_study_user_attr(number, ATTRIBUTE, {"parameters": union})
        _log.warning(
            "the task has the parameters of %d trials: %s. Changing, and so drawn at random: %s. Conditions: %s. "
            "search_space= and conditions= give them from the start",
            len(complete), ", ".join(str(one["name"]) for one in union), ", ".join(sorted(changing)) or "none",
            Space(union).conditions() or "none",
        )  # fmt: skip
        return union

    def _read(self, complete: Sequence[FrozenTrial], parameters: Sequence[Mapping[str, Any]]) -> list[Shown]:
        """Return the parameters of a task that the trials suggested."""
        space = Space(parameters)
        if self._space.names != space.names:
            self._shown = {}
        for trial in complete:
            if trial.number not in self._shown:
                self._shown[trial.number] = {
                    name: space.to_task(name, trial.distributions[name], value)
                    for name, value in trial.params.items()
                    if name in space.names
                }
        return [self._shown[trial.number] for trial in complete]

    def _leave(self) -> None:
        """Give back what is held of a task, in place of which the study has another."""
        if self._task is not None:
            self._task.close()
        self._task, self._seen = None, set()

    # Asking.

    def _design(self, task: Task, study: Study, trial: FrozenTrial) -> Trial | None:
        """Return the trial of the task that this one has; None if it is to be drawn."""
        storage, number = study._storage, trial._trial_id
        held = self._designs.get((storage, number))
        if held is not None or (storage, number) in self._drawn:
            return held
        held = self._ask(task)
        if held is None:
            _log.warning(
                "trial %d: the task %r had no design within %g seconds; it is drawn at random", trial.number, task.name, self._wait
            )
            self._drawn.add((storage, number))
            return None
        mark = {
            "task": task.id,
            "node": self._peer_id,
            "trial": held.id,
            "client": task.client,
            "parameters": held.parameters,
            "chosen": held.chosen,
            "from_peers": held.from_peers,
            "why": held.why,
        }
        storage.set_trial_user_attr(number, ATTRIBUTE, mark)
        self._designs[storage, number] = held
        return held

    def _forget(self, task: Task, study: Study, trial: FrozenTrial) -> None:
        """Hand a trial's design back, if it has one."""
        held = self._designs.pop((study._storage, trial._trial_id), None)
        if held is not None:
            study._storage.set_trial_user_attr(trial._trial_id, ATTRIBUTE, None)
            task.requeue(held)

    def _ask(self, task: Task) -> Trial | None:
        give_up = time.monotonic() + self._wait
        while True:
            left = give_up - time.monotonic()
            for held in task.ask(wait=max(0.0, min(left, _LONGEST_ASK))):
                return held
            if left <= _LONGEST_ASK:
                return None

    # Telling.

    def _mark_of(self, task: Task, trial: FrozenTrial) -> Mapping[str, Any] | None:
        """Return what was written of the trial of the task, if it is one of this node."""
        mark = trial.user_attrs.get(ATTRIBUTE)
        if isinstance(mark, Mapping) and (mark.get("task"), mark.get("node")) == (task.id, self._peer_id):
            return mark
        return None

    def _check(self, trial: FrozenTrial, state: TrialState) -> None:
        if self._stated:
            for name in self._space.names & trial.distributions.keys():
                if misfit := self._space.misfit(name, trial.distributions[name]):
                    raise BadInput(misfit)
                if not self._infers and not self._space.active(name, self._evaluated(trial)):
                    raise BadInput(self._inactive(name))
        measured = trial.constraints
        unknown = sorted(measured.keys() - self._limits.keys())
        if unknown:
            raise BadInput(
                f"trial {trial.number} has the constraints {unknown}; the task has {sorted(self._limits) or 'none'}. "
                "A task gets them by task={'name': …, 'constraints': [{'name': …, 'high': 0}]}"
            )
        missing = sorted(self._limits.keys() - measured.keys())
        if missing and state == TrialState.COMPLETE:
            raise BadInput(f"trial {trial.number} has no value of the task's constraints {missing}: set them by trial.set_constraint")

    def _report(
        self, task: Task, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None
    ) -> None:
        outcome, reason = self._outcome(trial, state, values)
        stopped = self._is_stopped(trial, state)
        design = self._design_of(trial, fill=outcome is not None or stopped)
        mark = self._mark_of(task, trial)
        kept = self._kept(trial)
        try:
            if mark is not None and not self._is_ended(task, study, trial, mark, design, outcome, reason, stopped, kept):
                return
        finally:
            self._reporters.pop((study._storage, trial._trial_id), None)
        if past := self._past(trial, design, outcome, reason, stopped, kept):
            self._add(task, [past])

    def _evaluates(self, trial: FrozenTrial, mark: Mapping[str, Any]) -> bool:
        """Report whether the trial has the design that the task gave it, as far as it is known."""
        asked: Mapping[str, Value] = mark["parameters"]
        evaluated = self._evaluated(trial)
        used = self._space.names & trial.params.keys()
        return all(name in asked and name in evaluated and same(asked[name], evaluated[name]) for name in used)

    def _is_stopped(self, trial: FrozenTrial, state: TrialState) -> bool:
        return state == TrialState.PRUNED and self._pruned == "stop" and bool(_steps_of(trial))

    def _is_ended(
        self, task: Task, study: Study, trial: FrozenTrial, mark: Mapping[str, Any], design: Mapping[str, Value] | None,
        outcome: Mapping[str, Any] | None, reason: str, stopped: bool, kept: Mapping[str, str],
    ) -> bool:  # fmt: skip
        """End the trial of the task that this one has. Report whether this one is to be added as a past trial."""
        asked: Mapping[str, Value] = mark["parameters"]
        if not self._evaluates(trial, mark):
            # A design that was asked for and then enqueued over can still be evaluated.
            self._let_go(task, mark, None if _fixed(trial) else "the study evaluated another design")
            return True
        if outcome is None and not stopped:
            self._send_last(task, study, trial, mark)
            self._let_go(task, mark, f"{reason} (trial {trial.number} of study {study.study_name})", kept)
            return False
        if not same_design(asked, design or {}):
            unused = sorted(asked.keys() - trial.params.keys())
            if self._fills and mark["client"] == task.client:
                self._let_go(
                    task, mark, f"added with the centre of {', '.join(unused)}, which trial {trial.number} of study {study.study_name} did not use"
                )
                return True
            self._say_once(f"trials without {', '.join(unused)} are told to the task {task.name!r} with the values that it chose")
        self._send_last(task, study, trial, mark)
        try:
            if outcome is None:
                task._stop(mark["trial"], mark["client"], f"{reason} (trial {trial.number} of study {study.study_name})", body_of(kept, None, None))
                return False
            task.tell(mark["trial"], outcome["value"], constraints=outcome.get("constraints"), metrics=outcome.get("metrics"), attributes=kept)
            return False
        except Conflict as error:
            _log.warning("trial %d of the task is told otherwise already, what was measured here is added: %s", mark["trial"], error)
            return True

    def _send_last(self, task: Task, study: Study, trial: FrozenTrial, mark: Mapping[str, Any]) -> None:
        """Report the values that wait, before the end of a trial. What becomes of its outcome does not depend on them."""
        with contextlib.suppress(Conflict, NotFound):
            self._send(task, study, trial, mark)

    def _outcome(
        self, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None
    ) -> tuple[dict[str, Any] | None, str]:
        """Return an outcome, or None and the reason why there is none."""
        if state == TrialState.PRUNED and (self._pruned == "stop" or not values):
            return None, f"pruned at step {trial.last_step}" if trial.last_step is not None else "pruned"
        if state == TrialState.FAIL or not values:
            return None, "failed"
        for value in values:
            if not math.isfinite(value):
                return None, f"measured {value}, which is not finite"
        if missing := sorted(self._limits.keys() - trial.constraints.keys()):
            return None, f"measured no value of the constraints {missing}"
        outcome: dict[str, Any] = {"value": float(values[0])}
        if self._limits:
            outcome["constraints"] = {name: _reading(limit, trial.constraints[name]) for name, limit in self._limits.items()}
        if self._task is not None and len(values) > 1:
            outcome["metrics"] = {one.name: float(value) for one, value in zip(self._task.objectives[1:], values[1:])}
        if state == TrialState.PRUNED and trial.last_step is not None:
            outcome["metrics"] = {"pruned_at_step": trial.last_step}
        return outcome, ""

    def _evaluated(self, trial: FrozenTrial) -> dict[str, Value]:
        """Return the values of the task's parameters that the trial had, without those that the task cannot have."""
        values = {
            name: self._space.to_task(name, trial.distributions[name], trial.params[name])
            for name in self._space.names & trial.params.keys()
        }
        return {name: value for name, value in values.items() if value is not None}

    def _design_of(self, trial: FrozenTrial, *, fill: bool) -> dict[str, Value] | None:
        """Return the design of the trial; fill sets active parameters that it did not use to their centre.

        None if the task has no such design.
        """
        evaluated = self._evaluated(trial)
        if evaluated.keys() != self._space.names & trial.params.keys():
            return None
        design = self._space.completed(evaluated)
        return design if fill or design is None or design.keys() == evaluated.keys() else None

    def _inactive(self, name: str) -> str:
        return (
            f"parameter {name!r}: the task has it only with {self._space.only_with(name)}: "
            "expected suggestions of these first, and of the parameter only then"
        )

    def _kept(self, trial: FrozenTrial) -> dict[str, str]:
        """Return the user attributes of a trial as the task's trial keeps them, for this node only."""
        kept, refused = accepted({name: one for name, one in trial.user_attrs.items() if name != ATTRIBUTE})
        for name in refused:
            self._say_once(
                f"the user attribute {name!r:.100} is not stored with the task's trial: expected names of up to "
                f"{LONGEST_NAME} bytes, texts or JSON of up to {LONGEST_TEXT} bytes, {MOST_BYTES} bytes in all"
            )
        return kept

    def _past(
        self,
        trial: FrozenTrial,
        design: Mapping[str, Value] | None,
        outcome: Mapping[str, Any] | None,
        reason: str,
        stopped: bool,
        kept: Mapping[str, str],
    ) -> dict[str, Any] | None:
        if design is None:
            self._say_once("trials that do not have the parameters of the task as it has them are not told to it")
            _log.info("trial %d is not told to the task", trial.number)
            return None
        past: dict[str, Any] = {"parameters": dict(design)}
        past.update({"stopped" if stopped else "failed": reason} if outcome is None else {"outcome": dict(outcome)})
        if steps := _steps_of(trial):
            past["steps"] = dict(list(steps.items())[:MOST])
        if kept:
            past["attributes"] = dict(kept)
        return past

    def _add(self, task: Task, past: list[dict[str, Any]]) -> None:
        try:
            task.add_trials(past)
        except Refused as error:
            if len(past) == 1:
                _log.warning("an earlier trial is not told to the task: %s", error)
                return
            for one in past:  # a list is taken as a whole or not at all
                self._add(task, [one])

    def _let_go(self, task: Task, mark: Mapping[str, Any], reason: str | None, kept: Mapping[str, str] | None = None) -> None:
        """Fail a trial of the task, or without a reason hand it back."""
        if mark["client"] != task.client:
            return  # another program holds it; its lease will end
        try:
            if reason is None:
                task.requeue(mark["trial"])
            else:
                task.fail(mark["trial"], reason, attributes=kept)
        except (Conflict, NotFound) as error:
            _log.warning("trial %d of the task is no longer held: %s", mark["trial"], error)

    def _catch_up(self, study: Study) -> None:
        """Tell the task of trials that ended without it: before it, elsewhere, or while no node answered."""
        task = self._task
        if task is None:
            return
        ended = study._storage.get_all_trials(study._study_id, deepcopy=False, states=_ENDED)
        new = [trial for trial in ended if trial.number not in self._seen]
        marks = {trial.number: self._mark_of(task, trial) for trial in new}
        untold = {one.id for one in task.trials() if one.state in ("waiting", "running")} if any(marks.values()) else set()
        past = []
        for trial in new:
            mark = marks[trial.number]
            if mark is None:
                outcome, reason = self._outcome(trial, trial.state, trial.values)
                stopped = self._is_stopped(trial, trial.state)
                design = self._design_of(trial, fill=outcome is not None or stopped)
                past.append(self._past(trial, design, outcome, reason, stopped, self._kept(trial)))
            elif mark["trial"] in untold and trial.state != TrialState.FAIL:
                self._report(task, study, trial, trial.state, trial.values)
        if known := [one for one in past if one is not None]:
            self._add(task, known)
        self._seen.update(trial.number for trial in new)

    def _bury(self, study: Study) -> None:
        """Fail the trials of the study that a program of this machine held which was killed. Their leases end by themselves."""
        task = self._task
        if task is None:
            return
        storage = study._storage
        running = storage.get_all_trials(study._study_id, deepcopy=False, states=(TrialState.RUNNING,))
        for trial in running:
            mark = self._mark_of(task, trial)
            if mark is None or not has_ended(str(mark["client"])):
                continue
            with contextlib.suppress(UpdateFinishedTrialError):  # another program was quicker
                storage.set_trial_state_values(trial._trial_id, state=TrialState.FAIL)
                _log.warning("trial %d of study %s is failed: its program has ended (%s)", trial.number, study.study_name, mark["client"])

    def _say_once(self, message: str) -> None:
        if message not in self._said:
            self._said.add(message)
            _log.warning("%s", message)


def _stated(space: Mapping[str, BaseDistribution], conditions: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the parameters of a task that has this space and these conditions."""
    parameters = parameters_of(space)
    if not any("value" not in one for one in parameters):
        raise BadInput("search_space: expected at least one parameter with more than one value")
    when = stated_conditions(conditions, space)
    return [{**one, "when": when[one["name"]]} if one["name"] in when else one for one in parameters]


def _without_conditions(parameters: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{key: one for key, one in parameter.items() if key != "when"} for parameter in parameters]


def _union(
    parameters: Sequence[dict[str, Any]], complete: Sequence[FrozenTrial]
) -> tuple[list[dict[str, Any]], set[str]]:
    """Return the parameters with those that the trials have beside them, and the names of those that change."""
    names = {str(one["name"]) for one in parameters}
    new: dict[str, BaseDistribution] = {}
    changing: set[str] = set()
    for trial in complete:
        for name, distribution in trial.distributions.items():
            if name not in names and new.setdefault(name, distribution) != distribution:
                changing.add(name)
    added = parameters_of({name: one for name, one in new.items() if name not in changing})
    return sorted([*parameters, *added], key=lambda one: str(one["name"])), changing


def _steps_of(trial: FrozenTrial) -> dict[int, float]:
    """Return the intermediate values by step of the task, in order, without those that are not finite.

    Steps of a task begin at 1. Those of a study that begin at 0, as Optuna has them, are shifted by 1.
    """
    shift = 1 if 0 in trial.intermediate_values else 0
    return {step + shift: value for step, value in sorted(trial.intermediate_values.items()) if math.isfinite(value)}


def _fixed(trial: FrozenTrial) -> Mapping[str, Any]:
    """Return the parameters that were enqueued."""
    fixed: Mapping[str, Any] = trial.system_attrs.get("fixed_params", {})
    return fixed


def _limits_of(definition: object) -> dict[str, Mapping[str, Any]]:
    """Return the constraints of a task, by name."""
    constraints = definition.get("constraints") if isinstance(definition, Mapping) else None
    return {str(one["name"]): one for one in constraints or () if isinstance(one, Mapping) and "name" in one}


def _goals_of(definition: Mapping[str, Any]) -> list[object]:
    """Return the goal of each objective of a task."""
    several = definition.get(OBJECTIVES)
    if several is None:
        return [definition.get("goal")]
    return [one.goal if isinstance(one, Objective) else one.get("goal") for one in several]


def _reading(limit: Mapping[str, Any], excess: float) -> float | bool:
    """Return what was measured where Optuna has by how much a limit is exceeded."""
    if limit.get("type") == "bool":
        return excess <= 0
    return float(limit["high"] + excess if "high" in limit else limit["low"] - excess)
