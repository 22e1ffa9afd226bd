"""What is searched: parameters, and the task that they make."""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, SupportsFloat, SupportsIndex, Union

from .errors import BadInput


class Parameter(ABC):
    """One of Float, Int, Categorical and Bool."""

    name: str

    @abstractmethod
    def definition(self) -> dict[str, Any]:
        """Return the parameter as a task file has it."""


@dataclass(frozen=True)
class Float(Parameter):
    """A number from low to high. log searches it by its logarithm, step on a grid from low."""

    name: str
    low: SupportsFloat
    high: SupportsFloat
    log: bool = False
    step: SupportsFloat | None = None

    def definition(self) -> dict[str, Any]:
        """Return the parameter as a task file has it."""
        made: dict[str, Any] = {
            "name": self.name,
            "type": "float",
            "low": _float(self.name, "low", self.low),
            "high": _float(self.name, "high", self.high),
        }
        if self.log:
            made["scale"] = "log"
        if self.step is not None:
            made["step"] = _float(self.name, "step", self.step)
        return made


@dataclass(frozen=True)
class Int(Parameter):
    """A whole number from low to high, both included. log searches it by its logarithm."""

    name: str
    low: SupportsIndex
    high: SupportsIndex
    log: bool = False

    def definition(self) -> dict[str, Any]:
        """Return the parameter as a task file has it."""
        made: dict[str, Any] = {
            "name": self.name,
            "type": "int",
            "low": _int(self.name, "low", self.low),
            "high": _int(self.name, "high", self.high),
        }
        if self.log:
            made["scale"] = "log"
        return made


@dataclass(frozen=True)
class Categorical(Parameter):
    """One of two or more texts."""

    name: str
    choices: Sequence[str]

    def definition(self) -> dict[str, Any]:
        """Return the parameter as a task file has it."""
        wrong = isinstance(self.choices, str) or any(not isinstance(one, str) for one in self.choices)
        if wrong:
            raise BadInput(f"parameter {self.name!r}: choices {self.choices!r}: accepted is a list of texts")
        return {"name": self.name, "type": "categorical", "choices": list(self.choices)}


@dataclass(frozen=True)
class Bool(Parameter):
    """True or false."""

    name: str

    def definition(self) -> dict[str, Any]:
        """Return the parameter as a task file has it."""
        return {"name": self.name, "type": "bool"}


TaskFile = Union[str, Path, Mapping[str, Any]]
Space = Union[Sequence[Parameter], TaskFile]


def is_task(space: Space) -> bool:
    """Tell whether this is a whole task, which has a name and a goal already."""
    return isinstance(space, (str, Path, Mapping))


def definition(space: Space, goal: str, name: str) -> TaskFile:
    """Make a task of parameters; a whole task stays what it is."""
    if isinstance(space, (str, Path, Mapping)):
        return space
    parameters: list[Parameter] = []
    for place, one in enumerate(space if isinstance(space, Sequence) else [space]):
        if not isinstance(one, Parameter):
            raise BadInput(
                f"space[{place}] is {one!r}: accepted are fbo.Float, fbo.Int, fbo.Categorical and fbo.Bool; "
                "or, as the whole space, a task: its dictionary, its text or the path of its file"
            )
        parameters.append(one)
    return {"name": name, "goal": goal, "parameters": [one.definition() for one in parameters]}


def _float(name: str, what: str, given: object) -> float:
    try:
        number = float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(given, (str, bytes, bool)) or not math.isfinite(number):
        raise BadInput(f"parameter {name!r}: {what} is {given!r}: accepted is a finite number")
    return number


def _int(name: str, what: str, given: object) -> int:
    try:
        if isinstance(given, bool):
            raise TypeError
        return operator.index(given)  # type: ignore[arg-type]
    except TypeError:
        raise BadInput(f"parameter {name!r}: {what} is {given!r}: accepted is a whole number") from None
