"""Rules by which the node stops evaluations early."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Union


@dataclass(frozen=True)
class Stop:
    """A decision to stop an evaluation early.

    Attributes:
        rule: `"asha"`, `"median"`, `"forecast"` or `"patience"`, or `"program"` if the program itself has decided.
        step: The last step at the decision.
        reason: Why.
        forecast: The final value that was predicted at the decision, in the units of the objective.
        deviation: The standard deviation of that prediction.
            None: there was no prediction.
    """

    rule: str
    step: int
    reason: str
    forecast: float | None = None
    deviation: float | None = None


@dataclass(frozen=True)
class Asha:
    """Asynchronous successive halving: only the best trials continue at steps grace_period times 1, η, η² and so on.

    Args:
        grace_period: The first step at which an evaluation may be stopped, from 1.
        reduction_factor: The factor η between these steps, 2 to 100. One trial in η continues at each.
        patience: Also stop an evaluation whose value has not improved by more than min_delta within this number of
            steps. Its last value is then its outcome, unless the task has constraints. None: never.
        min_delta: 0 or more, in the units of the objective; only with patience.

    Examples:
        ```python
        fbo.minimize(train, space, stop=fbo.Asha(grace_period=3))
        ```
    """

    grace_period: int = 1
    reduction_factor: int = 3
    patience: int | None = None
    min_delta: float = 0.0

    def definition(self) -> dict[str, Any]:
        """Return the rule as a task file has it."""
        made = {"type": "asha", "grace_period": self.grace_period, "reduction_factor": self.reduction_factor}
        return {**made, **_patience(self.patience, self.min_delta)}


@dataclass(frozen=True)
class Median:
    """The median rule: stop an evaluation whose best value is worse than the median of the complete ones until then.

    Args:
        grace_period: The first step at which an evaluation may be stopped, from 1.
        startup_trials: The number of trials with an outcome before the first stop, 1 to 1,000.
        patience: As of `fbo.Asha`.
        min_delta: As of `fbo.Asha`.
    """

    grace_period: int = 1
    startup_trials: int = 5
    patience: int | None = None
    min_delta: float = 0.0

    def definition(self) -> dict[str, Any]:
        """Return the rule as a task file has it."""
        made = {"type": "median", "grace_period": self.grace_period, "startup_trials": self.startup_trials}
        return {**made, **_patience(self.patience, self.min_delta)}


@dataclass(frozen=True)
class Forecast:
    """The rule by prediction: stop an evaluation whose predicted final value is clearly worse than the best outcome.

    The prediction is by a model of the complete evaluations, their designs and values by step. Clearly worse is by more than
    two standard deviations.

    Args:
        grace_period: The first step at which an evaluation may be stopped, from 1.
        startup_trials: The number of trials with an outcome before the first stop, 1 to 1,000.
        patience: As of `fbo.Asha`.
        min_delta: As of `fbo.Asha`.
    """

    grace_period: int = 1
    startup_trials: int = 5
    patience: int | None = None
    min_delta: float = 0.0

    def definition(self) -> dict[str, Any]:
        """Return the rule as a task file has it."""
        made = {"type": "forecast", "grace_period": self.grace_period, "startup_trials": self.startup_trials}
        return {**made, **_patience(self.patience, self.min_delta)}


@dataclass(frozen=True)
class Patience:
    """Stop an evaluation that no longer improves. Its last value is then its outcome, unless the task has constraints.

    Args:
        patience: The number of steps, from 1, within which the value must improve by more than min_delta.
        min_delta: 0 or more, in the units of the objective.
        grace_period: The first step at which an evaluation may be stopped, from 1.
    """

    patience: int
    min_delta: float = 0.0
    grace_period: int = 1

    def definition(self) -> dict[str, Any]:
        """Return the rule as a task file has it."""
        return {"type": "none", "grace_period": self.grace_period, **_patience(self.patience, self.min_delta)}


StopRule = Union[Asha, Median, Forecast, Patience]


def _patience(steps: int | None, min_delta: float) -> dict[str, Any]:
    return {} if steps is None else {"patience": steps, "min_delta": min_delta}
