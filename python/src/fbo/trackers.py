"""Callbacks that log trials to experiment trackers: MLflow, Weights & Biases, TensorBoard.

    fbo.minimize(loss, space, callbacks=[fbo.trackers.MLflow("trees")])

Each ended trial becomes one run of the tracker. A program that asks for trials itself calls `log`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from .run import Run
from .trial import Trial


class Tracker(ABC):
    """A callback that logs each ended trial once, as a run of an experiment tracker.

    A run has the parameters, the value by step, and at its end the value, the constraints, the metrics and the cost. Tags
    and attributes of the trial are tags of the run, with its source and the reason of a failure.
    """

    def __call__(self, run: Run, trial: Trial) -> None:
        """Log a trial, as a callback of `fbo.minimize`."""
        self.log(trial)

    @abstractmethod
    def log(self, trial: Trial) -> None:
        """Log a trial that has ended, such as the result of `Task.tell`.

        Args:
            trial: The trial; one that has not ended is logged as it is.
        """


def _numbers(trial: Trial) -> dict[str, float]:
    """Return the measured numbers of a trial; those that are not finite are left out."""
    all: dict[str, Any] = {"value": trial.value, "cost": trial.cost}
    all |= {f"constraints.{name}": value for name, value in trial.constraints.items()}
    all |= {f"metrics.{name}": value for name, value in trial.metrics.items()}
    return {name: float(value) for name, value in all.items() if value is not None and math.isfinite(value)}


def _texts(trial: Trial) -> dict[str, str]:
    """Return the texts of a trial: how it was chosen, how it ended, and its annotations."""
    stop = trial.stop.reason if trial.stop else None
    all = {"trial": str(trial.id), "state": trial.state, "chosen": trial.chosen, "client": trial.client}
    all |= {"reason": trial.reason or stop, "violated": ", ".join(trial.violated), "tags": ", ".join(trial.tags)}
    return {f"fbo.{name}": text for name, text in all.items() if text} | dict(trial.attributes)


def _milliseconds(time: str | None) -> int | None:
    """Return a time in the format of RFC 3339 in milliseconds since 1970."""
    if time is None:
        return None
    text = time.replace("Z", "+00:00")
    whole, point, rest = text.partition(".")
    if point:  # Python 3.10 accepts three or six digits
        digits = rest.rstrip("0123456789:+-") or rest
        zone = next((i for i, c in enumerate(digits) if c in "+-"), len(digits))
        text = f"{whole}.{digits[:zone][:6]:0<6}{digits[zone:]}"
    return round(datetime.fromisoformat(text).timestamp() * 1000)


class MLflow(Tracker):
    """Log each trial as a run of an MLflow experiment. Failed trials are FAILED, those stopped early KILLED.

    It needs the package mlflow or mlflow-skinny, and changes no active run or setting of MLflow.

    Examples:
        ```python
        fbo.minimize(loss, space, callbacks=[fbo.trackers.MLflow("trees", uri="sqlite:///mlflow.db")])
        ```
    """

    def __init__(self, experiment: str, *, uri: str | None = None, tags: Mapping[str, str] | None = None) -> None:
        """Open an experiment, which is made if it does not exist.

        Args:
            experiment: The name of the experiment.
            uri: The tracking URI. None: that of MLflow's settings.
            tags: Tags of every run.
        """
        from mlflow import MlflowClient

        self._client = MlflowClient(tracking_uri=uri)
        self._tags = dict(tags or {})
        found = self._client.get_experiment_by_name(experiment)
        self._experiment = found.experiment_id if found else self._client.create_experiment(experiment)

    def log(self, trial: Trial) -> None:
        """Log a trial, as described for `Tracker.log`."""
        from mlflow.entities import Metric, Param, RunTag

        end = _milliseconds(trial.finished) or 0
        run = self._client.create_run(self._experiment, start_time=_milliseconds(trial.started), run_name=f"trial {trial.id}")
        steps = [Metric("value_by_step", value, end, step) for step, value in trial.steps.items()]
        self._client.log_batch(
            run.info.run_id,
            params=[Param(name, str(value)) for name, value in trial.parameters.items()],
            metrics=[Metric(name, value, end, 0) for name, value in _numbers(trial).items()],
            tags=[RunTag(name, text) for name, text in (self._tags | _texts(trial)).items()],
        )
        for first in range(0, len(steps), 500):  # a request of MLflow takes 1,000 metrics
            self._client.log_batch(run.info.run_id, metrics=steps[first : first + 500])
        status = {"failed": "FAILED", "stopped": "KILLED"}.get(trial.state, "FINISHED")
        self._client.set_terminated(run.info.run_id, status, end or None)


class WandB(Tracker):
    """Log each trial as a run of Weights & Biases. The runs of a search have one group.

    It needs the package wandb. `WandB("trees", mode="offline")` writes to the disk only; `wandb sync` uploads it. A run takes
    some seconds to open and close, so it suits evaluations of minutes.

    Examples:
        ```python
        fbo.minimize(loss, space, callbacks=[fbo.trackers.WandB("trees", group="forest", mode="offline")])
        ```
    """

    def __init__(self, project: str, *, group: str | None = None, **settings: Any) -> None:
        """Name the runs.

        Args:
            project: The project of the runs.
            group: The group of the runs.
            settings: Further arguments of wandb.init, such as mode, dir and entity.
        """
        import wandb

        self._wandb = wandb
        self._settings = {"project": project, "group": group, **settings}

    def log(self, trial: Trial) -> None:
        """Log a trial, as described for `Tracker.log`."""
        config = {**trial.parameters, **self._settings.get("config", {})}
        run = self._wandb.init(
            **{**self._settings, "name": f"trial {trial.id}", "config": config, "reinit": "create_new", "tags": [*self._settings.get("tags", ()), *trial.tags]}
        )
        run.define_metric("value_by_step", step_metric="step")
        for step, value in trial.steps.items():
            run.log({"step": step, "value_by_step": value})
        run.summary.update({**_numbers(trial), **_texts(trial)})
        run.finish(exit_code=1 if trial.state == "failed" else 0)


class TensorBoard(Tracker):
    """Log each trial to a directory of its own, for the tab HPARAMS of TensorBoard.

    It needs the package tensorboardX.

    Examples:
        ```python
        fbo.minimize(loss, space, callbacks=[fbo.trackers.TensorBoard("runs/trees")])
        ```
    """

    def __init__(self, directory: str | Path) -> None:
        """Name the directory that TensorBoard reads.

        Args:
            directory: The directory; a trial is in its folder trial-ID.
        """
        import tensorboardX

        self._writer = tensorboardX.SummaryWriter
        self._directory = Path(directory)

    def log(self, trial: Trial) -> None:
        """Log a trial, as described for `Tracker.log`."""
        with self._writer(logdir=str(self._directory / f"trial-{trial.id}")) as writer:
            for step, value in trial.steps.items():
                writer.add_scalar("value_by_step", value, step)
            writer.add_text("fbo", "\n\n".join(f"{name}: {text}" for name, text in _texts(trial).items()))
            writer.add_hparams(dict(trial.parameters), _numbers(trial), name="hparams")
