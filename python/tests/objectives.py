"""Functions to optimise, at the top of a module for worker processes."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import fbo


def bowl(x: float, y: float) -> float:
    return (x - 0.3) ** 2 + (y + 0.2) ** 2


def slow_pid(x: float) -> float:
    """Take a while, and return the process in which it happens."""
    time.sleep(0.2)
    return float(os.getpid())


def sometimes_killed(x: float) -> float:
    if x > -0.1:
        os.kill(os.getpid(), signal.SIGKILL)
    return x * x


def wait_for_ever(x: float) -> float:
    """Say that it has begun, in the file of the variable STARTED, and never return."""
    Path(os.environ["STARTED"]).touch()
    while True:
        time.sleep(0.05)


ODD: list[Any] = [float("nan"), float("inf"), None, (1.0, 2.0), "0.5", True]
_odd = iter(ODD)


def odd_at_first(x: float) -> Any:
    """Return what is no finite number, each once, then numbers."""
    return next(_odd, x * x)


def limited(x: float) -> tuple[float, dict[str, Any]]:
    return -x, {"latency.ms": x, "accuracy": x + 1, "ok": x > -0.8, "memory/MB": x + 100, "cached": True}


def fails_right(x: float) -> float:
    if x > -0.1:  # the first design, in the middle, among others
        raise ValueError("too far right")
    return x * x


def half_a_second(x: float) -> float:
    """Write the time of the start to a file in the folder of the variable STARTED."""
    start = time.time()
    (Path(os.environ["STARTED"]) / f"{os.getpid()} {start}").write_text(str(start))
    time.sleep(0.5)
    return x * x


def curve(x: float, trial: fbo.Trial) -> float:
    """Report nine values that approach the outcome, and stop when asked to."""
    value = 0.0
    for step in range(1, 10):
        value = (x - 0.3) ** 2 + (1 + abs(x)) / step - (1 + abs(x)) / 9
        trial.report(step, value)
        if trial.should_stop():
            raise fbo.TrialStopped
    return value


def cut_off(trial: fbo.Trial) -> None:
    """Let no node answer to the values by step of a trial."""
    assert trial._reporter is not None
    trial._reporter._http = fbo.Client(socket="/nonexistent/fbo.sock", patience=0)


def unsent(x: float, trial: fbo.Trial) -> float:
    """Report values that wait, and stop early for negative x."""
    cut_off(trial)
    trial.report(1, x)
    if x < 0:
        raise fbo.TrialStopped
    trial.report(2, x + 1)
    return x
