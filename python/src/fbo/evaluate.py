"""One call of the function that is optimised, and what may come of it."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import SupportsFloat, Union

from .trial import Value

Objective = Callable[..., SupportsFloat]


@dataclass(frozen=True)
class Failure:
    """Why there is no value."""

    reason: str
    trace: str = ""
    wrong: bool = False  # the function itself is wrong: another design would not help


Outcome = Union[float, Failure]


def evaluate(f: Objective, design: Mapping[str, Value]) -> Outcome:
    """Call f with the design's values as keywords. An exception is a failure."""
    try:
        returned = f(**design)
    except Exception as error:
        reason = "".join(traceback.format_exception_only(error)).strip()
        return Failure(reason, traceback.format_exc())
    if isinstance(returned, (str, bytes, bool)) or not isinstance(returned, SupportsFloat):
        return Failure(f"f returned {returned!r}: accepted is a number", wrong=True)
    try:
        number = float(returned)
    except Exception:
        return Failure(f"f returned {returned!r}: accepted is a number", wrong=True)
    if not math.isfinite(number):
        return Failure(f"f returned {number}")
    return number
