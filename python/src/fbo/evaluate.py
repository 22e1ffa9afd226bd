"""One call of the objective, and its outcome."""

from __future__ import annotations

import contextlib
import math
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import SupportsFloat, Union

from .errors import BadInput
from .trial import Value

_LONGEST = 200  # characters of a value in a message

Objective = Callable[..., SupportsFloat]


@dataclass(frozen=True)
class Failure:
    """Why there is no value."""

    reason: str
    trace: str = ""


Outcome = Union[float, Failure]


def evaluate(f: Objective, design: Mapping[str, Value]) -> Outcome:
    """Call f with the design's values as keywords. An exception is a failure, and so is what is no finite number."""
    try:
        returned = f(**design)
    except Exception as error:
        reason = "".join(traceback.format_exception_only(error)).strip()
        return Failure(reason, traceback.format_exc())
    try:
        return number("f returned", returned)
    except BadInput as error:
        return Failure(str(error))


def number(what: str, given: object) -> float:
    """Return a finite number as a float. Anything else raises BadInput, whose text begins with what."""
    made = math.nan
    if isinstance(given, SupportsFloat) and not isinstance(given, (str, bytes, bool)):
        with contextlib.suppress(Exception):  # of its own conversion
            made = float(given)
    if math.isfinite(made):
        return made
    raise BadInput(f"{what} {made if isinstance(given, float) else _shortened(repr(given))}: expected a finite number")


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
