"""Evaluate a trial of a daemon, as one of many jobs.

    python worker.py task.yaml -- python train.py --rate {rate} --steps {steps}

FBO_URL is the daemon's address, such as http://10.0.0.5:7070. FBO_TOKEN is the file that contains
its token. FBO_CLIENT is the name of this job; a job that restarts under its name receives its former
trial again. The last line that the command prints is the value. Lines such as {"step": 3, "value": 0.41}
are values by step. When the task's rule stops the trial, the command gets SIGTERM. FBO_ATTEMPT is the
number of the attempt, and FBO_STEP the last step of earlier attempts.

The exit code is 0 when the trial has a value or was stopped by the rule, 1 when its training failed, and 2 after any other
error. On SIGTERM the job stops the training, hands the trial back and exits with 143.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fbo

PATIENCE = 3600.0  # seconds that a daemon may be away when a value is there


def filled(part: str, design: dict[str, Any]) -> str:
    """Put the design's values in place of {name}."""
    for name, value in design.items():
        part = part.replace("{" + name + "}", str(value).lower() if isinstance(value, bool) else str(value))
    return part


class Stopped(Exception):
    """This job received SIGTERM."""


class Stop:
    """Records a SIGTERM of this job and forwards it to the running training."""

    def __init__(self) -> None:
        self._told = False
        self._training: subprocess.Popen[str] | None = None

    def tell(self, *_: object) -> None:
        self._told = True
        if self._training is not None:
            self._training.terminate()

    def check(self) -> None:
        if self._told:
            raise Stopped

    def run(self, command: list[str], trial: fbo.Trial) -> tuple[int, str]:
        """Run a command that may report steps, and return its exit code and its last other line."""
        environment = {**os.environ, "FBO_ATTEMPT": str(trial.attempts)}
        if trial.steps:
            environment["FBO_STEP"] = str(max(trial.steps))
        last = ""
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as training:
            self._training = training
            if self._told:  # while the training was starting
                training.terminate()
            assert training.stdout is not None
            for line in training.stdout:
                print(line, end="", flush=True)
                if step := step_of(line):
                    report(trial, step)
                    if trial.should_stop():
                        training.terminate()
                elif line.strip():
                    last = line.strip()
            self._training = None
        return training.returncode, last


def step_of(line: str) -> dict[str, Any] | None:
    """Return what a line with a value by step has."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and "step" in found else None


def report(trial: fbo.Trial, step: dict[str, Any]) -> None:
    """Report a value by step. The training continues if it is wrong, or if another job has the trial."""
    try:
        trial.report(step["step"], step.get("value"))  # type: ignore[arg-type]
    except fbo.Error as error:
        print(f"trial {trial.id}: {error}", file=sys.stderr)


def measure(stop: Stop, command: list[str], trial: fbo.Trial) -> float:
    """Run the training and return the value in its last line; ValueError states why there is none."""
    code, last = stop.run([filled(part, trial.parameters) for part in command], trial)
    if code != 0:
        stop.check()
        if trial.should_stop():
            raise fbo.TrialStopped
        raise ValueError(f"the training ended with code {code}")
    try:
        value = float(last)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        if trial.should_stop():
            raise fbo.TrialStopped
        raise ValueError(f"the last line of the training is {last[:100]!r}: expected a finite number")
    return value


def insist(say: Callable[[], object]) -> None:
    """Repeat a report until the daemon has received it, for at most PATIENCE seconds."""
    give_up = time.monotonic() + PATIENCE
    while True:
        try:
            say()
            return
        except (fbo.Unreachable, fbo.Unavailable) as error:
            if time.monotonic() > give_up:
                raise
            print(f"{error}; trying again", file=sys.stderr)
            time.sleep(5)


def evaluate(stop: Stop, task: fbo.Task, trial: fbo.Trial, command: list[str]) -> int:
    """Evaluate one trial, and return the exit code."""
    print(f"trial {trial.id}: {trial.parameters}", flush=True)
    try:
        try:
            value = measure(stop, command, trial)
            insist(lambda: task.tell(trial, value))
            return 0
        except fbo.TrialStopped:
            print(f"trial {trial.id} was stopped early", flush=True)
            insist(lambda: task.stop(trial))
            return 0
        except ValueError as error:
            reason = str(error)
            print(f"trial {trial.id} failed: {reason}", file=sys.stderr)
            insist(lambda: task.fail(trial, reason))
            return 1
    except fbo.Conflict as error:  # the lease ended, and another job has reported an outcome
        print(f"trial {trial.id}: {error}", file=sys.stderr)
        return 0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("task", help="the task file")
    parser.add_argument("--lease", type=float, default=600, help="seconds without a sign of life, after which another job gets the trial")
    parser.add_argument("command", nargs="+", help="after --, the training, with {name} for each parameter")
    o = parser.parse_args()
    if missing := [name for name in ("FBO_URL", "FBO_TOKEN", "FBO_CLIENT") if not os.environ.get(name)]:
        parser.error(f"{', '.join(missing)} not set in the environment")
    stop = Stop()
    signal.signal(signal.SIGTERM, stop.tell)
    try:
        with fbo.Node(url=os.environ["FBO_URL"], token=Path(os.environ["FBO_TOKEN"])) as node:
            task = node.task(o.task, client=os.environ["FBO_CLIENT"], lease=o.lease)
            while not (given := task.ask(wait=5)):
                stop.check()  # it waits for peers
            return evaluate(stop, task, given[0], o.command)
    except Stopped:
        return 143
    except (fbo.Error, OSError) as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
