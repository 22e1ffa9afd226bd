"""What is searched: parameters, and the task that they make."""

from __future__ import annotations

import contextlib
import json
import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, SupportsFloat, SupportsIndex, Union

from .errors import BadInput
from .evaluate import number
from .names import RULES, STOP, differ, to_task
from .objectives import OBJECTIVES, Objective
from .stopping import StopRule
from .trial import Value

_WHOLE = 2**53  # larger whole numbers are not exact in a task
_LARGEST = 1e300
CHOICES = range(1, 65)
_LONGEST = 256  # characters of a choice

Choice = Union[str, float, bool, None]
When = Mapping[str, Any]


@dataclass(frozen=True)
class Parameter(ABC):
    """The base class of `fbo.Float`, `fbo.Int`, `fbo.Categorical`, `fbo.Bool` and `fbo.Fixed`.

    Attributes:
        name: The name of the parameter, which is a keyword of the objective: printable text. A name that no task file
            accepts is escaped in the task: `a.b` becomes `a_x002E_b`.
        when: Conditions on other parameters by name: a value, a list of values, a tuple `(low, high)` with None for no
            limit, or a range of whole numbers. The parameter is active if all hold. Other designs do not have it, and the
            objective does not get it. None: always active.
    """

    name: str
    when: When | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        to_task(self.name)
        self.definition()
        if self.when is not None and not (isinstance(self.when, Mapping) and self.when):
            raise BadInput(f"parameter {self.name!r}: when is {self.when!r}: expected a dictionary of values by name of a parameter")

    @abstractmethod
    def definition(self) -> dict[str, Any]:
        """Return the parameter as a task file has it."""

    def value(self, given: Value) -> Any:
        """Return a value of the task as the function gets it."""
        return given

    def written(self, given: object) -> Value:
        """Return a value of the function as the task has it."""
        plain = _plain(f"parameter {self.name!r}", given)
        return "null" if plain is None else plain


@dataclass(frozen=True)
class Float(Parameter):
    """A parameter that is a float.

    Args:
        name: As of `fbo.Parameter`.
        low: The smallest value, from -1e300.
        high: The largest value, from low to 1e300.
        log: Whether to search by the logarithm; low is then above 0.
        step: The distance of the values of a grid from low on, above 0 and up to high - low. Not with log. None:
            all floats from low to high.
        when: As of `fbo.Parameter`.

    Raises:
        BadInput: An argument is wrong.

    Examples:
        ```python
        fbo.Float("rate", 1e-4, 1, log=True)
        ```
    """

    low: SupportsFloat
    high: SupportsFloat
    log: bool = False
    step: SupportsFloat | None = None

    def definition(self) -> dict[str, Any]:
        """Return the parameter as a task file has it."""
        low, high = _float(self.name, "low", self.low), _float(self.name, "high", self.high)
        _check_range(self.name, low, high, self.log)
        if max(-low, high) > _LARGEST:
            raise BadInput(f"parameter {self.name!r}: expected bounds from -1e300 to 1e300, not {low:g} and {high:g}")
        made: dict[str, Any] = {"name": self.name, "type": "float", "low": low, "high": high}
        if self.log:
            made["scale"] = "log"
        if self.step is not None:
            step = made["step"] = _float(self.name, "step", self.step)
            if self.log:
                raise BadInput(f"parameter {self.name!r}: expected either log or step")
            if not 0 < step <= high - low:
                raise BadInput(f"parameter {self.name!r}: step is {step:g}: expected a number above 0, up to high - low")
        return made


@dataclass(frozen=True)
class Int(Parameter):
    """A parameter that is a whole number.

    Args:
        name: As of `fbo.Parameter`.
        low: The smallest value, from -2^53.
        high: The largest value, which is included, from low to 2^53.
        log: Whether to search by the logarithm; low is then above 0.
        when: As of `fbo.Parameter`.

    Raises:
        BadInput: An argument is wrong.

    Examples:
        ```python
        fbo.Int("depth", 1, 8)
        ```
    """

    low: SupportsIndex
    high: SupportsIndex
    log: bool = False

    def definition(self) -> dict[str, Any]:
        """Return the parameter as a task file has it."""
        low, high = _int(self.name, "low", self.low), _int(self.name, "high", self.high)
        _check_range(self.name, low, high, self.log)
        if max(-low, high) > _WHOLE:
            raise BadInput(f"parameter {self.name!r}: expected bounds from -2^53 to 2^53, not {low} and {high}")
        made: dict[str, Any] = {"name": self.name, "type": "int", "low": low, "high": high}
        if self.log:
            made["scale"] = "log"
        return made


@dataclass(frozen=True)
class Categorical(Parameter):
    """A parameter that is one of several choices without an order.

    The task contains texts or numbers as they are. Other choices, or those of several kinds, are their JSON in
    the task, such as `null`.

    Args:
        name: As of `fbo.Parameter`.
        choices: 1 to 64 different texts, finite numbers, True, False and None. A text has 1 to 256 printable
            characters without spaces around them. The objective gets the choices unchanged.
        when: As of `fbo.Parameter`.

    Raises:
        BadInput: An argument is wrong.

    Examples:
        ```python
        fbo.Categorical("kernel", ["rbf", "poly", None])
        ```
    """

    choices: Sequence[Choice]

    def definition(self) -> dict[str, Any]:
        """Return the parameter as a task file has it."""
        return {"name": self.name, "type": "categorical", "choices": self._written()}

    def value(self, given: Value) -> Any:
        """Return the choice that the task has written in this way."""
        return self.choices[self._written().index(given)]

    def written(self, given: object) -> Value:
        """Return a choice as the task has it."""
        for choice, written in zip(self.choices, self._written()):
            if choice is given or (type(choice) is type(given) and choice == given):
                return written
        for choice, written in zip(self.choices, self._written()):
            if choice == given and not isinstance(given, bool):  # 2 for 2.0, and numbers of other libraries
                return written
        return super().written(given)

    def _written(self) -> list[Value]:
        where = f"parameter {self.name!r}: choices"
        if isinstance(self.choices, (str, bytes)) or not isinstance(self.choices, Sequence):
            raise BadInput(f"{where} {self.choices!r}: expected a list of texts, numbers, True, False or None")
        if len(self.choices) not in CHOICES:
            raise BadInput(f"{where}: expected 1 to 64, not {len(self.choices)}")
        plain = [_plain(where, one) for one in self.choices]
        if all(isinstance(one, str) for one in plain):
            for one in plain:
                if not is_plain(str(one)):
                    raise BadInput(f"{where}: {one!r}: expected 1 to 256 printable characters, without spaces around them")
            written: list[Value] = [str(one) for one in plain]
        elif not any(one is None or isinstance(one, (bool, str)) for one in plain):
            written = [one for one in plain if one is not None]
        else:
            written = [json.dumps(one) for one in plain]
        for place, choice in enumerate(written):
            if choice in written[:place]:
                raise BadInput(f"{where}: {self.choices[place]!r} is repeated")
        return written


@dataclass(frozen=True)
class Bool(Parameter):
    """A parameter that is True or False.

    Args:
        name: As of `fbo.Parameter`.
        when: As of `fbo.Parameter`.

    Raises:
        BadInput: The name is wrong.

    Examples:
        ```python
        fbo.Bool("bias")
        ```
    """

    def definition(self) -> dict[str, Any]:
        """Return the parameter as a task file has it."""
        return {"name": self.name, "type": "bool"}


@dataclass(frozen=True)
class Fixed(Parameter):
    """A parameter with one value, which trials store and later tasks may vary.

    Args:
        name: As of `fbo.Parameter`.
        only: A text, a finite number, True or False. The objective gets it unchanged.
        when: As of `fbo.Parameter`.

    Raises:
        BadInput: An argument is wrong.

    Examples:
        ```python
        fbo.Fixed("epochs", 20)
        ```
    """

    only: Choice

    def definition(self) -> dict[str, Any]:
        """Return the parameter as a task file has it."""
        value = _plain(f"parameter {self.name!r}: value", self.only)
        if value is None or (isinstance(value, str) and not is_plain(value)):
            raise BadInput(
                f"parameter {self.name!r}: value {value!r}: expected a finite number, True, False, "
                "or a text of 1 to 256 printable characters without spaces around them"
            )
        return {"name": self.name, "type": kind_of(value), "value": value}

    def value(self, given: Value) -> Any:
        """Return the value as it was given."""
        return self.only


TaskFile = Union[str, Path, Mapping[str, Any]]
Space = Union[Sequence[Parameter], Mapping[str, Any], str, Path]

_ACCEPTED = (
    "expected (low, high) for a float, range(low, high + 1) for an int, a list of choices, bool, "
    "or one of fbo.Float, fbo.Int, fbo.Categorical, fbo.Bool and fbo.Fixed with this name"
)


def is_task(space: Space) -> bool:
    """Report whether this is a whole task, which has a name and a goal already."""
    if isinstance(space, Mapping):
        given = space.get("parameters")
        return isinstance(given, Sequence) and all(isinstance(one, Mapping) for one in given)
    return isinstance(space, (str, Path))


def parameters_of(space: Space) -> list[Parameter]:
    """Return the parameters of a space that is no whole task."""
    if isinstance(space, Mapping):
        parameters = [_bounded(name, one) for name, one in space.items()]
    else:
        parameters = []
        for place, parameter in enumerate(space if isinstance(space, Sequence) else [space]):
            if not isinstance(parameter, Parameter):
                raise BadInput(
                    f"space[{place}] is {parameter!r}: expected fbo.Float, fbo.Int, fbo.Categorical, fbo.Bool or fbo.Fixed; "
                    "or, as the whole space, a dictionary of bounds, or a task: its dictionary, its text or the path of its file"
                )
            parameters.append(parameter)
    if not parameters:
        raise BadInput("space: expected at least one parameter")
    differ(one.name for one in parameters)
    return parameters


def definition(
    space: Space, goal: str, name: str, rules: Sequence[str] = (), stop: StopRule | None = None, objectives: Sequence[Objective] = ()
) -> TaskFile:
    """Make a task of parameters, constraints among them, a rule and objectives; a whole task stays what it is."""
    if is_task(space):
        assert isinstance(space, (str, Path, Mapping))
        return space
    parameters = parameters_of(space)
    known = {one.name: one for one in parameters}
    goals: dict[str, Any] = {OBJECTIVES: [one.definition() for one in objectives]} if objectives else {"goal": goal}
    made: dict[str, Any] = {"name": name, **goals, "parameters": [_with_conditions(one, known) for one in parameters]}
    if rules:
        made[RULES] = list(rules)
    if stop is not None:
        made[STOP] = stop.definition()
    return made


def _with_conditions(parameter: Parameter, known: Mapping[str, Parameter]) -> dict[str, Any]:
    made = parameter.definition()
    if parameter.when is not None:
        made["when"] = {}
        for parent, given in parameter.when.items():
            if parent not in known:
                raise BadInput(f"parameter {parameter.name!r}: when: unknown parameter {parent!r}; expected one of {sorted(known)}")
            made["when"][parent] = condition(given, known[parent].written, f"parameter {parameter.name!r}: when: {parent}")
    return made


def condition(given: object, written: Callable[[Any], Value], where: str) -> Any:
    """Return the condition on a parent as a task file has it; written converts a value of the parent."""
    if isinstance(given, range):
        if given.step != 1 or not given:
            raise BadInput(f"{where}: {given!r}: expected a range with at least one number, in steps of 1")
        return {"low": given.start, "high": given.stop - 1}
    if isinstance(given, tuple) and len(given) == 2:
        given = {key: bound for key, bound in zip(("low", "high"), given) if bound is not None}
    if isinstance(given, Mapping):
        if not given or not given.keys() <= {"low", "high"}:
            raise BadInput(f"{where}: {given!r}: expected a limit: low, high or both")
        return {key: number(f"{where}: {key} is", bound) for key, bound in given.items()}
    return [written(one) for one in given] if isinstance(given, list) else written(given)


def kind_of(value: Value) -> str:
    """Return the type of a fixed parameter with this value."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "categorical"
    return "int" if isinstance(value, int) else "float"


def converter(space: Space) -> Callable[[Mapping[str, Value]], dict[str, Any]]:
    """Return what makes values as the function gets them of a design of the task."""
    known = {} if is_task(space) else {one.name: one for one in parameters_of(space)}
    return lambda design: {name: known[name].value(value) if name in known else value for name, value in design.items()}


def is_plain(text: str) -> bool:
    """Report whether a task can have this text as a choice."""
    return 0 < len(text) <= _LONGEST and text.isprintable() and text.strip() == text


def _bounded(name: object, given: object) -> Parameter:
    """Make a parameter of an entry of a dictionary of bounds."""
    if not isinstance(name, str):
        raise BadInput(f"space: {name!r}: expected names of parameters, which are texts")
    if isinstance(given, Parameter) and given.name == name:
        return given
    if given is bool:
        return Bool(name)
    if isinstance(given, range) and given.step == 1:
        return Int(name, given.start, given.stop - 1)
    if isinstance(given, tuple) and len(given) == 2:
        return Float(name, *given)
    if isinstance(given, list):
        if len(given) == 2 and not any(one is None or isinstance(one, (str, bool)) for one in given):
            raise BadInput(f"space[{name!r}] is {given!r}: expected a tuple for bounds, or fbo.Categorical for two choices")
        return Categorical(name, given)
    raise BadInput(f"space[{name!r}] is {given!r}: {_ACCEPTED}; or a task, which has a list of parameters")


def _plain(where: str, choice: object) -> Choice:
    """Return a choice as JSON has it."""
    if choice is None or isinstance(choice, (str, bool)):
        return choice
    if type(choice).__name__ in ("bool_", "bool"):  # of NumPy
        return bool(choice)
    found: float = math.nan
    try:
        found = operator.index(choice)  # type: ignore[arg-type]
    except TypeError:
        if isinstance(choice, SupportsFloat):
            with contextlib.suppress(TypeError, ValueError):
                found = float(choice)
    if math.isfinite(found) and not (isinstance(found, int) and abs(found) > _WHOLE):
        return found
    raise BadInput(f"{where}: {choice!r}: expected texts, finite numbers, True, False or None")


def _check_range(name: str, low: float, high: float, log: bool) -> None:
    if not low <= high:
        raise BadInput(f"parameter {name!r}: expected low up to high, not {low} and {high}")
    if log and low <= 0:
        raise BadInput(f"parameter {name!r}: low is {low}: expected a number above 0 with log")


def _float(name: str, what: str, given: object) -> float:
    try:
        number = float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(given, (str, bytes, bool)) or not math.isfinite(number):
        raise BadInput(f"parameter {name!r}: {what} is {given!r}: expected a finite number")
    return number


def _int(name: str, what: str, given: object) -> int:
    try:
        if isinstance(given, bool):
            raise TypeError
        return operator.index(given)  # type: ignore[arg-type]
    except TypeError:
        raise BadInput(f"parameter {name!r}: {what} is {given!r}: expected a whole number") from None
