"""The same Flower app without the processes of Flower: its ServerApp and ClientApps run in threads.

The apps, the strategy, the trainings and the nodes of fbo are those of a federation; only the transport of Flower is left
out, which starts a process for each message. loopback.py has all processes.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nodes

os.environ |= {"FLWR_TELEMETRY_ENABLED": "0", "FLWR_DISABLE_UPDATE_CHECK": "1"}  # before the import, which may send telemetry

from flwr.app import Context, Error, Message, RecordDict  # noqa: E402
from flwr.serverapp import Grid  # noqa: E402
from flwr.supercore.task_identity import TaskIdentity  # noqa: E402
from sites import client_app, server_app, training  # noqa: E402

DIRECTORIES = [f"fbo{site}" for site in range(training.SITES)]  # data directories of the nodes
CONFIG = tomllib.loads((Path(__file__).parent / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["flwr"]["app"]["config"]


class Direct(Grid):
    """A Grid that calls the ClientApp of a node in a thread, in place of sending a message. Node 1 is site 0."""

    def __init__(self, contexts: dict[int, Context]) -> None:
        self._contexts = contexts
        self._replies: dict[str, Message] = {}

    def set_run(self, run: object) -> None:
        """Do nothing: there is one run."""

    @property
    def run(self) -> object:
        """The run, which has no record here."""
        raise NotImplementedError("there is one run, without a record")

    def create_message(self, content: RecordDict, message_type: str, dst_node_id: int, group_id: str, ttl: float | None = None) -> Message:
        """Return a message."""
        return Message(content, dst_node_id, message_type, ttl=ttl, group_id=group_id)

    def get_node_ids(self) -> list[int]:
        """Return the nodes."""
        return list(self._contexts)

    def push_messages(self, messages: Iterable[Message]) -> list[str]:
        """Have the ClientApps answer, and return keys for pull_messages."""
        keys = []
        for reply in self.send_and_receive(messages):
            keys.append(str(len(self._replies)))
            self._replies[keys[-1]] = reply
        return keys

    def pull_messages(self, message_ids: Iterable[str]) -> list[Message]:
        """Return the replies of push_messages."""
        return [self._replies[key] for key in message_ids]

    def send_and_receive(self, messages: Iterable[Message], *, timeout: float | None = None) -> list[Message]:
        """Return the replies of the ClientApps. All nodes work at the same time."""
        messages = list(messages)
        with ThreadPoolExecutor(len(messages) or 1) as pool:
            return list(pool.map(self._answer, messages))

    def _answer(self, message: Message) -> Message:
        try:
            return client_app.app(message, self._contexts[message.metadata.dst_node_id])
        except Exception as error:  # becomes an error reply, as in a SuperNode
            return Message(Error(0, f"{type(error).__name__}: {error}"), reply_to=message)


class Federation:
    """The sites, each with its node of fbo. Each call of run is one federated training."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def run(self, **config: object) -> dict:
        """Run the app with values of its config, and return what the ServerApp writes.

        Raises:
            ValueError: The app has no such value in its config.
            RuntimeError: A site has failed.
        """
        values = {name.replace("_", "-"): value for name, value in config.items()}
        if unknown := values.keys() - CONFIG.keys():
            raise ValueError(f"config {', '.join(sorted(unknown))}: expected {', '.join(CONFIG)}")
        out = self._folder / "result.json"
        values = CONFIG | values | {"out": str(out)}
        contexts = {
            site + 1: Context(1, site + 1, {"site": site, "fbo-dir": str(self._folder / DIRECTORIES[site])}, RecordDict(), values)
            for site in range(training.SITES)
        }
        TaskIdentity.task_id, TaskIdentity.run_id, TaskIdentity.node_id = 1, 1, 0  # of new messages, as a SuperLink sets them
        server_app.app(Direct(contexts), Context(1, 0, {}, RecordDict(), values))
        result = json.loads(out.read_text(encoding="utf-8"))
        if result["failed"]:
            raise RuntimeError(f"sites failed: {result['failed']}")
        return result


@contextlib.contextmanager
def federation() -> Iterator[Federation]:
    """Start the nodes of the sites, and end them with the context."""
    with tempfile.TemporaryDirectory(prefix="fbo", ignore_cleanup_errors=True) as folder, nodes.running(Path(folder), DIRECTORIES):
        yield Federation(Path(folder))
