"""A task's parameters as distributions of Optuna, and values of one as values of the other."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from .errors import BadInput
from .names import differ, to_task
from .space import CHOICES, is_plain, kind_of
from .trial import Value

_WHOLE = 2**53  # larger whole numbers are not exact in a task


def parameters_of(space: Mapping[str, BaseDistribution]) -> list[dict[str, Any]]:
    """Return the parameters of a task that has this space.

    The same space gives the same parameters, whatever the order of names and choices.
    """
    made = [_parameter(name, one) for name, one in sorted(space.items())]
    differ(str(one["name"]) for one in made)
    return made


def same_design(a: Mapping[str, Value], b: Mapping[str, Value]) -> bool:
    """Report whether two designs have the same values."""
    return a.keys() == b.keys() and all(same(one, b[name]) for name, one in a.items())


def same(a: Value, b: Value) -> bool:
    """Tell whether a storage may have made the one value of the other."""
    if isinstance(a, float) and isinstance(b, (float, int)):
        return math.isclose(a, b, rel_tol=1e-12, abs_tol=0)
    return a == b


class Space:
    """The parameters of a task."""

    def __init__(self, parameters: Iterable[Mapping[str, Any]]) -> None:
        """Take them as the node shows them, with all defaults."""
        self._parameters = {str(one["name"]): one for one in parameters}
        self.names = frozenset(self._parameters)
        self._order: list[str] = []  # parents first
        for name in self._parameters:
            self._visit(name)

    def _visit(self, name: str) -> None:
        if name in self._order or name not in self._parameters:
            return
        for parent in self._parameters[name].get("when", ()):
            self._visit(parent)
        self._order.append(name)

    def active(self, name: str, values: Mapping[str, Value | None]) -> bool:
        """Report whether the conditions of a parameter hold in a design, of which the values of its parents are given."""
        conditions = self._parameters[name].get("when", {})
        return all(_holds(values.get(parent), condition) for parent, condition in conditions.items())

    def completed(self, values: Mapping[str, Value]) -> dict[str, Value] | None:
        """Return the design that has these values, and the centre of its other active parameters.

        None if there are no values, or one of an inactive parameter.
        """
        design: dict[str, Value] = {}
        for name in self._order:
            if self.active(name, design):
                design[name] = values[name] if name in values else self.centre(name)
        return design if values and values.keys() <= design.keys() else None

    def conditions(self) -> str:
        """Return all conditions for people."""
        when = {name: one["when"] for name, one in self._parameters.items() if "when" in one}
        return "; ".join(f"{name} with {_conditions_shown(one)}" for name, one in when.items())

    def only_with(self, name: str) -> str:
        """Return the conditions of a parameter for people."""
        return _conditions_shown(self._parameters[name].get("when", {}))

    def misfit(self, name: str, distribution: BaseDistribution) -> str | None:
        """Say how a distribution differs from the parameter of this name, or return None."""
        parameter = self._parameters[name]
        if _alike(_parameter(name, distribution), parameter):
            return None
        return f"parameter {name!r}: the study has {distribution}, the task has {_shown(parameter)}"

    def to_task(self, name: str, distribution: BaseDistribution, value: Any) -> Value | None:
        """Return a value of a study as the task's, or None if it has no such value."""
        parameter = self._parameters[name]
        if "low" not in parameter:
            return None if self.misfit(name, distribution) else to_value(name, distribution, value)
        if isinstance(distribution, FloatDistribution) and parameter["type"] == "float":
            return float(value)
        if isinstance(distribution, IntDistribution) and parameter["type"] == "int":
            return int(value)
        return None

    def centre(self, name: str) -> Value:
        """Return the value in the middle of a range on its scale, or the first choice."""
        parameter = self._parameters[name]
        if "value" in parameter:
            return parameter["value"]  # type: ignore[no-any-return]
        if "low" not in parameter:
            return False if parameter["type"] == "bool" else parameter["choices"][0]
        low, high, step = parameter["low"], parameter["high"], parameter.get("step")
        middle = math.sqrt(low * high) if parameter.get("scale") == "log" else low + (high - low) / 2
        if step is not None:
            middle = low + step * round((middle - low) / step)
        return round(middle) if parameter["type"] == "int" else float(middle)

    def from_task(self, name: str, distribution: BaseDistribution, value: Value) -> Any:
        """Return a value of the task as that of a distribution that fits."""
        if isinstance(distribution, CategoricalDistribution):
            return distribution.choices[_written(name, distribution).index(value)]
        return value


def to_value(name: str, distribution: BaseDistribution, value: Any) -> Value:
    """Return a value of the distribution as a task made of it has it."""
    if isinstance(distribution, CategoricalDistribution):
        return _written(name, distribution)[int(distribution.to_internal_repr(value))]
    return int(value) if isinstance(distribution, IntDistribution) else float(value)


def _conditions_shown(when: Mapping[str, Any]) -> str:
    """Return conditions for people."""
    return " and ".join(f"{parent}: {json.dumps(one, ensure_ascii=False)}" for parent, one in when.items())


def _holds(value: Value | None, condition: Any) -> bool:
    if value is None:
        return False
    if isinstance(condition, Mapping):
        return bool(condition.get("low", value) <= value <= condition.get("high", value))
    return value in condition if isinstance(condition, list) else bool(value == condition)


def _parameter(name: str, distribution: BaseDistribution) -> dict[str, Any]:
    to_task(name)
    if distribution.single() and isinstance(distribution, (CategoricalDistribution, FloatDistribution, IntDistribution)):
        only = distribution.choices[0] if isinstance(distribution, CategoricalDistribution) else distribution.low
        value = to_value(name, distribution, only)
        kind = "float" if isinstance(distribution, FloatDistribution) else kind_of(value)
        return {"name": name, "type": kind, "value": value}
    if isinstance(distribution, CategoricalDistribution):
        choices = _written(name, distribution)
        if len(choices) not in CHOICES:
            raise BadInput(f"parameter {name!r}: choices: expected 1 to 64, not {len(choices)}")
        if all(isinstance(one, bool) for one in choices):
            return {"name": name, "type": "bool"}
        return {"name": name, "type": "categorical", "choices": sorted(choices, key=_order)}
    if not isinstance(distribution, (FloatDistribution, IntDistribution)):
        raise BadInput(
            f"parameter {name!r}: {distribution} is not accepted; expected distributions of floats, ints and categories"
        )
    whole = isinstance(distribution, IntDistribution)
    parameter = {"name": name, "type": "int" if whole else "float", "low": distribution.low, "high": distribution.high}
    if distribution.log:
        parameter["scale"] = "log"
    elif distribution.step is not None and not (whole and distribution.step == 1):
        parameter["step"] = distribution.step
    return parameter


def _order(choice: Value) -> tuple[float, str]:
    return (0.0, choice) if isinstance(choice, str) else (float(choice), "")


def _written(name: str, distribution: CategoricalDistribution) -> list[Value]:
    """Return the choices as the task has them: truths, numbers or texts, else all as JSON."""
    choices = distribution.choices
    plain: list[Value] = [one for one in choices if isinstance(one, (bool, int, float, str))]
    if len(plain) == len(choices):
        if all(isinstance(one, bool) for one in plain) and len(set(plain)) == len(plain):
            return plain
        if all(_is_number(one) for one in plain) or all(isinstance(one, str) and is_plain(one) for one in plain):
            return plain
    try:
        return [json.dumps(one, sort_keys=True) for one in choices]
    except (TypeError, ValueError) as error:
        raise BadInput(
            f"parameter {name!r}: {error}; accepted as choices is what JSON has: "
            "None, True, False, numbers, texts, lists and dictionaries"
        ) from error


def _is_number(value: Value) -> bool:
    if isinstance(value, (bool, str)):
        return False
    return math.isfinite(value) if isinstance(value, float) else abs(value) <= _WHOLE


def _only(parameter: Mapping[str, Any]) -> Value | None:
    """Return the value of a fixed parameter, of which a node makes a list of one if it is a text."""
    choices = parameter.get("choices", ())
    found: Value | None = parameter.get("value", choices[0] if len(choices) == 1 else None)
    return found


def _alike(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    one, other = _only(a), _only(b)
    if one is not None or other is not None:
        return one is not None and other is not None and isinstance(one, bool) == isinstance(other, bool) and same(one, other)
    if "low" in a and "low" in b:
        return (
            a["type"] == b["type"]
            and a.get("scale", "linear") == b.get("scale", "linear")
            and ("step" in a) == ("step" in b)
            and all(math.isclose(a[key], b[key], rel_tol=1e-9) for key in ("low", "high", "step") if key in a)
        )
    if "low" in a or "low" in b:
        return False
    if "bool" in (a["type"], b["type"]):
        return bool(a["type"] == b["type"])
    return set(a["choices"]) == set(b["choices"])


def _shown(parameter: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in parameter.items() if key not in ("name", "type")}
    return f"{parameter['type']} {json.dumps(rest, ensure_ascii=False)}" if rest else str(parameter["type"])
