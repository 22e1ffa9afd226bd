"""A task of a node: ask for trials, tell what they measured."""

from __future__ import annotations

import json
import logging
import math
import os
import socket
import sys
import threading
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, SupportsFloat, SupportsIndex

from .annotations import File, body_of
from .errors import BadInput, Error, Unreachable
from .evaluate import cost_of, number
from .heartbeat import Held
from .http import Client, quote
from .names import definition_from_task, keys_to_task, restored, to_task
from .objectives import from_definition, gathered, scores_of
from .report import Reporter
from .stopping import Stop
from .trial import Recommendation, Row, Trial, Value, design, from_json, reporting, rows_of

_log = logging.getLogger("fbo")

_PAGE = 1000


@dataclass(frozen=True)
class Event:
    """An event of a task.

    Attributes:
        id: A number that increases from event to event, for `Task.events(after=…)`.
        type: The type, such as `"trial_finished"`.
        data: Its fields, as `fbo-node run --json` prints them.
    """

    id: int
    type: str
    data: dict[str, Any]


class Task:
    """A task that a node serves. Any number of threads may use it. `Node.task` and `Node.find` return it.

    A thread sends heartbeats for the trials that are held. A task can be pickled: the copy is another client and
    holds no trials; the node must run while it is used.

    Attributes:
        id: The ID of the task.
        name: The name of the task.
        goal: `"minimize"` or `"maximize"`, of several objectives the goal of the first.
        objectives: The `fbo.Objective` of a task with several, in order; empty for one. The first is the value of an outcome,
            the others are metrics.
        definition: The content of the task file, with all defaults.
        client: The name by which this object holds trials.

    Examples:
        ```python
        for trial in task.ask():
            task.tell(trial, loss(**trial.parameters), metrics={"accuracy": 0.9})
        ```
    """

    def __init__(self, http: Client, shown: Mapping[str, Any], client: str | None, lease: float) -> None:
        if not (math.isfinite(lease) and lease >= 1):
            raise BadInput(f"lease {lease!r}: expected a number of seconds from 1 on")
        self.id: str = shown["id"]
        self.name: str = shown["name"]
        self.goal: str = shown["goal"]
        self.definition: dict[str, Any] = definition_from_task(shown["task"])  # with all defaults
        self.objectives = from_definition(self.definition)
        self._http = http
        self._path = f"/v1/tasks/{quote(self.id)}"
        self._lease = lease
        self._begin(client or _new_client())
        self._floats = frozenset(one["name"] for one in self.definition["parameters"] if one["type"] == "float")

    def _begin(self, client: str) -> None:
        self.client = client
        self._held = Held(self._http, self._path + "/trials", client, self._lease / 3)
        self._asking = threading.Lock()
        self._reporters: dict[int, Reporter] = {}  # of held trials, by their IDs

    def __getstate__(self) -> dict[str, Any]:
        return {name: one for name, one in self.__dict__.items() if name not in ("client", "_held", "_asking", "_reporters")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make a copy of a pickled task. It is another client, and holds no trials."""
        self.__dict__.update(state)
        self._begin(_new_client())

    def ask(self, count: int = 1, *, wait: float = 60.0) -> list[Trial]:
        """Return new trials to evaluate. Each is held until its outcome is reported, or it fails or is returned.

        Args:
            count: The largest number of trials, 1 or more.
            wait: Seconds to wait for designs, 0 to 60.

        Returns:
            Up to count trials that this object has not returned yet; perhaps none, if the node has no design.

        Raises:
            BadInput: An argument is wrong.
            Unreachable: No node answers.
        """
        if count < 1:
            raise BadInput(f"count {count}: expected 1 or more")
        with self._asking:
            before = self._held.ids()
            answer = self._http.post(
                self._path + "/ask",
                {
                    "client": self.client,
                    "count": len(before) + count,
                    "lease_seconds": self._lease,
                    "wait_seconds": wait,
                },
                repeatable=True,
            )
            new = [self._asked(one) for one in answer["trials"] if one["id"] not in before]
            self._held.add(*(trial.id for trial in new))
            for trial in new[count:]:  # another thread has reported one meanwhile
                self.requeue(trial)
            return new[:count]

    def _asked(self, given: Mapping[str, Any]) -> Trial:
        trial = from_json(given, self._floats)
        reporter = self._reporters[trial.id] = self._reporter(trial.id, self.client, trial.stop)
        return reporting(trial, reporter)

    def report(self, trial: Trial | int, step: SupportsIndex, value: SupportsFloat, *, cost: SupportsFloat | None = None) -> Stop | None:
        """Report the value of the objective at a step of an evaluation.

        Args:
            trial: A trial that this client holds, or its ID.
            step: As of `Trial.report`.
            value: As of `Trial.report`.
            cost: As of `Trial.report`.

        Returns:
            The decision to stop the evaluation, which the program then ends by `stop`, or None to continue.

        Raises:
            BadInput: The step is no whole number from 1.
            Conflict: Another client holds the trial, or it has ended.
        """
        found = trial._reporter if isinstance(trial, Trial) else None
        if found is None:
            found = self._reporters.setdefault(_id(trial), self._reporter(_id(trial), self.client))
        return found.report(step, value, cost)

    def _reporter(self, trial: int, client: str, stop: Stop | None = None) -> Reporter:
        return Reporter(self._http, self._path + "/trials", client, trial, stop)

    def stop(
        self,
        trial: Trial | int,
        reason: str = "",
        *,
        cost: SupportsFloat | None = None,
        attributes: Mapping[str, object] | None = None,
        tags: Iterable[str] | None = None,
        files: Iterable[str | File | Mapping[str, Any]] | None = None,
    ) -> Trial:
        """Report that the evaluation of a trial was stopped early, after at least one value by step.

        The trial has no outcome; the model uses its values by step. Where the rule is patience, its last value is the
        outcome.

        Args:
            trial: A trial that this client holds, or its ID.
            reason: Why, if the program itself has decided; at most 1,000 characters are stored.
            cost: As of `tell`.
            attributes: As of `tell`.
            tags: As of `tell`.
            files: As of `tell`.

        Raises:
            Conflict: Another client holds the trial, or it has an outcome.
            Refused: The trial has no value by step.
        """
        return self._stop(trial, self.client, reason, {**_cost(trial, cost), **body_of(attributes, tags, files)})

    def _stop(self, trial: Trial | int, client: str, reason: str, kept: Mapping[str, Any]) -> Trial:
        given = {"reason": reason} if (reason := reason.strip()[:1000]) else {}
        return self._end(trial, "stopped", {"client": client, **given, **kept})

    def tell(
        self,
        trial: Trial | int,
        value: SupportsFloat | Mapping[str, SupportsFloat],
        *,
        constraints: Mapping[str, SupportsFloat | bool] | None = None,
        metrics: Mapping[str, SupportsFloat] | None = None,
        cost: SupportsFloat | None = None,
        attributes: Mapping[str, object] | None = None,
        tags: Iterable[str] | None = None,
        files: Iterable[str | File | Mapping[str, Any]] | None = None,
    ) -> Trial:
        """Report the outcome of a trial. The same report again is no error.

        Args:
            trial: The trial, or its ID.
            value: The value of the objective, in its own units; or of several objectives a dictionary of all, by name. A
                number is the value of the first; the others are then in metrics. If one is no finite number, the trial
                fails, with a warning.
            constraints: The measured value of each constraint of the task: a number, or true or false if the task
                has `type: bool`. One that is no finite number fails the trial, with a warning.
            metrics: Up to 64 further numbers, by name. One that is no finite number is left out, with a warning.
            cost: What the trial has cost, in a unit of yours, such as seconds: a finite number of 0 or more. The largest
                reported cost counts. Another value is left out with a warning. Peers never receive it.
            attributes: Up to 64 texts by name that the trial keeps for you, such as a commit. Other values are stored as
                JSON. Peers never receive them, nor the tags and files.
            tags: Up to 32 tags that the trial keeps.
            files: Up to 64 references to files: paths or URLs, or `fbo.File` with a digest.

        Returns:
            The trial with its outcome.

        Raises:
            BadInput: An objective of several is missing or unknown. The trial is still held.
            Conflict: The trial has another outcome.
            Refused: A constraint is missing or unknown, or the node does not accept a metric or an attribute.
        """
        kept = {**_cost(trial, cost), **body_of(attributes, tags, files)}
        body: dict[str, Any] = {**kept}
        metrics, measured = dict(metrics or {}), gathered(self.objectives, value, metrics or {})
        try:
            if self.objectives:
                body["value"], others = scores_of(self.objectives, measured)
                metrics.update(others)
            else:
                body["value"] = number("value is", value)
            if constraints:
                body["constraints"] = {
                    to_task(name, "constraint"): one if isinstance(one, bool) else number(f"constraint {name} is", one)
                    for name, one in constraints.items()
                }
        except BadInput as error:
            _log.warning("trial %d failed: %s", _id(trial), error)
            return self._fail(trial, str(error), kept)
        if metrics:
            body["metrics"] = _finite(metrics)
        return self._end(trial, "tell", body)

    def fail(
        self,
        trial: Trial | int,
        reason: str,
        *,
        cost: SupportsFloat | None = None,
        attributes: Mapping[str, object] | None = None,
        tags: Iterable[str] | None = None,
        files: Iterable[str | File | Mapping[str, Any]] | None = None,
    ) -> Trial:
        """Report that a trial has no outcome.

        Args:
            trial: A trial that this client holds, or its ID.
            reason: Why; at most 1,000 characters are stored.
            cost: As of `tell`.
            attributes: As of `tell`.
            tags: As of `tell`.
            files: As of `tell`.

        Raises:
            Conflict: Another client holds the trial, or it has an outcome.
        """
        return self._fail(trial, reason, {**_cost(trial, cost), **body_of(attributes, tags, files)})

    def _fail(self, trial: Trial | int, reason: str, kept: Mapping[str, Any]) -> Trial:
        reason = reason.strip()[:1000] or "no reason given"
        return self._end(trial, "fail", {"client": self.client, "reason": reason, **kept})

    def annotate(
        self,
        trial: Trial | int,
        *,
        attributes: Mapping[str, object] | None = None,
        tags: Iterable[str] | None = None,
        files: Iterable[str | File | Mapping[str, Any]] | None = None,
        remove_tags: Iterable[str] = (),
        remove_notes: Iterable[int] = (),
    ) -> Trial:
        """Change what a trial in any state keeps for you. Peers never receive it.

        Args:
            trial: The trial, or its ID.
            attributes: Texts by name; other values are stored as JSON. An empty text removes the attribute.
            tags: Tags to add.
            files: References to files to add. One with the path of an earlier one replaces it.
            remove_tags: Tags to remove.
            remove_notes: IDs of notes to remove.

        Returns:
            The trial as it is then.

        Raises:
            Refused: The node does not accept one of them. Nothing has changed.
        """
        body = body_of(attributes, tags, files)
        if removed := list(remove_tags):
            body["remove_tags"] = removed
        if numbers := list(remove_notes):
            body["remove_notes"] = numbers
        return self._annotate(trial, body)

    def note(self, trial: Trial | int, text: str, *, author: str | None = None) -> Trial:
        """Add a note to a trial in any state. Peers never receive it.

        Args:
            trial: The trial, or its ID.
            text: At most 2,000 characters.
            author: Who wrote it.

        Returns:
            The trial as it is then.
        """
        return self._annotate(trial, {"note": text, **({} if author is None else {"author": author})})

    def _annotate(self, trial: Trial | int, body: Mapping[str, Any]) -> Trial:
        shown = self._http.post(f"{self._path}/trials/{quote(_id(trial))}/annotate", body, repeatable=True)
        return from_json(shown, self._floats)

    def requeue(self, trial: Trial | int) -> Trial:
        """Return a trial that this client holds to the node. The next client that asks gets it."""
        return self._end(trial, "requeue", {"client": self.client})

    def best(self) -> Trial | None:
        """Return the best feasible trial so far, or None. Of several objectives it is the best of the first.

        If outcomes are noisy, its `recommended` is the design to prefer, and with strategy average-objective the
        design for all agents. The call then takes as long as a suggestion.
        """
        given = self._http.get(self._path + "/best")
        if given["trial"] is None:
            return None
        best = from_json(given["trial"], self._floats)
        if r := given.get("recommended"):
            found = Recommendation(design(r["parameters"], self._floats), r.get("predicted"), r.get("reason", ""), r.get("agents", 0))
            best = replace(best, recommended=found)
        return best

    def front(self) -> list[Trial]:
        """Return the Pareto front of a task with several objectives, the best in the first objective first.

        It has the feasible trials that no other one dominates. For a task with one objective it is empty.
        """
        given = self._http.get(self._path + "/front")
        return [from_json(one, self._floats) for one in given["trials"]]

    def recommend(self) -> dict[str, Value] | None:
        """Return the design that is best according to the model, or None while there is no model."""
        given = self._http.get(self._path + "/recommendation")["parameters"]
        return None if given is None else design(given, self._floats)

    def trials(self) -> list[Trial]:
        """Return all trials of this node, in the order of their IDs."""
        trials: list[Trial] = []
        after = 0
        while True:
            page = self._http.get(self._path + "/trials", {"after": after, "limit": _PAGE})
            trials.extend(from_json(one, self._floats) for one in page["trials"])
            after = page.get("next", 0)
            if not after:
                return trials

    def rows(self) -> list[Row]:
        """Return all trials as rows, for `pandas.DataFrame` or `csv.DictWriter`: see `Trial.row`.

        Parameters that are not active in a trial are None.
        """
        return rows_of(self.trials(), (one["name"] for one in self.definition["parameters"]))

    def counts(self) -> dict[str, int]:
        """Return the numbers of trials of this node by state: waiting, running, done, failed and stopped."""
        counts: dict[str, int] = self._http.get(self._path)["trials"]
        return counts

    def add_trials(self, trials: Iterable[Mapping[str, Any]]) -> int:
        """Add earlier evaluations as past trials.

        Args:
            trials: Dictionaries with the key `parameters`, and with `outcome` (a dictionary with `value`,
                `constraints` and `metrics`), or `failed` or `stopped` (the reason, a text). The key `steps` has values
                by step, as a dictionary; a stopped trial has at least one. The keys `cost`, `attributes`, `tags` and
                `files` are as of `tell`.

        Returns:
            The number of trials that the node did not have.

        Raises:
            Refused: The node does not accept one of them. None is added.
        """
        added: int = self._http.post(
            self._path + "/import", {"trials": [_past(one) for one in trials]}, repeatable=True
        )["added"]
        return added

    def status(self) -> dict[str, Any]:
        """Return the state of the node on the task, as `GET …/status` of the HTTP interface does."""
        shown: dict[str, Any] = restored(self._http.get(self._path + "/status"))
        return shown

    def peers(self) -> list[str]:
        """Return the peer IDs of the nodes to which this one is connected on the task."""
        return [one["id"] for one in self._http.get(self._path + "/peers")["peers"]]

    def events(self, after: int | None = None) -> Iterator[Event]:
        """Yield events until the node ends.

        Args:
            after: The ID of an event; those after it are yielded. None: events from now on.
        """
        number, kind = 0, ""
        query: dict[str, str | int] = {} if after is None else {"after": after}
        for line in self._http.stream(self._path + "/events", query):
            key, _, text = line.partition(": ")
            if key == "id":
                number = int(text)
            elif key == "event":
                kind = text
            elif key == "data":
                yield Event(number, kind, restored(json.loads(text)))

    def leave(self) -> None:
        """Let the node leave the task. Its trials stay on the disk, and joining again continues it."""
        self._held.close()
        self._http.delete(self._path)

    def close(self) -> None:
        """Return the trials that are held, and end the heartbeats. A `with` calls it at its end."""
        self._held.close()
        for trial in sorted(self._held.ids()):
            try:
                self.requeue(trial)
            except Unreachable:
                break  # the leases will end
            except Error:  # the lease has ended, or the trial
                self._held.drop(trial)

    def __repr__(self) -> str:
        return f"<fbo.Task {self.name!r}: {self.goal} over {len(self.definition['parameters'])} parameters, ID {self.id}>"

    def __enter__(self) -> Task:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _end(self, trial: Trial | int, what: str, body: Mapping[str, Any]) -> Trial:
        for reporter in (trial._reporter if isinstance(trial, Trial) else None, self._reporters.get(_id(trial))):
            if reporter is not None:
                reporter.finish()
        shown = self._http.post(f"{self._path}/trials/{quote(_id(trial))}/{what}", body, repeatable=True)
        self._held.drop(_id(trial))
        self._reporters.pop(_id(trial), None)
        return from_json(shown, self._floats)


def _new_client() -> str:
    return f"{socket.gethostname()[:30]} {os.getpid()} {uuid.uuid4().hex[:8]}"


def has_ended(client: str) -> bool:
    """Report whether a client is certainly gone: a process of this machine that is no more."""
    host, _, rest = client.rpartition(" ")[0].rpartition(" ")
    if host != socket.gethostname()[:30] or not rest.isdecimal() or sys.platform == "win32":
        return False
    try:
        os.kill(int(rest), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def _id(trial: Trial | int) -> int:
    return trial.id if isinstance(trial, Trial) else trial


def _past(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return an earlier trial with the names of the task. The node refuses what is none."""
    made = dict(given)
    if isinstance(made.get("parameters"), Mapping):
        made["parameters"] = keys_to_task(made["parameters"])
    if isinstance(made.get("steps"), Mapping):
        made["steps"] = [{"step": step, "value": value} for step, value in sorted(made["steps"].items())]
    kept = body_of(made.pop("attributes", None), made.pop("tags", None), made.pop("files", None))
    made.update(kept)
    outcome = made.get("outcome")
    if isinstance(outcome, Mapping) and isinstance(outcome.get("constraints"), Mapping):
        made["outcome"] = {**outcome, "constraints": keys_to_task(outcome["constraints"], "constraint")}
    return made


def _cost(trial: Trial | int, given: SupportsFloat | None) -> dict[str, float]:
    """Return the key of a cost, none if it is unknown or wrong."""
    if given is None:
        return {}
    try:
        return {"cost": cost_of("cost is", given)}
    except BadInput as error:
        _log.warning("trial %d: %s; it is left out", _id(trial), error)
        return {}


def _finite(metrics: Mapping[str, object]) -> dict[str, float]:
    """Return the metrics that are finite numbers."""
    kept = {}
    for name, one in metrics.items():
        try:
            kept[name] = number(f"metric {name} is", one)
        except BadInput as error:
            _log.warning("%s; it is left out", error)
    return kept
