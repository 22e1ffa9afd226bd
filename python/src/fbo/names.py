"""Names of parameters and constraints: any printable text in Python, an identifier in a task.

A task accepts names of letters, digits and _ that begin with a letter, since they also name environment
variables. Such a name stays as it is. In any other each character that a task does not accept becomes
`_xHHHH_` with its code point: `optimizer.lr` becomes `optimizer_x002E_lr`. As the first character of a name it
becomes `xHHHH_`. The same escape protects text that looks like an escape, so different names stay different
and each name can be restored without other knowledge.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeGuard

from .errors import BadInput
from .objectives import OBJECTIVES, Objective
from .stopping import StopRule

RULES = "parameter_constraints"  # the key of expressions in a task file
STOP = "stop"  # the key of the rule that stops evaluations early

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
    """Return the content of a task file with the names of the task. The node refuses what is no definition.

    Expressions may have either form of a name.
    """
    escaped = {name: to_task(name) for name in _parameters(given)}
    readings = _readings(escaped)

    def rename(text: str) -> str:
        def replace(found: re.Match[str]) -> str:
            name = found[0]
            if name in readings:
                raise BadInput(
                    f"{RULES} {text!r}: {name!r} is a parameter, and an expression of the parameters {readings[name]}: "
                    f"expected {escaped[name]} for the parameter, or spaces around the operator"
                )
            return escaped.get(name, name)

        return _tokens(escaped).sub(replace, text)

    made = _renamed(given, to_task, rename)
    if isinstance(made.get(STOP), StopRule):
        made[STOP] = made[STOP].definition()
    if _is_list(made.get(OBJECTIVES)):
        made[OBJECTIVES] = [one.definition() if isinstance(one, Objective) else one for one in made[OBJECTIVES]]
    return made


def definition_from_task(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a task file with the names of Python. Expressions keep names that would be ambiguous."""
    names = {name: from_task(name) for name in _parameters(given)}
    readings = _readings(names.values())

    def rename(text: str) -> str:
        def replace(found: re.Match[str]) -> str:
            name = names.get(found[0], found[0])
            return found[0] if name in readings else name

        return _tokens(()).sub(replace, text)

    return _renamed(given, lambda name, _: from_task(name), rename)


def _parameters(given: Mapping[str, Any]) -> list[str]:
    """Return the names of the parameters of a definition, as far as it is one."""
    entries = given.get("parameters")
    if not isinstance(entries, Sequence):
        return []
    return [one["name"] for one in entries if isinstance(one, Mapping) and isinstance(one.get("name"), str)]


def _tokens(names: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern of the texts in quotes, the names and the identifiers of an expression."""
    longest_first = sorted(names, key=len, reverse=True)
    words = "|".join([*map(re.escape, longest_first), "[A-Za-z_][A-Za-z0-9_]*"])
    return re.compile(rf"""\"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|(?<![A-Za-z0-9_])(?:{words})(?![A-Za-z0-9_])""")


def _readings(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the names that can also be read as an expression of other parameters, with these."""
    known = set(names)
    found = {}
    for name in known:
        parts = re.findall(r"[^\W\d]\w*", name)
        if parts and parts != [name] and known.issuperset(parts):
            found[name] = parts
    return found


def _renamed(given: Mapping[str, Any], rename: Any, rename_in: Callable[[str], str]) -> dict[str, Any]:
    made = dict(given)
    for section, what in (("parameters", "parameter"), ("constraints", "constraint")):
        entries = made.get(section)
        if _is_list(entries):
            made[section] = [_renamed_entry(one, rename, what) if isinstance(one, Mapping) else one for one in entries]
    rules = made.get(RULES)
    if _is_list(rules):
        made[RULES] = [rename_in(one) if isinstance(one, str) else one for one in rules]
    if isinstance(made.get("default"), Mapping):
        made["default"] = {rename(name, "parameter"): value for name, value in made["default"].items()}
    return made


def _renamed_entry(entry: Mapping[str, Any], rename: Any, what: str) -> dict[str, Any]:
    made = dict(entry)
    if isinstance(name := made.get("name"), str):
        made["name"] = rename(name, what)
    if isinstance(when := made.get("when"), Mapping):
        made["when"] = {rename(parent, what): one for parent, one in when.items()}
    return made


def _is_list(given: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(given, Sequence) and not isinstance(given, (str, bytes))


@lru_cache(maxsize=4096)
def _encoded(name: str) -> str:
    return _ESCAPED.sub(lambda found: f"{'_' if found.start() else ''}x{ord(found[0]):04X}_", name)
