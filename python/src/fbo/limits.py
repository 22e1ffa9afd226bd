"""Constraints of minimize as constraints of a task."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Union

from .errors import BadInput
from .evaluate import number
from .names import to_task

Limit = Union[str, tuple[Union[float, None], Union[float, None]], type[bool]]
Constraints = Mapping[str, Limit]

_COMPARISON = re.compile(r"\s*(<=|>=)\s*(\S+)\s*")
_EXPECTED = "expected '<= NUMBER', '>= NUMBER', a tuple (low, high) with None for no limit, or bool for an output that must be true"


def constraints_of(given: Constraints) -> list[dict[str, Any]]:
    """Return constraints as a task file has them."""
    if not isinstance(given, Mapping):
        raise BadInput(f"constraints is {given!r}: expected a dictionary such as {{'latency_ms': '<= 50'}}")
    return [{"name": name, **_limits(name, one)} for name, one in given.items()]


def _limits(name: str, given: object) -> dict[str, Any]:
    to_task(name, "constraint")
    if name == "value":
        raise BadInput("constraint 'value': expected another name, since 'value' is the objective")
    where = f"constraint {name!r} is {given!r}"
    if given is bool:
        return {"type": "bool"}
    if isinstance(given, tuple) and len(given) == 2:
        limits = dict(zip(("low", "high"), given))
    elif isinstance(given, str) and (found := _COMPARISON.fullmatch(given)):
        limits = {"high" if found[1] == "<=" else "low": _read(found[2])}
    else:
        limits = {}
    limits = {key: one for key, one in limits.items() if one is not None}
    if not limits:
        raise BadInput(f"{where}: {_EXPECTED}")
    made = {key: number(f"constraint {name!r}: {key} is", one) for key, one in limits.items()}
    if made.get("low", 0) > made.get("high", made.get("low", 0)):
        raise BadInput(f"{where}: expected low up to high")
    return made


def _read(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text
