"""Trials of a real node in real trackers. Those of MLflow and wandb are left out without requirements-trackers.txt."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import BOWL
from tensorboardX.proto.event_pb2 import Event

import fbo
from fbo.trackers import MLflow, TensorBoard, Tracker, WandB
from fbo.trial import Trial

SPACE = {"x": (-2.0, 2.0), "kind": ["a", "b"]}


def objective(x: float, kind: str, trial: Trial) -> dict[str, Any]:
    """Return a value after three steps; the first trial fails."""
    for step in (1, 2, 3):
        trial.report(step, x * x + 1 / step)
    if trial.id == 1:
        raise ValueError("no data")
    return {"value": x * x, "size": 3.0, "cost": 2.5}


def search(node: fbo.Node, tracker: Tracker) -> list[Trial]:
    """Return the trials of a search with the tracker as a callback."""
    seen: list[Trial] = []
    fbo.minimize(
        objective, SPACE, task="tracked", node=node, evals=3, seed=2, max_failures=20, progress=False,
        callbacks=[tracker, lambda _, trial: seen.append(trial)],
    )  # fmt: skip
    assert {trial.state for trial in seen} == {"done", "failed"}
    return seen


def test_mlflow(node: fbo.Node, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow", reason="requirements-trackers.txt has MLflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # mlflow-skinny has no database
    uri = (tmp_path / "mlruns").as_uri()
    seen = search(node, MLflow("trees", uri=uri, tags={"team": "forest"}))
    client = mlflow.MlflowClient(tracking_uri=uri)
    runs = client.search_runs([client.get_experiment_by_name("trees").experiment_id])
    assert len(runs) == len(seen)
    for run in runs:
        trial = next(one for one in seen if run.data.tags["fbo.trial"] == str(one.id))
        assert run.info.status == ("FAILED" if trial.state == "failed" else "FINISHED")
        assert run.data.params == {"x": str(trial.parameters["x"]), "kind": trial.parameters["kind"]}
        assert run.data.tags["team"] == "forest"
        assert [(m.step, m.value) for m in client.get_metric_history(run.info.run_id, "value_by_step")] == list(trial.steps.items())
        if trial.state == "done":
            assert run.data.metrics["value"] == trial.value
            assert run.data.metrics["metrics.size"] == 3.0
            assert run.data.metrics["cost"] == 2.5
        else:
            assert "no data" in run.data.tags["fbo.reason"]
        assert 0 <= run.info.end_time - run.info.start_time < 600_000
    MLflow("trees", uri=uri)  # opens the experiment that exists
    assert len(client.search_experiments(filter_string="name = 'trees'")) == 1


def test_wandb(node: fbo.Node, tmp_path: Path) -> None:
    wandb = pytest.importorskip("wandb", reason="requirements-trackers.txt has wandb")
    seen = search(node, WandB("trees", group="forest", mode="offline", dir=str(tmp_path), settings=wandb.Settings(silent=True)))
    files = list((tmp_path / "wandb").glob("offline-run-*/*.wandb"))
    assert len(files) == len(seen)
    content = b"".join(file.read_bytes() for file in files)
    for trial in seen:
        assert f"trial {trial.id}".encode() in content
    assert b"value_by_step" in content
    assert b"no data" in content


def test_tensorboard(node: fbo.Node, tmp_path: Path) -> None:
    seen = search(node, TensorBoard(tmp_path / "runs"))
    for trial in seen:
        folder = tmp_path / "runs" / f"trial-{trial.id}"
        scalars: dict[str, list[tuple[int, float]]] = {}
        for file in folder.rglob("events.out.tfevents.*"):
            for record in records(file):
                event = Event()
                event.ParseFromString(record)
                for value in event.summary.value:
                    if value.WhichOneof("value") == "simple_value":
                        scalars.setdefault(value.tag, []).append((event.step, value.simple_value))
        assert [step for step, _ in scalars["value_by_step"]] == [1, 2, 3]
        if trial.value is not None:
            assert math.isclose(scalars["value"][0][1], trial.value, rel_tol=1e-6)


def records(file: Path) -> Iterator[bytes]:
    """Read the records of a file of events: length, checksum, data, checksum."""
    data = file.read_bytes()
    while data:
        length = int.from_bytes(data[:8], "little")
        yield data[12 : 12 + length]
        data = data[16 + length :]


def test_log_without_minimize(node: fbo.Node, tmp_path: Path) -> None:
    """A program that asks itself calls log."""
    path = tmp_path / "bowl.yaml"
    path.write_text(BOWL)
    tracker = TensorBoard(tmp_path / "runs")
    for trial in node.task(str(path)).ask():
        tracker.log(node.task(str(path)).tell(trial, 1.0))
    assert [one.name for one in (tmp_path / "runs").iterdir()] == ["trial-1"]
