"""Rules by which the node stops evaluations early."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar


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
class StopRule:
    """The base class of `fbo.Asha`, `fbo.Median`, `fbo.Forecast` and `fbo.Patience`.

    Attributes:
        grace_period: The first step at which an evaluation may be stopped, from 1.
        patience: Also stop an evaluation whose value has not improved by more than min_delta within this number of
            steps. Its last value is then its outcome, unless the task has constraints. None: never.
        min_delta: 0 or more, in the units of the objective; only with patience.
    """

    grace_period: int = 1
    patience: int | None = field(default=None, kw_only=True)
    min_delta: float = field(default=0.0, kw_only=True)

    _type: ClassVar[str] = "none"

    def definition(self) -> dict[str, Any]:
        """Return the rule as a task file has it."""
        made = {"type": self._type, **asdict(self)}
        if self.patience is None:
            del made["patience"], made["min_delta"]
        return made


@dataclass(frozen=True)
class Asha(StopRule):
    """Asynchronous successive halving: only the best trials continue at steps grace_period times 1, η, η² and so on.

    Args:
        grace_period: As of `fbo.StopRule`.
        reduction_factor: The factor η between these steps, 2 to 100. One trial in η continues at each.
        patience: As of `fbo.StopRule`.
        min_delta: As of `fbo.StopRule`.

    Examples:
        ```python
        fbo.minimize(train, space, stop=fbo.Asha(grace_period=3))
        ```
    """

    reduction_factor: int = 3

    _type = "asha"


@dataclass(frozen=True)
class Median(StopRule):
    """The median rule: stop an evaluation whose best value is worse than the median of the complete ones until then.

    Args:
        grace_period: As of `fbo.StopRule`.
        startup_trials: The number of trials with an outcome before the first stop, 1 to 1,000.
        patience: As of `fbo.StopRule`.
        min_delta: As of `fbo.StopRule`.
    """

    startup_trials: int = 5

    _type = "median"


@dataclass(frozen=True)
class Forecast(StopRule):
    """The rule by prediction: stop an evaluation whose predicted final value is clearly worse than the best outcome.

    The prediction is by a model of the complete evaluations, their designs and values by step. Clearly worse is by more than
    two standard deviations.

    Args:
        grace_period: As of `fbo.StopRule`.
        startup_trials: As of `fbo.Median`.
        patience: As of `fbo.StopRule`.
        min_delta: As of `fbo.StopRule`.
    """

    startup_trials: int = 5

    _type = "forecast"


@dataclass(frozen=True)
class Patience(StopRule):
    """Stop an evaluation that no longer improves. Its last value is then its outcome, unless the task has constraints.

    Args:
        patience: The number of steps, from 1, within which the value must improve by more than min_delta.
        grace_period: As of `fbo.StopRule`.
        min_delta: As of `fbo.StopRule`.
    """

    grace_period: int = field(default=1, kw_only=True)
    patience: int
