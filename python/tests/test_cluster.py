"""The files of examples/cluster: jobs of a daemon, also such that are killed."""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import LOCAL, wait_until

import fbo

ROOT = Path(__file__).resolve().parents[2]
CLUSTER = ROOT / "examples" / "cluster"

# A training that ends when there is a file.
WAITS = "import pathlib, sys, time\nwhile not pathlib.Path(sys.argv[1]).exists(): time.sleep(0.02)\nprint(sys.argv[2])"

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def port() -> int:
    """A free port of those that systems give to nobody by themselves, so that it is free again after a restart."""
    for candidate in random.sample(range(20000, 30000), 100):
        with socket.socket() as free, contextlib.suppress(OSError):
            free.bind(("127.0.0.1", candidate))
            return candidate
    pytest.fail("none of 100 ports is free")


@pytest.fixture
def served(binary: str, short_dir: Path, port: int) -> Iterator[fbo.Node]:
    with fbo.Node(short_dir, binary=binary, flags=[*LOCAL, "--http", f"127.0.0.1:{port}"]) as node:
        yield node


@pytest.fixture
def environment(short_dir: Path, port: int) -> dict[str, str]:
    return {
        **os.environ,
        "FBO_URL": f"http://127.0.0.1:{port}",
        "FBO_TOKEN": str(short_dir / "http.token"),
        "PYTHONPATH": str(ROOT / "python" / "src"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }


@pytest.fixture
def job(environment: dict[str, str]) -> Iterator[Start]:
    """Start a worker as a job of this name, in a process group of its own."""
    started: list[subprocess.Popen[str]] = []

    def start(name: str, *training: str, lease: float = 600) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "worker.py", "task.yaml", "--lease", str(lease), "--", sys.executable, *training],
            cwd=CLUSTER,
            env={**environment, "FBO_CLIENT": name},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            kill(process)
        assert process.stdout is not None
        process.stdout.close()


def kill(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def ended(process: subprocess.Popen[str], code: int = 0) -> str:
    said, _ = process.communicate(timeout=60)
    assert process.returncode == code, said[-2000:]
    return said


def trials(node: fbo.Node) -> list[fbo.Trial]:
    return node.find("valley").trials() if node.tasks() else []


def wait_for(node: fbo.Node, state: str, count: int = 1) -> None:
    give_up = time.monotonic() + 60
    while sum(trial.state == state for trial in trials(node)) != count:
        assert time.monotonic() < give_up, f"not {count} {state}: {trials(node)}"
        time.sleep(0.05)


def test_four_jobs_of_which_one_is_killed(served: fbo.Node, job: Start, tmp_path: Path) -> None:
    training = ["-c", WAITS, str(tmp_path / "go"), "{rate}"]
    jobs = {f"job {number}": job(f"job {number}", *training, lease=10 if number == 2 else 600) for number in range(4)}
    wait_for(served, "running", 4)
    (lost,) = [trial for trial in trials(served) if trial.client == "job 2"]
    kill(jobs.pop("job 2"))
    wait_for(served, "waiting")  # its lease has ended
    jobs["job 4"] = job("job 4", *training)
    wait_for(served, "running", 4)
    (tmp_path / "go").touch()
    for process in jobs.values():
        ended(process)
    told = trials(served)
    assert [trial.state for trial in told] == ["done"] * 4
    assert all(trial.value == trial.parameters["rate"] for trial in told)
    assert {trial.client for trial in told} == jobs.keys()
    (again,) = [trial for trial in told if trial.client == "job 4"]
    assert (again.id, again.parameters, again.attempts) == (lost.id, lost.parameters, 2)


def test_a_job_that_is_requeued_gets_its_trial_again(served: fbo.Node, job: Start, tmp_path: Path) -> None:
    training = ["-c", WAITS, str(tmp_path / "go"), "1"]
    first = job("job", *training)
    wait_for(served, "running")
    kill(first)
    (tmp_path / "go").touch()
    ended(job("job", *training))
    (trial,) = trials(served)
    assert (trial.state, trial.value, trial.client) == ("done", 1, "job")


def test_a_job_that_is_told_to_stop_hands_its_trial_back(served: fbo.Node, job: Start, tmp_path: Path) -> None:
    process = job("job", "-c", WAITS, str(tmp_path / "go"), "1")
    wait_for(served, "running")
    process.terminate()
    ended(process, 143)
    (trial,) = trials(served)
    assert trial.state == "waiting"


# A training that reports two steps, and ends when there is a file.
STEPS = """import os, pathlib, sys, time
first = int(os.environ.get("FBO_STEP", 0)) + 1
for step in (first, first + 1):
    print('{"step": %d, "value": %s}' % (step, sys.argv[2]), flush=True)
print("began with step", first, flush=True)
while not pathlib.Path(sys.argv[1]).exists(): time.sleep(0.02)
print(sys.argv[2])"""


def test_values_by_step(served: fbo.Node, job: Start, tmp_path: Path) -> None:
    task = yaml.safe_load((CLUSTER / "task.yaml").read_text())
    served.task({**task, "stop": fbo.Asha(grace_period=3)})
    good = job("good", "-c", STEPS, str(tmp_path / "go"), "1.0")
    wait_until(lambda: [list(trial.steps) for trial in trials(served)] == [[1, 2]], "no values")
    kill(good)
    good = job("good", "-c", STEPS, str(tmp_path / "go"), "1.0")  # continues
    wait_until(lambda: [list(trial.steps) for trial in trials(served)] == [[1, 2, 3, 4]], "no further values")
    bad = job("bad", "-c", STEPS.replace("first, first + 1", "2, 1, 3"), str(tmp_path / "never"), "2.0")
    said = ended(bad)
    assert "expected increasing steps" in said and "trial 2 was stopped early" in said
    (tmp_path / "go").touch()
    assert "began with step 3" in ended(good)
    first, second = trials(served)
    assert (first.state, first.value, first.steps) == ("done", 1.0, dict.fromkeys((1, 2, 3, 4), 1.0))
    assert (second.state, second.value) == ("stopped", None) and second.stop is not None and second.stop.step == 3


def test_a_value_waits_for_the_daemon(
    served: fbo.Node, job: Start, tmp_path: Path, binary: str, short_dir: Path, port: int
) -> None:
    process = job("job", "-c", WAITS, str(tmp_path / "go"), "1")
    wait_for(served, "running")
    daemon = served._daemon
    assert daemon is not None
    daemon._process.terminate()
    daemon._process.wait()
    (tmp_path / "go").touch()
    assert process.stdout is not None
    for line in process.stdout:
        if "trying again" in line:
            break
    with fbo.Node(short_dir, binary=binary, flags=[*LOCAL, "--http", f"127.0.0.1:{port}"]) as again:
        ended(process)
        (trial,) = trials(again)
        assert (trial.state, trial.value) == ("done", 1)
        served._daemon = None


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("raise SystemExit(7)", "the training ended with code 7"),
        ("print('3 of 4')", "the last line of the training is '3 of 4': expected a finite number"),
        ("pass", "the last line of the training is '': expected a finite number"),
        ("print('nan')", "the last line of the training is 'nan': expected a finite number"),
    ],
)
def test_a_training_that_fails(served: fbo.Node, job: Start, program: str, reason: str) -> None:
    assert reason in ended(job("job", "-c", program), 1)
    (trial,) = trials(served)
    assert (trial.state, trial.reason) == ("failed", reason)


def test_what_else_can_be_wrong(served: fbo.Node, job: Start, environment: dict[str, str], tmp_path: Path) -> None:
    assert "FBO_CLIENT not set" in ended(job("", "-c", "print(1)"), 2)
    environment["FBO_TOKEN"] = str(tmp_path / "missing")
    assert "expected the file http.token" in ended(job("job", "-c", "print(1)"), 2)
    (tmp_path / "missing").write_text("x" * 26)
    assert "401" in ended(job("job", "-c", "print(1)"), 2)
    assert trials(served) == []


def test_the_slurm_script(served: fbo.Node, environment: dict[str, str], tmp_path: Path) -> None:
    script = (CLUSTER / "slurm.sh").read_text()
    spool = tmp_path / "script"  # Slurm runs a copy, in the directory of sbatch
    shutil.copy(CLUSTER / "slurm.sh", spool)
    served.task(CLUSTER / "task.yaml", seed=1)  # the training diverges at some designs
    for index in "01":
        subprocess.run(
            ["sh", str(spool)],
            cwd=CLUSTER,
            env={**environment, "SLURM_ARRAY_JOB_ID": "4711", "SLURM_ARRAY_TASK_ID": index},
            check=True,
            timeout=60,
        )
    told = trials(served)
    assert [trial.client for trial in told] == ["slurm 4711 0", "slurm 4711 1"]
    assert [trial.state for trial in told] == ["done"] * 2
    assert placeholders(script) == parameters()


def parameters() -> set[str]:
    return {one["name"] for one in yaml.safe_load((CLUSTER / "task.yaml").read_text())["parameters"]}


def placeholders(text: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", text))


def test_the_manifests_agree() -> None:
    """Kubernetes itself is not there: only what one file says of another is checked."""
    found: dict[str, Any] = {}
    for name in yaml.safe_load((CLUSTER / "kubernetes" / "kustomization.yaml").read_text())["resources"]:
        for one in yaml.safe_load_all((CLUSTER / "kubernetes" / name).read_text()):
            found[one["kind"]] = one
    assert found.keys() == {"Service", "StatefulSet", "NetworkPolicy", "Job"}
    service, policy = found["Service"], found["NetworkPolicy"]["spec"]
    node, worker = found["StatefulSet"]["spec"]["template"], found["Job"]["spec"]["template"]
    (port,) = (one["port"] for one in service["spec"]["ports"])
    name = service["metadata"]["name"]
    (container,) = worker["spec"]["containers"]
    environment = {one["name"]: one.get("value") for one in container["env"]}
    assert environment["FBO_URL"] == f"http://{name}:{port}"
    arguments = node["spec"]["containers"][0]["args"]
    assert f"--http=0.0.0.0:{port}" in arguments and f"--http-host={name}" in arguments
    assert service["spec"]["selector"] == policy["podSelector"]["matchLabels"] == node["metadata"]["labels"]
    assert policy["ingress"][0]["from"][0]["podSelector"]["matchLabels"] == worker["metadata"]["labels"]
    assert policy["ingress"][0]["ports"] == [{"port": port}]
    assert node["spec"]["volumes"] == worker["spec"]["volumes"]
    assert placeholders(" ".join(container["args"])) == parameters()
    rule = found["Job"]["spec"]["podFailurePolicy"]["rules"][0]
    assert rule["onExitCodes"]["containerName"] == container["name"]
