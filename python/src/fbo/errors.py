"""What can go wrong, as exceptions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .result import Result
    from .trial import Trial


class Error(Exception):
    """The base class of the exceptions of this package, except for `fbo.Interrupted`."""


class BadInput(Error, ValueError):
    """An argument is wrong. No request was sent."""


class BinaryMissing(Error):
    """The program fbo-node was not found."""


class NotStarted(Error):
    """The program fbo-node ended before it was ready. The message has its output."""


class Failed(Error):
    """Too many trials in a row have failed, or no trial has a value that satisfies all constraints.

    Attributes:
        trials: All trials of this node on the task, with outcomes and reasons of failures.
    """

    def __init__(self, message: str, trials: tuple[Trial, ...] = ()) -> None:
        super().__init__(message)
        self.trials = trials


class Interrupted(KeyboardInterrupt):
    """Ctrl-C has ended minimize or maximize. Running trials were returned to the node.

    Attributes:
        result: The result so far, or None if no trial has a value that satisfies all constraints.
    """

    def __init__(self, result: Result | None) -> None:
        super().__init__("interrupted: the attribute `result` of this exception has the result so far")
        self.result = result


class TrialStopped(Error):
    """The objective has stopped early: an objective raises it. Its text is the reason, which may be empty.

    Before it the objective reports at least one value by `Trial.report`. The alias is `fbo.TrialPruned`.
    """


class Unreachable(Error):
    """No node answers, after repeated requests."""


@dataclass(frozen=True)
class Field:
    """One error in a request.

    Attributes:
        location: Its place in the request, such as `body.task`.
        message: What is wrong, and what is expected.
    """

    location: str
    message: str


class Problem(Error):
    """The refusal of a node: its problem details (RFC 9457).

    Attributes:
        status: The HTTP status.
        title: The name of the status.
        detail: What is wrong.
        fields: The errors by place in the request.
    """

    def __init__(self, status: int, title: str, detail: str, fields: tuple[Field, ...] = ()) -> None:
        super().__init__(status, title, detail, fields)
        self.status = status
        self.title = title
        self.detail = detail
        self.fields = fields

    def __str__(self) -> str:
        lines = [f"{self.status} {self.title}: {self.detail}"]
        told = self.detail
        for field in self.fields:
            if field.message not in told:
                lines.append(f"  {field.location}: {field.message}")
        return "\n".join(lines)


class Refused(Problem):
    """The node does not accept the request (status 400, 413, 415 or 422)."""

    def __str__(self) -> str:
        return "\n".join(_shown(field) for field in self.fields) or super().__str__()


class Denied(Problem):
    """The node refuses this client: a missing or wrong token, or another host (status 401, 403 or 421)."""


class NotFound(Problem):
    """The node has no such task or trial, or no node knows a string to join (status 404)."""


class NotAdmitted(Problem):
    """A string to join has expired, is used up or was revoked (status 410)."""


class Conflict(Problem):
    """The trial has another outcome, or another client holds it (status 409)."""


class Unavailable(Problem):
    """The node fails, is shutting down or is overloaded (status 429, and from 500 on).

    Status 502 and 504 are of strings to join: another node answers wrongly, or none answers.
    """


def _shown(field: Field) -> str:
    """Return the message without places in what this package has made of the user's input."""
    place = field.location.removeprefix("body.")
    if place == "task":
        return re.sub(r"^task:\d+:\d+: ", "", field.message)
    return field.message if place == "text" else f"{place}: {field.message}"


def problem(status: int, body: Mapping[str, Any] | None, text: str) -> Problem:
    """Make the exception of an answer; text is what came where it was no JSON object."""
    body = body or {}
    fields = tuple(
        Field(str(one.get("location", "")), str(one.get("message", "")))
        for one in body.get("errors") or ()
    )
    title = str(body.get("title", "Error"))
    detail = str(body.get("detail", text[:500] or "no explanation"))
    return _class_of(status)(status, title, detail, fields)


def _class_of(status: int) -> type[Problem]:
    if status in (401, 403, 421):
        return Denied
    if status == 404:
        return NotFound
    if status == 409:
        return Conflict
    if status == 410:
        return NotAdmitted
    if status == 429 or status >= 500:
        return Unavailable
    return Refused
