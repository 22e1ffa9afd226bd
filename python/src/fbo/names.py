"""Names of parameters and constraints: any printable text in Python, an identifier in a task.

A task accepts names of letters, digits and _ that begin with a letter, since they also name environment
variables. Such a name stays as it is. In any other each character that a task does not accept becomes
`_xHHHH_` with its code point: `optimizer.lr` becomes `optimizer_x002E_lr`. As the first character of a name it
becomes `xHHHH_`. The same escape protects text that looks like an escape, so different names stay different
and each name can be restored without other knowledge.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from .errors import BadInput

_LONGEST = 64  # characters of a name in a task
_ESCAPE = re.compile(r"(?:^|_)x([0-9A-F]{4,6})_")
# The x or _ that would begin an escape, a first character that is no letter, and what is no letter, digit or _.
_ESCAPED = re.compile(
    r"^x(?=[0-9A-F]{4,6}[^A-Za-z0-9])|_(?=x[0-9A-F]{4,6}[^A-Za-z0-9])|^[^A-Za-z]|[^A-Za-z0-9_]"
)
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def to_task(name: object, what: str = "parameter") -> str:
    """Return a name as a task has it; what is the kind of thing that it names, for errors."""
    if not isinstance(name, str) or not name or not name.isprintable():
        raise BadInput(f"{what} {name!r}: expected a name of printable characters")
    made = _encoded(name)
    if len(made) > _LONGEST:
        written = "" if made == name else f", written {made!r} in the task"
        raise BadInput(f"{what} {name!r}{written}: expected a name of at most {_LONGEST} characters in the task, not {len(made)}")
    return made


def differ(names: Iterable[str]) -> None:
    """Check that names of parameters differ in more than case, since they name environment variables."""
    seen: dict[str, str] = {}
    for name in names:
        key = to_task(name).lower()
        if key in seen:
            raise BadInput(f"parameters {seen[key]!r} and {name!r}: expected names that differ in more than case")
        seen[key] = name


@lru_cache(maxsize=4096)
def from_task(name: str) -> str:
    """Return the name that a task has in this form."""
    try:
        found = _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), name)
    except ValueError:  # above the last code point
        return name
    return found if found.isprintable() and _encoded(found) == name else name


def shown(given: Any) -> Any:
    """Return messages of a node with the names of Python: a text, or lists and objects of texts."""
    if isinstance(given, dict):
        return {key: shown(one) for key, one in given.items()}
    if isinstance(given, list):
        return [shown(one) for one in given]
    return _IDENTIFIER.sub(lambda found: from_task(found[0]), given) if isinstance(given, str) else given


def keys_to_task(given: Mapping[str, Any], what: str = "parameter") -> dict[str, Any]:
    """Return a mapping by names with the names of the task."""
    return {to_task(name, what): value for name, value in given.items()}


def keys_from_task(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mapping by names of the task with the names of Python."""
    return {from_task(name): value for name, value in given.items()}


def restored(given: Any) -> Any:
    """Return an answer of a node with the names of Python in keys at any depth."""
    if isinstance(given, dict):
        return {from_task(name): restored(one) for name, one in given.items()}
    return [restored(one) for one in given] if isinstance(given, list) else given


def definition_to_task(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a task file with the names of the task. The node refuses what is no definition."""
    return _renamed(given, to_task)


def definition_from_task(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a task file with the names of Python."""
    return _renamed(given, lambda name, _: from_task(name))


def _renamed(given: Mapping[str, Any], rename: Any) -> dict[str, Any]:
    made = dict(given)
    for section, what in (("parameters", "parameter"), ("constraints", "constraint")):
        entries = made.get(section)
        if isinstance(entries, Sequence) and not isinstance(entries, (str, bytes)):
            made[section] = [
                {**one, "name": rename(one["name"], what)} if isinstance(one, Mapping) and isinstance(one.get("name"), str) else one
                for one in entries
            ]
    if isinstance(made.get("default"), Mapping):
        made["default"] = {rename(name, "parameter"): value for name, value in made["default"].items()}
    return made


@lru_cache(maxsize=4096)
def _encoded(name: str) -> str:
    return _ESCAPED.sub(lambda found: f"{'_' if found.start() else ''}x{ord(found[0]):04X}_", name)
