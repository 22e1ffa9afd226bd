"""The state of a search, for callbacks."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .result import Result
from .task import Task
from .trial import Trial


class Run:
    """A running call of minimize or maximize. Its callbacks receive it.

    Attributes:
        task: The task of the node.
        goal: `"minimize"` or `"maximize"`, of several objectives the goal of the first.
        trials: The trials that this call has ended, in the order of their ends. Failed and stopped trials are among them.
        best: The trial with the best value that satisfies all constraints, of this call or an earlier one. None
            before the first. Of several objectives it is the best of the first; `Run.result` has the front.
        stopped: Whether `stop` was called.

    Examples:
        ```python
        def good_enough(run, trial):
            if run.best is not None and run.best.value < 0.01:
                run.stop()

        fbo.minimize(loss, space, callbacks=[good_enough])
        ```
    """

    def __init__(self, task: Task, result: Callable[[], Result], earlier: Iterable[Trial]) -> None:
        self.task = task
        self.goal = task.goal
        self.trials: list[Trial] = []
        self.best: Trial | None = None
        self.stopped = False
        self._result = result
        for trial in earlier:
            self._compare(trial)

    def stop(self) -> None:
        """End the search. No evaluation starts any more; running ones finish, and the call returns its result."""
        self.stopped = True

    def result(self) -> Result:
        """Return the result so far.

        Raises:
            Failed: No trial has a value that satisfies all constraints yet.
        """
        return self._result()

    def __repr__(self) -> str:
        best = "no value yet" if self.best is None else f"best value {self.best.value:.6g}"
        return f"<fbo.Run of {self.task.name!r}: {len(self.trials)} trials ended, {best}>"

    def _add(self, trial: Trial) -> None:
        self.trials.append(trial)
        self._compare(trial)

    def _compare(self, trial: Trial) -> None:
        if trial.value is None or trial.violated:
            return
        best = None if self.best is None else self.best.value
        if best is None or (trial.value < best) == (self.goal == "minimize") and trial.value != best:
            self.best = trial


Callback = Callable[[Run, Trial], object]
