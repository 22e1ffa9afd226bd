"""The lock by which the programs on one data directory share a node that one of them has started."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

_FILE = "users.lock"  # as in fbo-node
_TAKES = 2.0  # seconds that a node may take to notice that its last user has gone
_ENDS = 30.0  # seconds that a node may take to end
_PAUSE = 0.01  # seconds


class UserLock:
    """A shared lock on users.lock in a data directory.

    `fbo-node serve --until-unused` waits for the exclusive lock, and holds it until its process has
    ended. The system releases the locks of a program that is killed.
    """

    def __init__(self, directory: Path) -> None:
        """Take the lock. While a node of the directory ends, this waits for its end."""
        assert sys.platform != "win32"
        import fcntl

        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = os.open(directory / _FILE, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_SH)
        except BaseException:  # also Ctrl-C while it waits
            os.close(self._file)
            raise

    def release(self, ended: Callable[[], bool] | None) -> bool:
        """Release the lock, and return whether the node has ended with it, or is still ending.

        For a node that ends with its last user, ended reports whether it answers no more; then this
        waits for the end. None is for other nodes.
        """
        assert sys.platform != "win32"
        import fcntl

        # Where another holds the lock, that is another user if the lock can be shared, and else the node.
        last = self._take(fcntl.LOCK_EX) or not self._take(fcntl.LOCK_SH)
        fcntl.flock(self._file, fcntl.LOCK_UN)  # also where a copy of this process has the file
        try:
            if not last or ended is None or not _await(lambda: not self._is_free() or ended(), _TAKES):
                return False
            _await(self._is_free, _ENDS)
            return True
        finally:
            os.close(self._file)

    def _take(self, kind: int) -> bool:
        assert sys.platform != "win32"
        import fcntl

        try:
            fcntl.flock(self._file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _is_free(self) -> bool:
        """Report whether no process holds the exclusive lock."""
        assert sys.platform != "win32"
        import fcntl

        free = self._take(fcntl.LOCK_SH)
        fcntl.flock(self._file, fcntl.LOCK_UN)
        return free


def _await(happened: Callable[[], bool], seconds: float) -> bool:
    give_up = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > give_up:
            return False
        time.sleep(_PAUSE)
    return True
