"""A trial: a design to evaluate, and its outcome."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, SupportsFloat, SupportsIndex, Union

from .annotations import File, Note, fields_from_json
from .errors import Error
from .names import from_task, keys_from_task
from .report import Reporter, stop_from_json
from .stopping import Stop

Value = Union[float, int, str, bool]
Row = dict[str, Any]

SHOWN = 8  # parameters in a repr

# Phrases for sources without a phrase of the node, since no strategy has chosen these designs.
_PHRASES = {
    "enqueued": "given by the user",
    "initial": "random start",
    "own": "own sample",
    "remaining": "random, since nearly all designs have been tried",
    "imported": "imported",
}


@dataclass(frozen=True)
class Recommendation:
    """The design to prefer to the best observed one: outcomes are noisy, or it is one design for all agents.

    Attributes:
        parameters: The parameters of the design, by name.
        predicted: The value that the node's model predicts there, in the units of the objective, or None.
        reason: Why this design is preferable.
        agents: The number of agents whose results it uses if it is one design for all, else 0. Then `predicted` is
            the average of their objectives.
    """

    parameters: dict[str, Value]
    predicted: float | None
    reason: str
    agents: int = 0

    def __str__(self) -> str:
        design = display_design(self.parameters)
        predicted = "" if self.predicted is None else f", predicted {self.predicted:.6g}"
        return f"recommended: {design}{predicted}. {self.reason[:1].upper()}{self.reason[1:]}:"


@dataclass(frozen=True, repr=False)
class Trial:
    """A trial: a design to evaluate, and its outcome. It is a copy of the node's state at one time.

    A trial that `Task.ask` returned, or that an objective received, can report values by step. It can be pickled for
    another process that evaluates it; with a node of a URL the pickle contains the token.

    Attributes:
        id: 1, 2, … of this node and task.
        parameters: The values of the active parameters, by name.
        state: `"waiting"`, `"running"`, `"done"`, `"failed"` or `"stopped"`.
        attempts: How often a client got the trial and did not return it: for a running trial the number of this attempt.
        client: The name of the client that holds the trial or has evaluated it, or None.
        value: The value of the objective, in its own units. None until the trial is done. Of several objectives it is the
            first, and metrics has the others.
        constraints: The measured values of the task's constraints, by name.
        metrics: Further measured numbers, by name.
        reason: Why the trial failed, or None.
        violated: The names of the constraints that the outcome violates.
        why: How the design was chosen, as the node reports it.
        started: The time of the start, in the format of RFC 3339, or None.
        finished: The time of the end, in the format of RFC 3339, or None.
        recommended: The design to prefer to this one. Only `Task.best` sets it, if outcomes are noisy.
        attributes: Texts of the user, by name. Peers never receive them, nor the tags, files and notes.
        tags: Tags of the user, sorted.
        files: References to files of the evaluation.
        notes: Texts of the user about the trial, the oldest first.
        steps: The values that the evaluation has reported, by step, in order. Earlier attempts are included, so a program
            can continue from its own checkpoint.
        stop: The decision to stop the evaluation early, as an `fbo.Stop`, or None.
        cost: The largest reported cost, in a unit of yours, such as seconds, or None. Peers never receive it.
    """

    id: int
    parameters: dict[str, Value]
    state: str
    attempts: int = 0
    client: str | None = None
    value: float | None = None
    constraints: dict[str, float | bool] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)
    reason: str | None = None
    violated: tuple[str, ...] = ()
    why: dict[str, Any] = field(default_factory=dict)
    started: str | None = None
    finished: str | None = None
    recommended: Recommendation | None = None
    attributes: dict[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    files: tuple[File, ...] = ()
    notes: tuple[Note, ...] = ()
    steps: dict[int, float] = field(default_factory=dict)
    stop: Stop | None = None
    cost: float | None = None

    _reporter: ClassVar[Reporter | None] = None  # set for a trial that this program evaluates, by `reporting`

    def __repr__(self) -> str:
        shown: dict[str, Any] = {"id": self.id, "state": self.state, "value": self.value}
        shown.update(constraints=self.constraints, metrics=self.metrics, violated=self.violated, reason=self.reason or (self.stop and self.stop.reason))
        text = ", ".join(f"{name}={one!r}" for name, one in shown.items() if one or name in ("id", "value"))
        return f"Trial({text}: {display_design(self.parameters, SHOWN)})"

    def report(self, step: SupportsIndex, value: SupportsFloat, *, cost: SupportsFloat | None = None) -> None:
        """Report the value of the objective at a step of the evaluation, such as an epoch.

        A value that is no finite number, and one that the node refuses, is left out with a warning. The node stores up
        to 1,000 values of a trial, and of a step the first. While no node answers, values wait for a later report, or for
        the end of the trial.

        Args:
            step: A whole number from 1 that increases.
            value: The value of the objective at this step, in its own units.
            cost: What the evaluation has cost so far, in a unit of yours, 0 or more. The largest reported cost counts. A
                stopped or failed trial has it too. Another value is left out with a warning.

        Raises:
            BadInput: The step is no whole number from 1.
            Conflict: Another client holds the trial, or it has ended.
            Error: This program does not evaluate the trial: it is not from `Task.ask`.

        Examples:
            ```python
            def train(rate, trial):
                for epoch in range(1, 51):
                    loss = one_epoch(rate)
                    trial.report(epoch, loss)
                    if trial.should_stop():
                        raise fbo.TrialStopped
                return loss
            ```
        """
        self._reports().report(step, value, cost)

    def should_stop(self) -> bool:
        """Report whether the task's rule has decided to stop the evaluation, as of the last `report`.

        The objective then raises `fbo.TrialStopped`, and a program that asks calls `Task.stop`. The alias is
        `should_prune`.
        """
        return self._reports().stop is not None

    def should_prune(self) -> bool:
        """Report the same as `should_stop`."""
        return self.should_stop()

    def _reports(self) -> Reporter:
        if self._reporter is None:
            raise Error(f"trial {self.id} is not evaluated here: expected one of Task.ask or the argument of an objective")
        return self._reporter

    @property
    def chosen(self) -> str:
        """How the design was chosen, as a phrase for people."""
        source = str(self.why.get("source", ""))
        phrase = str(self.why.get("phrase") or _PHRASES.get(source, source))
        if after := self.why.get("next_best"):
            return f"{phrase}, next best after trial {after}"
        if repeated := self.why.get("repeat_of"):
            return f"{phrase}, trial {repeated} again"
        return phrase

    @property
    def from_peers(self) -> bool:
        """Whether shares of peers influenced the design."""
        if self.why.get("source") in ("enqueued", "initial", "remaining", "imported", "random"):
            return False
        return bool(self.why.get("peer") or self.why.get("peer_count"))

    def row(self) -> Row:
        """Return the trial as one row of a table.

        Returns:
            The keys `trial`, `state`, `value`, `cost`, `parameters.NAME`, `constraints.NAME`, `metrics.NAME`, `reason`,
            `source`, `why`, `from_peers`, `peer`, `peer_count`, `client`, `started`, `finished`,
            `attributes.NAME`, and `tags`, `files` and `notes` (texts, the paths of files). `last_step` and `last_value` are
            of the last value by step, and `stop` is why the evaluation was stopped early.
        """
        row: Row = {"trial": self.id, "state": self.state, "value": self.value, "cost": self.cost}
        for group, values in (
            ("parameters", self.parameters),
            ("constraints", self.constraints),
            ("metrics", self.metrics),
        ):
            row.update({f"{group}.{name}": value for name, value in values.items()})
        row.update(
            reason=self.reason,
            source=self.why.get("source"),
            why=self.chosen,
            from_peers=self.from_peers,
            peer=self.why.get("peer"),
            peer_count=self.why.get("peer_count", 0),
            client=self.client,
            started=self.started,
            finished=self.finished,
        )
        last = max(self.steps, default=None)
        row.update(
            last_step=last,
            last_value=None if last is None else self.steps[last],
            stop=self.stop and self.stop.reason,
        )
        row.update({f"attributes.{name}": text for name, text in self.attributes.items()})
        row.update(
            tags=", ".join(self.tags),
            files="\n".join(one.path for one in self.files),
            notes="\n\n".join(one.text for one in self.notes),
        )
        return row


def rows_of(trials: Iterable[Trial], names: Iterable[str]) -> list[Row]:
    """Return the rows of trials. All have the parameters of these names: None if they are not active."""
    head = dict.fromkeys(("trial", "state", "value", "cost", *(f"parameters.{name}" for name in names)))
    return [{**head, **trial.row()} for trial in trials]


def display(value: object) -> str:
    """Return a value for people."""
    return f"{value:.6g}" if isinstance(value, float) else repr(value)


def display_design(parameters: Mapping[str, Value], most: int | None = None) -> str:
    """Return a design for people, with at most this number of its parameters."""
    shown = [f"{name}={display(value)}" for name, value in list(parameters.items())[:most]]
    if left := len(parameters) - len(shown):
        shown.append(f"… {left} more")
    return ", ".join(shown)


def design(given: Mapping[str, Value], floats: Collection[str]) -> dict[str, Value]:
    """Return a design with the names of Python. Values of the parameters in floats are floats: JSON writes 2.0 as 2."""
    return {name: float(value) if name in floats else value for name, value in keys_from_task(given).items()}


def from_json(given: Mapping[str, Any], floats: Collection[str] = ()) -> Trial:
    """Read an answer of a node; floats has the names of parameters of that type."""
    outcome: Mapping[str, Any] = given.get("outcome") or {}
    value = outcome.get("value")
    return Trial(
        id=given["id"],
        parameters=design(given["parameters"], floats),
        state=given["state"],
        attempts=given.get("attempts", 0),
        client=given.get("client"),
        value=None if value is None else float(value),
        constraints=keys_from_task(outcome.get("constraints") or {}),
        metrics=outcome.get("metrics") or {},
        reason=given.get("reason"),
        violated=tuple(from_task(name) for name in given.get("violated") or ()),
        why=given.get("why") or {},
        started=given.get("started"),
        finished=given.get("finished"),
        steps={one["step"]: float(one["value"]) for one in given.get("steps") or ()},
        stop=stop_from_json(given.get("stop")),
        cost=None if given.get("cost") is None else float(given["cost"]),
        **fields_from_json(given),
    )


def reporting(trial: Trial, reporter: Reporter | None) -> Trial:
    """Return the trial after it has got the reporter of its values by step."""
    object.__setattr__(trial, "_reporter", reporter)
    return trial
