"""What an optimisation has found."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from .errors import Error
from .trial import Recommendation, Row, Trial, Value, display


@dataclass(frozen=True, repr=False)
class Result:
    """The best design, and all trials that this node has on the task."""

    task: str  # its name
    task_id: str
    goal: str  # minimize or maximize
    parameters: dict[str, Value]  # of the best trial
    value: float  # of the best trial
    trials: tuple[Trial, ...]
    recommended: Recommendation | None = None  # to be preferred to the best trial, only where outcomes are noisy

    @property
    def rows(self) -> list[Row]:
        """One dictionary for each trial, for pandas.DataFrame: see Trial.row."""
        return [trial.row() for trial in self.trials]

    def contributions(self) -> dict[str, list[int]]:
        """Return the contributions of peers: for each peer ID the trials whose design its shares informed.

        A strategy that weighs all peers' shares together says only how many they were: its
        trials stand under "1 peer", "2 peers" and so on.
        """
        found: dict[str, list[int]] = {}
        for trial in self.trials:
            if trial.from_peers:
                count = int(trial.why.get("peer_count") or 0)
                peer = trial.why.get("peer") or f"{count} peer{'' if count == 1 else 's'}"
                found.setdefault(peer, []).append(trial.id)
        return found

    def best_so_far(self) -> list[float | None]:
        """Return for each trial the best feasible value until then."""
        best: float | None = None
        found = []
        for trial in self.trials:
            value = None if trial.violated else trial.value
            if value is not None and (best is None or (value < best) == (self.goal == "minimize")):
                best = value
            found.append(best)
        return found

    def plot(self, axes: Any = None) -> Any:
        """Draw values and the best so far by trial, with matplotlib, and return the axes."""
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise Error("plot() needs matplotlib: pip install 'fbo[plot]'") from error
        if axes is None:
            _, axes = pyplot.subplots()
        for label, marker, helped in (("own design", "o", False), ("peers had a part", "D", True)):
            shown = [trial for trial in self.trials if trial.value is not None and trial.from_peers == helped]
            if shown:
                axes.plot([trial.id for trial in shown], [trial.value for trial in shown], marker, label=label)
        steps = [(trial.id, best) for trial, best in zip(self.trials, self.best_so_far()) if best is not None]
        axes.step([at for at, _ in steps], [best for _, best in steps], where="post", color="0.5", label="best so far")
        axes.set(xlabel="trial", ylabel="value", title=f"{self.task}: {self.goal}")
        axes.legend()
        return axes

    def __repr__(self) -> str:
        return f"<fbo.Result of {self.task!r}: best value {self.value:.6g}, {len(self.trials)} trials>"

    def _repr_html_(self) -> str:
        """Return the summary and a table of trials for notebooks. Texts of others are escaped."""
        rows = self.rows
        names = list(dict.fromkeys(name for row in rows for name in row))
        head = "".join(f"<th>{escape(str(name))}</th>" for name in names)
        body = "".join("<tr>" + "".join(f"<td>{_cell(row.get(name))}</td>" for name in names) + "</tr>" for row in rows)
        summary = "<br>".join(escape(line) for line in str(self).split("\n"))
        return f"<p>{summary}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __str__(self) -> str:
        done = sum(trial.state == "done" for trial in self.trials)
        failed = sum(trial.state == "failed" for trial in self.trials)
        helped = sum(trial.from_peers for trial in self.trials)
        design = ", ".join(f"{name}={display(value)}" for name, value in self.parameters.items())
        lines = [f"best value {self.value:.6g} at {design}", f"{done} trials with a value, {failed} failed"]
        if self.recommended:
            lines.insert(0, str(self.recommended))
        if helped:
            lines.append(f"peers had a part in {helped} designs")
        return "\n".join(lines)


def _cell(value: object) -> str:
    if value is None:
        return ""
    return escape(f"{value:.6g}" if isinstance(value, float) else str(value))
