"""Conditions on parameters of a study: those that a user states, and those that its trials show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution

from ._optuna_space import Space, to_value
from .errors import BadInput
from .space import condition
from .trial import Value

Shown = Mapping[str, "Value | None"]
"""The parameters that a trial suggested, by name; None for values that the task cannot have."""


def stated(conditions: Mapping[str, Mapping[str, Any]], space: Mapping[str, BaseDistribution]) -> dict[str, dict[str, Any]]:
    """Return conditions with values of the study as a task file has them, by parameter."""
    made: dict[str, dict[str, Any]] = {}
    for name, when in conditions.items():
        where = f"conditions of {name!r}"
        if name not in space:
            raise BadInput(f"{where}: unknown parameter; expected one of {sorted(space)}")
        if not isinstance(when, Mapping) or not when:
            raise BadInput(f"{where}: {when!r}: expected a dictionary of values by name of a parameter")
        made[name] = {}
        for parent, given in when.items():
            if parent not in space:
                raise BadInput(f"{where}: unknown parameter {parent!r}; expected one of {sorted(space)}")
            made[name][parent] = _stated(given, parent, space[parent], f"{where}: {parent}")
    return made


def _stated(given: object, parent: str, distribution: BaseDistribution, where: str) -> Any:
    def written(value: Any) -> Value:
        try:
            return to_value(parent, distribution, value)
        except (ValueError, TypeError) as error:
            raise BadInput(f"{where}: {value!r}: expected a value of {distribution}") from error

    if isinstance(distribution, CategoricalDistribution) and given in distribution.choices:
        return written(given)  # a choice may be a list or a dictionary
    return condition(given, written, where)


def explained(parameters: Sequence[Mapping[str, Any]], trials: Sequence[Shown]) -> list[dict[str, Any]]:
    """Return the parameters with conditions that explain in which trials they are.

    Conditions that all trials meet remain. A parameter that no single parent explains has none.
    """
    space = Space(parameters)
    made = []
    for one in parameters:
        name = str(one["name"])
        plain = {key: given for key, given in one.items() if key != "when"}
        if "when" in one and all((name in trial) == space.active(name, trial) for trial in trials):
            made.append(dict(one))
        elif found := _parent(name, parameters, trials):
            made.append({**plain, "when": found})
        else:
            made.append(plain)
    return made


def _parent(name: str, parameters: Sequence[Mapping[str, Any]], trials: Sequence[Shown]) -> dict[str, Any] | None:
    """Return the condition on one parent that explains which trials have the parameter.

    The parent must be in all of these, and in some of the others with other values. So a parameter has strictly
    fewer trials than its parent, and conditions have no cycles. Of several parents a categorical or bool one is
    preferred to a number, then the one with the fewest values.
    """
    having = [trial for trial in trials if name in trial]
    others = [trial for trial in trials if name not in trial]
    found = []
    for parent in parameters:
        at = str(parent["name"])
        by_range = "low" in parent
        if at == name or "value" in parent or (by_range and parent["type"] != "int"):
            continue
        with_it = {trial.get(at) for trial in having}
        without = {trial[at] for trial in others if at in trial}
        if not with_it or not without or None in with_it | without or with_it & without:
            continue
        if when := _range(with_it, without) if by_range else sorted(with_it, key=str):
            found.append(((by_range, len(with_it | without), at), {at: when}))
    return min(found, key=lambda one: one[0])[1] if found else None


def _range(inside: set[Any], outside: set[Any]) -> dict[str, Any] | None:
    if min(inside) > max(outside):
        return {"low": min(inside)}
    return {"high": max(inside)} if max(inside) < min(outside) else None
