"""What an optimisation has found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from .errors import Error
from .objectives import Objective
from .trial import SHOWN, Recommendation, Row, Trial, Value, display, display_design, rows_of

_ROWS = 60  # of a table in a notebook
_LINES = 10  # of a Pareto front in a text
_OWN = ("trial", "state", "value", "why", "violated", "reason", "stop")  # columns beside parameters


@dataclass(frozen=True, repr=False)
class Result:
    """The best design, and all trials that this node has on the task.

    `print(result)` prints the best value and the numbers of trials. A notebook shows a table of the trials.

    Attributes:
        task: The name of the task.
        task_id: The ID of the task.
        goal: `"minimize"` or `"maximize"`, of several objectives the goal of the first.
        parameters: The parameters of the best trial, by name. Of several objectives it is the best of the first.
        value: The value of the best trial. The best trial satisfies all constraints.
        trials: All trials of this node on the task, in the order of their IDs.
        recommended: The design to prefer to the best trial. None unless outcomes are noisy.
        objectives: The `fbo.Objective` of a task with several, in order; empty for one.
    """

    task: str
    task_id: str
    goal: str
    parameters: dict[str, Value]
    value: float
    trials: tuple[Trial, ...]
    recommended: Recommendation | None = None
    objectives: tuple[Objective, ...] = ()

    @property
    def front(self) -> list[Trial]:
        """The Pareto front of several objectives, the best in the first objective first; empty for one objective.

        It has the trials that satisfy all constraints and that no other one dominates: none is at least as good in each
        objective and better in one. Of trials with equal values it has the first. The value of a trial is that of the first
        objective, and its metrics have the others.
        """
        return front_of(self.objectives, self.trials)

    @property
    def rows(self) -> list[Row]:
        """One dictionary for each trial, for `pandas.DataFrame(result.rows)`: see `Trial.row`.

        Parameters that are not active in a trial are None.
        """
        return rows_of(self.trials, dict.fromkeys(name for trial in self.trials for name in trial.parameters))

    @property
    def stopped(self) -> tuple[Trial, ...]:
        """The trials that were stopped early, with their values by step in `Trial.steps`."""
        return tuple(trial for trial in self.trials if trial.state == "stopped")

    def contributions(self) -> dict[str, list[int]]:
        """Return the contributions of peers.

        Returns:
            For each peer ID the IDs of the trials whose designs its shares informed. A strategy that uses the
            shares of all peers together reports only their number: its trials are listed under `"1 peer"`,
            `"2 peers"` and so on.
        """
        found: dict[str, list[int]] = {}
        for trial in self.trials:
            if trial.from_peers:
                count = int(trial.why.get("peer_count") or 0)
                peer = trial.why.get("peer") or f"{count} peer{'' if count == 1 else 's'}"
                found.setdefault(peer, []).append(trial.id)
        return found

    def best_so_far(self) -> list[float | None]:
        """Return for each trial the best feasible value until then, or None before the first."""
        best: float | None = None
        found = []
        for trial in self.trials:
            value = None if trial.violated else trial.value
            if value is not None and (best is None or (value < best) == (self.goal == "minimize")):
                best = value
            found.append(best)
        return found

    def plot(self, axes: Any = None) -> Any:
        """Draw the values and the best so far by trial, or the first two of several objectives, with matplotlib.

        Args:
            axes: The axes to draw on. None: those of a new figure.

        Returns:
            The axes.

        Raises:
            Error: matplotlib is not installed.
        """
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise Error("plot() needs matplotlib: pip install 'fbo[plot]'") from error
        if axes is None:
            _, axes = pyplot.subplots()
        if self.objectives:
            return self._plot_front(axes)
        for label, marker, helped in (("own design", "o", False), ("peers had a part", "D", True)):
            shown = [trial for trial in self.trials if trial.value is not None and trial.from_peers == helped]
            if shown:
                axes.plot([trial.id for trial in shown], [trial.value for trial in shown], marker, label=label)
        steps = [(trial.id, best) for trial, best in zip(self.trials, self.best_so_far()) if best is not None]
        axes.step([at for at, _ in steps], [best for _, best in steps], where="post", color="0.5", label="best so far")
        axes.set(xlabel="trial", ylabel="value", title=f"{self.task}: {self.goal}")
        axes.legend()
        return axes

    def _plot_front(self, axes: Any) -> Any:
        names = [one.name for one in self.objectives[:2]]
        front = self.front
        rest = [trial for trial in self.trials if trial.value is not None and trial not in front]
        for label, marker, alpha, shown in (("others", "o", 0.35, rest), ("Pareto front", "D", 1.0, front)):
            if points := [scores for trial in shown if (scores := _scores(self.objectives, trial)) is not None]:
                axes.plot([one[0] for one in points], [one[1] for one in points], marker, alpha=alpha, label=label)
        axes.set(xlabel=names[0], ylabel=names[1], title=self.task)
        axes.legend()
        return axes

    def __repr__(self) -> str:
        if self.objectives:
            return f"<fbo.Result of {self.task!r}: {len(self.front)} designs on the Pareto front; {self._counts()}>"
        design = display_design(self.parameters, SHOWN)
        return f"<fbo.Result of {self.task!r}: best value {self.value:.6g} at {design}; {self._counts()}>"

    def __str__(self) -> str:
        helped = sum(trial.from_peers for trial in self.trials)
        lines = [f"best value {self.value:.6g} at {display_design(self.parameters)}", self._counts()]
        if self.objectives:
            lines[:1] = self._front_lines()
        if self.recommended:
            lines.insert(0, str(self.recommended))
        if helped:
            lines.append(f"peers had a part in {helped} designs")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the text and a table of the trials, for notebooks."""
        rows = [_cells(trial) for trial in self.trials]
        names = list(dict.fromkeys(name for row in rows for name in row))
        half = _ROWS // 2
        if len(rows) > _ROWS:
            lines = [_line(row, names) for row in rows[:half]]
            lines.append(f"<tr><td colspan={len(names)}>… {len(rows) - 2 * half} more trials, see rows</td></tr>")
            lines += [_line(row, names) for row in rows[-half:]]
        else:
            lines = [_line(row, names) for row in rows]
        head = "".join(f"<th>{escape(name)}</th>" for name in names)
        text = escape(str(self)).replace("\n", "<br>")
        return f"<p>{text}</p><table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"

    def _front_lines(self) -> list[str]:
        front = self.front
        lines = [f"Pareto front: {len(front)} design{'' if len(front) == 1 else 's'}"]
        for trial in front[:_LINES]:
            scores = ", ".join(f"{one.name} {score:.6g}" for one, score in zip(self.objectives, _scores(self.objectives, trial) or ()))
            lines.append(f"trial {trial.id}: {scores} at {display_design(trial.parameters)}")
        if left := len(front) - _LINES:
            lines += [f"… {left} more, see front"] if left > 0 else []
        return lines

    def _counts(self) -> str:
        done = sum(trial.state == "done" for trial in self.trials)
        failed = sum(trial.state == "failed" for trial in self.trials)
        text = f"{done} trials with a value, {failed} failed"
        return f"{text}, {len(self.stopped)} stopped early" if self.stopped else text


def front_of(objectives: Sequence[Objective], trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials that satisfy all constraints and that no other one dominates, in the order of the first objective."""
    signs = [1 if one.goal == "minimize" else -1 for one in objectives]
    found: list[tuple[list[float], Trial]] = []
    for trial in trials:
        scores = _scores(objectives, trial)
        if objectives and scores is not None and not trial.violated:
            found.append(([sign * score for sign, score in zip(signs, scores)], trial))
    front: list[tuple[list[float], Trial]] = []
    for scores, trial in sorted(found, key=lambda one: (one[0], one[1].id)):  # a later one dominates no earlier one
        if not any(all(a <= b for a, b in zip(other, scores)) for other, _ in front):
            front.append((scores, trial))
    return [trial for _, trial in front]


def _scores(objectives: Sequence[Objective], trial: Trial) -> list[float] | None:
    """Return the values of all objectives, or None if one is not measured."""
    if trial.value is None or any(one.name not in trial.metrics for one in objectives[1:]):
        return None
    return [trial.value, *(trial.metrics[one.name] for one in objectives[1:])]


def _cells(trial: Trial) -> dict[str, object]:
    """Return the columns of a trial for a notebook."""
    cells: dict[str, object] = {"trial": trial.id, "state": trial.state, "value": trial.value}
    for group, values in (("", trial.parameters), ("constraint ", trial.constraints), ("metric ", trial.metrics)):
        cells.update({f"{group}{name}" if group or name not in _OWN else f"parameter {name}": one for name, one in values.items()})
    cells["why"] = trial.chosen
    if trial.violated:
        cells["violated"] = ", ".join(trial.violated)
    if trial.reason:
        cells["reason"] = trial.reason
    if trial.stop:
        cells["stop"] = f"at step {trial.stop.step}: {trial.stop.reason}"
    return cells


def _line(row: dict[str, object], names: list[str]) -> str:
    cells = (row.get(name) for name in names)
    shown = ("" if one is None else one if isinstance(one, str) else display(one) for one in cells)
    return f"<tr>{''.join(f'<td>{escape(one)}</td>' for one in shown)}</tr>"
