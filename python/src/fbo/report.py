"""Values by step of one trial, on their way to the node."""

from __future__ import annotations

import logging
import operator
import time
from collections.abc import Mapping
from typing import Any, SupportsFloat, SupportsIndex

from .errors import BadInput, Conflict, NotFound, Refused, Unavailable, Unreachable
from .evaluate import cost_of, number
from .http import Client, quote
from .stopping import Stop

_log = logging.getLogger("fbo")

MOST = 1000  # values of one trial
_PAUSE = 30.0  # seconds without a request after one that no node answered, which took some itself


def stop_from_json(given: Mapping[str, Any] | None) -> Stop | None:
    """Read a decision of a node."""
    return None if given is None else Stop(given["rule"], given["step"], given.get("reason", ""), given.get("forecast"), given.get("deviation"))


class Reporter:
    """Sends values by step of one trial that a client holds, and keeps the decision of the node. It can be pickled."""

    def __init__(self, http: Client, trials_path: str, client: str, trial: int, stop: Stop | None) -> None:
        self._http = http
        self._path = f"{trials_path}/{quote(trial)}/steps"
        self._client = client
        self._trial = trial
        self._unsent: dict[int, float] = {}
        self._costs: dict[int, float] = {}  # of steps that are not sent
        self._warned: set[str] = set()
        self._again = 0.0  # when to send the next request
        self.stop = stop

    def report(self, step: SupportsIndex, value: SupportsFloat, cost: SupportsFloat | None = None) -> Stop | None:
        """Send a value. One that is no finite number, or that the node refuses, is left out with a warning, and so is a cost.

        While no node answers, values wait for a later report: the evaluation can continue without them.
        """
        try:
            whole = operator.index(step)
        except TypeError:
            whole = 0
        if whole < 1:
            raise BadInput(f"step {step!r}: expected a whole number from 1 on; the arguments are the step and the value")
        try:
            self._unsent.setdefault(whole, number(f"value at step {whole} is", value))
        except BadInput as error:
            self._warn_once("value", f"{error}; it is left out")
            return self.stop
        if cost is not None:
            try:
                self._costs[whole] = cost_of(f"cost at step {whole} is", cost)
            except BadInput as error:
                self._warn_once("cost", f"{error}; it is left out")
        if time.monotonic() < self._again:
            return self.stop
        try:
            self.send({})
        except (Unavailable, Unreachable) as error:
            self._again = time.monotonic() + _PAUSE
            self._warn_once("unsent", f"{error}; its values by step are sent later")
        return self.stop

    def send(self, steps: Mapping[int, float]) -> None:
        """Send finite values, and those that wait. What the node refuses is left out with a warning."""
        given = {**steps, **self._unsent}
        try:
            self._send(sorted(given.items()))
        except Refused as error:
            self._warn_once("refused", f"{error}; it is left out")
        for step in given:
            self._unsent.pop(step, None)  # another thread may have added some
            self._costs.pop(step, None)

    def waiting(self) -> dict[int, float]:
        """Return the values that still wait for their transfer."""
        return dict(self._unsent)

    def add(self, waiting: Mapping[int, float]) -> None:
        """Add values that wait in a copy of this reporter."""
        for step, value in waiting.items():
            self._unsent.setdefault(step, value)

    def finish(self) -> None:
        """Send the values that wait, at the end of the evaluation. Its outcome does not depend on them."""
        if not self._unsent:
            return
        try:
            self.send({})
        except (Conflict, NotFound) as error:
            self._warn_once("lost", f"{error}; its last values by step are left out")

    def _send(self, given: list[tuple[int, float]]) -> None:
        for first in range(0, len(given), MOST):
            part: list[dict[str, float]] = [{"step": step, "value": value} for step, value in given[first : first + MOST]]
            for one in part:
                if (cost := self._costs.get(int(one["step"]))) is not None:
                    one["cost"] = cost
            # A report can be repeated without a key.
            answer = self._http.post(self._path, {"client": self._client, "steps": part}, repeatable=True)
            self.stop = stop_from_json(answer["stop"])

    def _warn_once(self, kind: str, message: str) -> None:
        if kind not in self._warned:
            self._warned.add(kind)
            _log.warning("trial %d: %s", self._trial, message)
