"""A node: one that runs already, or one that is started for a while."""

from __future__ import annotations

import logging
import os
import threading
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from .daemon import Daemon, default_dir, find_binary, socket_of
from .errors import BadInput, Error, NotStarted, Unreachable
from .http import Client, quote
from .names import definition_to_task, keys_to_task
from .space import TaskFile
from .task import Task
from .trial import Value
from .users import UserLock

_log = logging.getLogger("fbo")

LEASE = 600.0  # seconds
_PATIENCE = 10.0  # seconds that another program may take to start the node that both want


@dataclass(frozen=True)
class JoinPreview:
    """The task of a string to join.

    Attributes:
        id: The task's ID.
        name: The task's name.
        task: The task file as a dictionary, defaults filled in.
        open: Whether every node that knows the task can join it.
        served: Whether the node works on the task already.
        reveals: What peers receive of a node, and what they can compute from it.
    """

    id: str
    name: str
    task: dict[str, Any]
    open: bool
    served: bool
    reveals: str


class Node:
    """A node of fbo, as a context manager.

    The context uses the node that runs in the data directory. If none runs, it starts `fbo-node serve`, and starts
    it again if it is killed. Any number of objects and programs share this node, and it ends with the last
    context. A node that the user has started continues. A context can be entered again; the use ends with the last
    exit.

    A node can be pickled. The copy is a node of the same directory or URL that is in no context yet. The token
    of a URL is part of the pickle.

    Examples:
        ```python
        with fbo.Node() as node:
            task = node.task("trees.yaml")
        ```
    """

    def __init__(
        self,
        dir: str | Path | None = None,
        *,
        binary: str | Path | None = None,
        peers: Sequence[str] = (),
        flags: Sequence[str] = (),
        url: str | None = None,
        token: str | Path | None = None,
    ) -> None:
        """Make a node of a data directory, or of a URL.

        Args:
            dir: The data directory. None: that of fbo-node.
            binary: The program. None: the environment variable FBO_NODE, then the program in this package, then
                the first on the PATH.
            peers: Addresses of other nodes, as they print them, for a node that is started.
            flags: Flags of `fbo-node serve`, such as `["--mdns=false"]`, for a node that is started.
            url: The address of a node that runs, such as `http://192.0.2.7:7070`, instead of a directory.
            token: The token for url. As a Path it is the file with the token: http.token in the node's data
                directory.

        Raises:
            BadInput: An argument is wrong.
        """
        if url is not None and (dir is not None or binary is not None or peers or flags):
            raise BadInput("Node: url names a node that runs; dir, binary, peers and flags are for others")
        for what, given in (("peers", peers), ("flags", flags)):
            if isinstance(given, str):
                raise BadInput(f"Node: {what} is {given!r}: expected a list of texts")
        if url is None and token is not None:
            raise BadInput("Node: token is for a url, which is missing")
        self.dir = None if url is not None else Path(dir) if dir is not None else default_dir()
        self._binary = binary
        self._flags = [*flags, *(part for one in peers for part in ("--peer", one))]
        self._remote = None if url is None else Client(url=url, token=_token_of(token))
        self._is_copy = False
        self._begin()

    def _begin(self) -> None:
        self._http: Client | None = None
        self._daemon: Daemon | None = None
        self._lock: UserLock | None = None
        self._ends = False  # with its last user
        self._contexts = 0
        self._process = os.getpid()  # that has entered the context
        self._changing = threading.RLock()  # held while the node is found, started, revived or left
        self._tasks: list[Task] = []

    @property
    def started(self) -> bool:
        """Whether this object has started the node."""
        return self._daemon is not None

    @property
    def in_use(self) -> bool:
        """Whether this object is in a `with`."""
        return self._http is not None

    def __getstate__(self) -> dict[str, Any]:
        directory = None if self.dir is None else self.dir.absolute()
        return {"dir": directory, "_binary": self._binary, "_flags": self._flags, "_remote": self._remote}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make a copy of a pickled node: of the same place, and in no `with` yet."""
        self.__dict__.update(state)
        self._is_copy = True
        self._begin()

    def __repr__(self) -> str:
        return f"<fbo.Node of {self._remote or str(self.dir)!r}>"

    def __enter__(self) -> Node:
        with self._changing:
            if self._http is None:
                self._http = self._reach()
            self._contexts += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if os.getpid() != self._process:
            return  # a copy of the program, made by fork: the use is that of the other
        with self._changing:
            self._contexts -= 1
            if self._contexts or self._http is None:
                return
            http, tasks, lock, daemon = self._http, self._tasks, self._lock, self._daemon
            self._http, self._tasks, self._lock, self._daemon = None, [], None, None
        http.revive_by(None)
        try:
            for task in tasks:  # without self._changing, for which their heartbeats may wait
                task.close()
        finally:
            self._release(lock, daemon)

    def task(
        self,
        task: TaskFile,
        *,
        client: str | None = None,
        lease: float = LEASE,
        tables: Mapping[str, str] | None = None,
        enqueue: Iterable[Mapping[str, Value]] = (),
        prior_designs: Iterable[Mapping[str, Value]] = (),
        seed: int | None = None,
        invitation: str | None = None,
    ) -> Task:
        """Join a task.

        Args:
            task: The path or the text of a task file, or its content as a dictionary. A text has more than one line
                or begins with `{`. In a dictionary names of parameters and constraints can be any printable
                text; a text is sent as it is.
            client: The name by which trials are held. With a name of your own, a program that was killed gets its
                trials again. None: a new name.
            lease: Seconds without a sign of life of this program after which other clients get its trials, 1 or
                more.
            tables: The tables that the task file names: their content as CSV, by name.
            enqueue: Designs to evaluate first, as dictionaries by name.
            prior_designs: Designs that are expected to be good, for strategies that use them.
            seed: An integer that makes the node's decisions repeatable.
            invitation: The content of an invitation file. None: the stored invitation, or none.

        Returns:
            The task, which the node joins also after restarts.

        Raises:
            BadInput: An argument is wrong.
            Refused: The node does not accept the task.
        """
        order: dict[str, Any] = {}
        if isinstance(task, Mapping):
            order["task"] = definition_to_task(task)
        else:
            order["text"] = _text_of(task)
        if tables:
            order["tables"] = dict(tables)
        if invitation:
            order["invitation"] = invitation
        return self._open(self._client.post("/v1/tasks", _with_choices(order, enqueue, prior_designs, seed)), client, lease)

    def join(
        self,
        string: str | Path,
        *,
        client: str | None = None,
        lease: float = LEASE,
        enqueue: Iterable[Mapping[str, Value]] = (),
        prior_designs: Iterable[Mapping[str, Value]] = (),
        seed: int | None = None,
    ) -> Task:
        """Join the task of a string that `fbo-node task invite` has printed.

        The node gets the task from a node that works on it, and checks it against the ID in the string. Later
        starts of the node need no string. The same string again returns the same task.

        Args:
            string: The string, `fbo-join-1-…`. As a Path it is a file with the string.
            client: As in `task`.
            lease: As in `task`.
            enqueue: As in `task`.
            prior_designs: As in `task`.
            seed: As in `task`.

        Raises:
            BadInput: The file cannot be read.
            Refused: The string is mistyped.
            NotAdmitted: The string has expired, is used up or was revoked.
            NotFound: No node knows the string, or works on its task.
            Conflict: The node works on the task already, and has not joined it by this string.
            Unavailable: No node has sent the task within a minute, or a node has sent another task.
        """
        order: dict[str, Any] = {"join": _string_of(string)}
        return self._open(self._client.post("/v1/tasks", _with_choices(order, enqueue, prior_designs, seed)), client, lease)

    def preview(self, string: str | Path) -> JoinPreview:
        """Return the task that `join` would join, and join nothing.

        A preview takes a use of a guest's string, and a later `join` by this node takes no other.

        Args:
            string: As in `join`.

        Raises:
            Problem: As in `join`.
        """
        shown = self._client.post("/v1/joins/preview", {"join": _string_of(string)})
        return JoinPreview(shown["id"], shown["name"], shown["task"], shown["open"], shown["served"], shown["reveals"])

    def find(self, task: str, *, client: str | None = None, lease: float = LEASE) -> Task:
        """Return a task that the node serves already.

        Args:
            task: Its ID, the first characters of its ID (8 or more), or a name that only one task has.
            client: As in `task`.
            lease: As in `task`.

        Raises:
            NotFound: The node serves no such task.
        """
        return self._open(self._client.get(f"/v1/tasks/{quote(task)}"), client, lease)

    def tasks(self) -> list[dict[str, Any]]:
        """Return id, name, goal and number of trials of each task that the node serves."""
        shown: list[dict[str, Any]] = self._client.get("/v1/tasks")["tasks"]
        return shown

    def info(self) -> dict[str, Any]:
        """Return the node's version, peer_id, addresses and number of tasks."""
        shown: dict[str, Any] = self._client.get("/v1/node")
        return shown

    @property
    def _client(self) -> Client:
        if self._http is None:
            raise Error("the node is not in use: write `with fbo.Node(…) as node:`")
        return self._http

    def _open(self, shown: Mapping[str, Any], client: str | None, lease: float) -> Task:
        task = Task(self._client, shown, client, lease)
        self._tasks.append(task)
        return task

    def _reach(self) -> Client:
        """Return a client of the node, which is started where none runs."""
        self._process = os.getpid()
        if self._remote is not None:
            self._remote.get("/v1/node")
            return self._remote
        assert self.dir is not None
        self._lock = _locked(self.dir)
        try:
            client = self._running(self.dir)
            if client is None:
                client = self._start(self.dir)
            elif self._flags and not self._is_copy:
                warnings.warn(f"a node runs in {self.dir} already: peers and flags are not given to it", stacklevel=3)
        except BaseException:
            lock, daemon, self._lock, self._daemon = self._lock, self._daemon, None, None
            self._release(lock, daemon)
            raise
        client.revive_by(self._revived)
        return client

    def _release(self, lock: UserLock | None, daemon: Daemon | None) -> None:
        """End the use of the node, which ends if this was the last."""
        control = None if self.dir is None else socket_of(self.dir)
        ended = None if control is None or not self._ends else lambda: not control.exists()
        if (lock is None or lock.release(ended)) and daemon is not None:
            daemon.stop()

    def _start(self, directory: Path) -> Client:
        give_up = time.monotonic() + _PATIENCE
        while True:
            try:
                self._daemon = Daemon(find_binary(self._binary), directory, self._flags)
                break
            except NotStarted as error:
                # Perhaps another program was quicker, and its node is not ready yet.
                if (running := self._running(directory)) is not None:
                    return running
                if "in use by another process" not in str(error) or time.monotonic() > give_up:
                    raise
                time.sleep(0.1)
        self._ends = True
        return self._daemon.client

    def _revived(self) -> Client | None:
        """Start the node again if it has ended and no other of its users has started it."""
        with self._changing:
            daemon = self._daemon
            if daemon is not None and daemon.runs:
                return daemon.client
            if self.dir is None or not self._ends or self._http is None or self._running(self.dir) is not None:
                return None
            _log.warning("fbo-node has ended; it is started again")
            if daemon is not None:
                daemon.stop()
            self._daemon = None
            return self._start(self.dir)

    def _running(self, directory: Path) -> Client | None:
        """Return a client of the node that runs in a directory, or None."""
        control = socket_of(directory)
        if control is None or not control.exists():
            return None
        try:
            shown = Client(socket=control, patience=0).get("/v1/node")
        except Unreachable:
            return None
        self._ends = bool(shown["until_unused"])
        return Client(socket=control)


def _locked(directory: Path) -> UserLock | None:
    """Return the lock of a user of the directory's node, or None where there is none."""
    if socket_of(directory) is None:
        return None
    try:
        return UserLock(directory)
    except OSError as error:
        # A node that runs can be used; fbo-node itself explains why it does not start.
        _log.info("%s: no lock: %s", directory, error)
        return None


def _with_choices(
    order: dict[str, Any],
    enqueue: Iterable[Mapping[str, Value]],
    prior_designs: Iterable[Mapping[str, Value]],
    seed: int | None,
) -> dict[str, Any]:
    """Add this node's own choices for a task to the body of a request."""
    for name, designs in (("enqueue", enqueue), ("prior_designs", prior_designs)):
        if given := [keys_to_task(one) for one in designs]:
            order[name] = given
    if seed is not None:
        order["seed"] = seed
    return order


def _string_of(given: str | Path) -> str:
    if not isinstance(given, Path):
        return given
    try:
        return given.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"string {str(given)!r}: {error}; expected a file with the string of fbo-node task invite") from error


def _token_of(given: str | Path | None) -> str | None:
    if not isinstance(given, Path):
        return given
    try:
        return given.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"token {str(given)!r}: {error}; expected the file http.token in a data directory") from error


def _text_of(task: str | Path) -> str:
    if isinstance(task, str) and ("\n" in task or task.lstrip().startswith("{")):
        return task
    try:
        return Path(task).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"task {str(task)!r}: {error}; expected the path of a task file, or its text") from error
