"""One call of the objective, and its outcome."""

from __future__ import annotations

import contextlib
import inspect
import math
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, SupportsFloat, Union

from .errors import BadInput, TrialStopped

_ABSENT = object()  # a value that was not returned
_LONGEST = 200  # characters of a value in a message

# A number; a number and further outputs by name; or all by name, with the objective under "value", or several by their names.
Function = Callable[..., Union[SupportsFloat, tuple[SupportsFloat, Mapping[str, Any]], Mapping[str, Any]]]


@dataclass(frozen=True)
class Failure:
    """Why there is no value."""

    reason: str
    trace: str = ""


@dataclass(frozen=True)
class Measured:
    """What an evaluation measured."""

    value: float | None  # None if the outputs have no "value"
    outputs: dict[str, float | bool] = field(default_factory=dict)  # constraints, metrics, and objectives of several
    refused: dict[str, str] = field(default_factory=dict)  # outputs that are no finite numbers, with a message
    kept: dict[str, Any] = field(default_factory=dict)  # attributes, tags and files
    returned: str = ""  # what f returned, if value is None


@dataclass(frozen=True)
class Stopped:
    """Why the evaluation was stopped early."""

    reason: str


Outcome = Union[Measured, Failure, Stopped]


def takes_trial(f: Function) -> bool:
    """Report whether f has a parameter with the name trial, without a default other than None."""
    try:
        found = inspect.signature(f).parameters.get("trial")
    except (TypeError, ValueError):  # of functions in other languages
        return False
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return found is not None and found.kind in by_name and found.default in (inspect.Parameter.empty, None)


def evaluate(f: Function, arguments: Mapping[str, Any]) -> Outcome:
    """Call f with the arguments as keywords.

    An exception other than TrialStopped is a failure, and so is a value that is no finite number.
    """
    try:
        returned = f(**arguments)
    except TrialStopped as stopped:
        return Stopped(str(stopped))
    except Exception as error:
        reason = "".join(traceback.format_exception_only(error)).strip()
        return Failure(reason, traceback.format_exc())
    try:
        return _measured(returned)
    except BadInput as error:
        return Failure(str(error))


def _measured(returned: object) -> Measured:
    if isinstance(returned, Mapping):
        value, outputs = returned.get("value", _ABSENT), {name: one for name, one in returned.items() if name != "value"}
    elif isinstance(returned, tuple) and len(returned) == 2 and isinstance(returned[1], Mapping):
        value, outputs = returned[0], dict(returned[1])
    else:
        return Measured(number("f returned", returned))
    if value is _ABSENT:
        measured = Measured(None, returned=_shortened(repr(returned)))
    else:
        measured = Measured(number("f returned the value", value))
    for name, one in outputs.items():
        try:
            if name == "attributes" and isinstance(one, Mapping) or name in ("tags", "files") and isinstance(one, (list, tuple)):
                measured.kept[name] = one
                continue
            if isinstance(one, str):
                raise BadInput(f"output {name!r} is a text: expected it under the key 'attributes', {{'attributes': {{{name!r}: …}}}}")
            if not isinstance(name, str):
                raise BadInput(f"output {name!r}: expected a name that is a text")
            measured.outputs[name] = one if isinstance(one, bool) else number(f"output {name!r} is", one)
        except BadInput as error:
            measured.refused[str(name)] = str(error)
    return measured


def number(what: str, given: object) -> float:
    """Return a finite number as a float. Anything else raises BadInput, whose text begins with what."""
    made = math.nan
    if isinstance(given, SupportsFloat) and not isinstance(given, (str, bytes, bool)):
        with contextlib.suppress(Exception):  # of its own conversion
            made = float(given)
    if math.isfinite(made):
        return made
    raise BadInput(f"{what} {made if isinstance(given, float) else _shortened(repr(given))}: expected a finite number")


def cost_of(what: str, given: object) -> float:
    """Return a cost as a float. Anything but a finite number of 0 or more raises BadInput, whose text begins with what."""
    cost = number(what, given)
    if cost < 0:
        raise BadInput(f"{what} {cost}: expected a finite number of 0 or more")
    return cost


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
