"""Objectives of a task with several."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, SupportsFloat

from .errors import BadInput
from .evaluate import number

OBJECTIVES = "objectives"  # the key of a task file

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_GOALS = ("minimize", "maximize")


@dataclass(frozen=True)
class Objective:
    """One objective of a task with several.

    Args:
        name: A name of letters, digits and _ that begins with a letter, at most 64 characters.
        goal: `"minimize"` or `"maximize"`.
        reference: The worst value of interest, a finite number. Outcomes that are no better add nothing to the hypervolume.
            None: the node learns it from its outcomes.

    Raises:
        BadInput: An argument is wrong.

    Examples:
        ```python
        objectives = [fbo.Objective("error"), fbo.Objective("latency", reference=50)]
        ```
    """

    name: str
    goal: str = "minimize"
    reference: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise BadInput(f"objective {self.name!r}: expected a name of up to 64 letters, digits and _ that begins with a letter")
        if self.goal not in _GOALS:
            raise BadInput(f"objective {self.name!r}: goal {self.goal!r}: expected 'minimize' or 'maximize'")
        if self.reference is not None:
            object.__setattr__(self, "reference", number(f"objective {self.name!r}: reference is", self.reference))

    def definition(self) -> dict[str, Any]:
        """Return the objective as a task file has it."""
        made: dict[str, Any] = {"name": self.name, "goal": self.goal}
        if self.reference is not None:
            made["reference"] = self.reference
        return made

    def better(self, a: float, b: float) -> bool:
        """Report whether the value a is better than b."""
        return a < b if self.goal == "minimize" else a > b


def from_definition(definition: Mapping[str, Any]) -> tuple[Objective, ...]:
    """Return the objectives of a task with several, none of a task with one."""
    return tuple(Objective(one["name"], one["goal"], one.get("reference")) for one in definition.get(OBJECTIVES) or ())


def check(objectives: object) -> None:
    """Check a list of objectives; none is a task with one objective."""
    if isinstance(objectives, (str, bytes)) or not isinstance(objectives, Sequence) or not all(isinstance(one, Objective) for one in objectives):
        raise BadInput(f"objectives is {objectives!r}: expected a list of fbo.Objective(…)")
    if objectives and not 2 <= len(objectives) <= 4:
        raise BadInput(f"objectives: {len(objectives)} given: expected 2 to 4, or none for one objective")
    if len({one.name for one in objectives}) < len(objectives):
        raise BadInput(f"objectives {[one.name for one in objectives]}: expected different names")


def require(objectives: Sequence[Objective], measured: Mapping[str, object]) -> None:
    """Raise BadInput, whose text names them, if objectives are missing."""
    names = [one.name for one in objectives]
    if missing := [name for name in names if name not in measured]:
        what = "objective" if len(missing) == 1 else "objectives"
        raise BadInput(f"missing {what} {_listed(missing)}: expected a number for each of {_listed(names)}")


def scores_of(objectives: Sequence[Objective], measured: Mapping[str, object]) -> tuple[float, dict[str, float]]:
    """Return the value of the first objective, and the values of the others by name.

    One that is missing or no finite number raises BadInput, whose text names it.
    """
    require(objectives, measured)
    values = {one.name: number(f"objective {one.name!r} is", measured[one.name]) for one in objectives}
    return values.pop(objectives[0].name), values


def gathered(
    objectives: Sequence[Objective], value: SupportsFloat | Mapping[str, SupportsFloat], metrics: Mapping[str, object]
) -> dict[str, object]:
    """Return all objectives of an outcome by name: value is the first, or a dictionary of all. BadInput names missing and unknown ones."""
    if not objectives:
        return {}
    names = [one.name for one in objectives]
    measured: dict[str, object] = {name: metrics[name] for name in names[1:] if name in metrics}
    if isinstance(value, Mapping):
        if unknown := value.keys() - set(names):
            raise BadInput(f"unknown objective {_listed(sorted(unknown, key=str))}: expected {_listed(names)}, and other numbers in metrics")
        measured.update(value)
    else:
        measured[names[0]] = value
    require(objectives, measured)
    return measured


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))
