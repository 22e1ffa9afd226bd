"""Signs of life for trials that are held."""

from __future__ import annotations

import logging
import threading

from .errors import Conflict, Error, NotFound
from .http import Client, quote

_log = logging.getLogger("fbo")


class Held:
    """The trials that a client holds; a thread keeps their leases while there are any."""

    def __init__(self, http: Client, trials_path: str, client: str, every: float) -> None:
        self._http = http
        self._path = trials_path
        self._client = client
        self._every = every
        self._ids: set[int] = set()
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def ids(self) -> set[int]:
        with self._lock:
            return set(self._ids)

    def add(self, *ids: int) -> None:
        with self._lock:
            self._ids.update(ids)
            if self._ids and self._thread is None and not self._ended.is_set():
                self._thread = threading.Thread(target=self._run, name="fbo heartbeats", daemon=True)
                self._thread.start()

    def drop(self, trial: int) -> None:
        with self._lock:
            self._ids.discard(trial)

    def close(self) -> None:
        """End the thread."""
        self._ended.set()
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while not self._ended.wait(self._every):
            for trial in sorted(self.ids()):
                self._beat(trial)

    def _beat(self, trial: int) -> None:
        try:
            self._http.post(f"{self._path}/{quote(trial)}/heartbeat", {"client": self._client})
        except (Conflict, NotFound) as error:
            self.drop(trial)
            _log.warning("trial %d is no longer held: %s", trial, error)
        except Error as error:
            _log.warning("no heartbeat for trial %d: %s", trial, error)
