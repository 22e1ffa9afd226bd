"""The process of `fbo-node serve`."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import threading
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .errors import BadInput, BinaryMissing, NotStarted
from .http import Client
from .names import shown

_log = logging.getLogger("fbo")
_PROGRAM = "fbo-node"
_LONGEST_COMMAND = 1 << 20  # bytes of a command that pip makes; fbo-node has many more
_LONGEST_SOCKET = 100  # bytes of a path; systems take 103 or more


def default_dir() -> Path:
    """Return the data directory that fbo-node takes by itself."""
    if given := os.environ.get("FBO_DATA_DIR"):
        return Path(given)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "fbo"
    if sys.platform == "win32":
        return Path(os.environ["AppData"]) / "fbo"
    if base := os.environ.get("XDG_DATA_HOME"):
        return Path(base) / "fbo"
    return Path.home() / ".local" / "share" / "fbo"


def packaged_binary() -> Path | None:
    """Return the program that this package carries; a wheel for all systems carries none."""
    path = Path(__file__).parent / "bin" / (_PROGRAM + (".exe" if sys.platform == "win32" else ""))
    return path if path.exists() else None


def find_binary(given: str | Path | None = None) -> str:
    """Return the path of fbo-node: the given one, $FBO_NODE, this package's, or the first on the PATH.

    The command `fbo-node` of this package is none of them, since it calls this function.
    """
    for origin, path in (("binary", given), ("FBO_NODE", os.environ.get("FBO_NODE"))):
        if path:
            if not (found := shutil.which(str(path))):
                raise BinaryMissing(f"{origin} {str(path)!r} is no program that can be run: expected the path of {_PROGRAM}")
            if not _is_own_command(found):
                return found
    if packaged := packaged_binary():
        return str(packaged)
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        if folder and (found := shutil.which(_PROGRAM, path=folder)) and not _is_own_command(found):
            return found
    raise BinaryMissing(
        f"there is no {_PROGRAM}: this fbo was installed without it, and it is not on the PATH. "
        f"Install the wheel for {sysconfig.get_platform()}, which carries it; or build it with Go, in a checkout "
        f"of fbo: `go install ./cmd/{_PROGRAM}`, which puts it into `go env GOPATH`/bin; or name it, by binary= "
        "or in the environment variable FBO_NODE."
    )


def _is_own_command(path: str) -> bool:
    """Report whether this is the command that pip has made of this package's entry point."""
    try:
        return os.path.getsize(path) < _LONGEST_COMMAND and b"fbo.__main__" in Path(path).read_bytes()
    except OSError:
        return False


def socket_of(directory: Path) -> Path | None:
    """Return where a node of this directory has its socket; None where there can be none."""
    path = directory.absolute() / "control.sock"
    if not hasattr(socket, "AF_UNIX") or len(os.fsencode(path)) > _LONGEST_SOCKET:
        return None
    return path


class Daemon:
    """A daemon that this process has started."""

    def __init__(self, binary: str, directory: Path, flags: Sequence[str]) -> None:
        """Start it, and return when it answers."""
        if isinstance(flags, str):
            raise BadInput(f"flags {flags!r}: expected a list, such as ['--mdns=false']")
        # It ends with the last program that uses it, however that ends. Where it has no socket
        # that is this program alone, which holds the other end of its input.
        control = socket_of(directory)
        until = "--until-eof" if control is None else "--until-unused"
        line = [binary, "serve", "--json", until, "--data-dir", str(directory), *flags]
        if control is None and not any(flag.split("=")[0] == "--http" for flag in flags):
            line += ["--http", "127.0.0.1:0"]
        # In a session of its own: Ctrl-C is for this program, which ends the daemon then.
        new_group: int = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)  # the same on Windows
        self._process = subprocess.Popen(
            line,
            stdin=subprocess.PIPE if control is None else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
            creationflags=new_group,
        )
        self._said: deque[str] = deque(maxlen=20)
        self._started = threading.Event()
        self._serving: dict[str, Any] | None = None
        self._reader = threading.Thread(target=self._read, name="fbo-node's output", daemon=True)
        self._reader.start()
        try:
            self._started.wait()
        except BaseException:
            self.stop()
            raise
        if self._serving is None:
            self.stop()
            code = self._process.returncode
            said = "\n".join(self._said) or "it said nothing"
            raise NotStarted(f"{' '.join(line)} ended with code {code}: {said}")
        self.client: Client = self._client(control, directory)

    @property
    def runs(self) -> bool:
        """Whether the process is there."""
        return self._process.poll() is None

    def stop(self) -> None:
        """End it where it ends with its input; wait for its end, and kill it after 30 seconds."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        try:
            self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()

    def _client(self, control: Path | None, directory: Path) -> Client:
        if control is not None:
            return Client(socket=control)
        assert self._serving is not None
        token = (directory / "http.token").read_text(encoding="utf-8").strip()
        return Client(url=self._serving["url"], token=token)

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as output:
            for line in output:
                self._hear(line.rstrip("\n"))
        self._started.set()  # it has ended
        self._process.wait()

    def _hear(self, line: str) -> None:
        try:
            event = json.loads(line)
            kind = event.get("event")
        except (ValueError, AttributeError):
            self._said.append(line)
            _log.info("fbo-node: %s", line)
            return
        if kind == "serving":
            self._serving = event
            self._started.set()
        elif kind == "warning":
            message = shown(str(event.get("message")))
            self._said.append(message)
            _log.warning("fbo-node: %s", message)
