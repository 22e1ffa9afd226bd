"""A federation of processes on this machine: a SuperLink, a SuperNode and a node of fbo for each site."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import inprocess
import nodes
from sites import training

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent  # the commands of Flower are installed beside Python
TIMEOUT = 900  # seconds of one run


class Federation:
    """A running federation. Each call of run is one federated training."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._folder = folder
        self._environment = environment
        self._runs = 0

    def run(self, **config: object) -> dict:
        """Run the app with values of its config, and return what the ServerApp writes.

        Raises:
            RuntimeError: The run was refused, ended without a result or took more than TIMEOUT; or a site failed.
        """
        self._runs += 1
        out = self._folder / f"run{self._runs}.json"
        values = {name.replace("_", "-"): value for name, value in config.items()} | {"out": str(out)}
        written = " ".join(f"{name}={json.dumps(value)}" for name, value in values.items())
        command = [str(BIN / "flwr"), "run", str(HERE), "loopback", "--run-config", written, "--stream"]
        log = self._folder / f"run{self._runs}.log"
        with open(log, "w", encoding="utf-8") as file:
            try:
                subprocess.run(command, env=self._environment, stdout=file, stderr=file, timeout=TIMEOUT, check=False)
            except subprocess.TimeoutExpired:
                pass
        if not out.exists():
            raise RuntimeError(f"flwr run {written}: no result\n{log.read_text(encoding='utf-8')[-3000:]}")
        result = json.loads(out.read_text(encoding="utf-8"))
        if result["failed"]:
            raise RuntimeError(f"flwr run {written}: sites failed: {result['failed']}")
        return result


@contextlib.contextmanager
def federation() -> Iterator[Federation]:
    """Start all processes, and end them with the context."""
    with tempfile.TemporaryDirectory(prefix="fbo", ignore_cleanup_errors=True) as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        ports = _free_ports(training.SITES + 1)
        environment = os.environ | {
            "FLWR_HOME": str(folder / "flwr"),
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "OMP_NUM_THREADS": "1",  # the sites share the processors
            "OPENBLAS_NUM_THREADS": "1",
        }
        (folder / "flwr").mkdir()
        connection = f'[superlink]\ndefault = "loopback"\n\n[superlink.loopback]\naddress = "127.0.0.1:{ports[0]}"\ninsecure = true\n'
        (folder / "flwr" / "config.toml").write_text(connection, encoding="utf-8")

        def start(name: str, *flags: str) -> subprocess.Popen:
            log = stack.enter_context(open(folder / f"{name}.log", "w", encoding="utf-8"))
            process = subprocess.Popen([str(BIN / name.split(" ")[0]), "--insecure", *flags], env=environment, stdout=log, stderr=log, start_new_session=True)
            stack.callback(_end, process)
            return process

        superlink = start("flower-superlink", "--disable-runtime-dependency-installation", "--port", str(ports[0]))
        stack.enter_context(nodes.running(folder, inprocess.DIRECTORIES))
        for site in range(training.SITES):
            own = f'site={site} fbo-dir="{folder / inprocess.DIRECTORIES[site]}"'
            start(f"flower-supernode {site}", "--superlink", f"127.0.0.1:{ports[0]}", "--port", str(ports[1 + site]), "--node-config", own)
        _await(superlink, f"http://127.0.0.1:{ports[0]}/health", folder / "flower-superlink.log")
        yield Federation(folder, environment)


def _await(process: subprocess.Popen, url: str, log: Path) -> None:
    give_up = time.monotonic() + TIMEOUT
    while process.poll() is None and time.monotonic() < give_up:
        try:
            with urllib.request.urlopen(url, timeout=10):
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"{url} does not answer\n{log.read_text(encoding='utf-8')[-3000:]}")


def _end(process: subprocess.Popen) -> None:
    process.terminate()
    try:
        process.wait(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # the processes of apps that it has started, and not ended


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
