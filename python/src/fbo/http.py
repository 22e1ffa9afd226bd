"""JSON over HTTP, by a Unix socket or a port."""

from __future__ import annotations

import http.client
import json
import socket
import time
import urllib.parse
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from .errors import BadInput, Unavailable, Unreachable, problem
from .names import shown

# An ask waits for designs up to a minute, and a node of many trials takes a while to choose.
_TIMEOUT = 300.0


class _SocketConnection(http.client.HTTPConnection):
    """A connection to a Unix socket."""

    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("node", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class _NotSent(Unreachable):
    """No node received the request."""


class Client:
    """A client of the HTTP interface of a node. Any number of threads may use it.

    Paths, bodies and answers are those of [the HTTP interface](http.md). `fbo.Node` and `fbo.Task` use it.
    """

    def __init__(
        self,
        *,
        socket: str | Path | None = None,
        url: str | None = None,
        token: str | None = None,
        patience: float = 10.0,
    ) -> None:
        """Make a client of a socket or of a URL.

        Args:
            socket: The path of the socket: control.sock in the node's data directory.
            url: A scheme, a host and a port, such as `http://127.0.0.1:7070`, instead of a socket.
            token: The line in http.token in the node's data directory, for a URL.
            patience: The number of seconds in which a request is repeated while the node is unreachable or
                overloaded.

        Raises:
            BadInput: An argument is wrong.
        """
        if (socket is None) == (url is None):
            raise BadInput("Client: expected either socket or url")
        self._socket = None if socket is None else str(socket)
        self._token = token
        self._patience = patience
        self._revive: Callable[[], Client | None] | None = None
        self._same = self  # the client whose node this one asks
        self._scheme, self._host = "http", "node"
        if url is not None:
            parts = urllib.parse.urlsplit(url)
            if parts.scheme not in ("http", "https") or not parts.netloc or parts.path.strip("/"):
                raise BadInput(f"url {url!r}: expected a scheme, a host and a port, such as http://127.0.0.1:7070")
            if token is None:
                raise BadInput("url without token: expected the line in http.token in the node's data directory")
            self._scheme, self._host = parts.scheme, parts.netloc

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_revive": None, "_same": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._same = self

    def __repr__(self) -> str:
        return f"<fbo.Client of {self._at()}>"  # without the token

    def revive_by(self, revive: Callable[[], Client | None] | None) -> None:
        """Set a function that is called when no node answers. It returns a client of a running node, or None."""
        self._revive = revive

    def get(self, path: str, query: Mapping[str, str | int] | None = None) -> Any:
        """Return the JSON of an answer to GET.

        Args:
            path: The path, such as `/v1/tasks`.
            query: The parameters of the query.

        Raises:
            Problem: The node refuses the request.
            Unreachable: No node answers.
        """
        if query:
            path += "?" + urllib.parse.urlencode(query)
        return self._request("GET", path, None, {}, True)

    def post(self, path: str, body: Mapping[str, Any], *, repeatable: bool = False) -> Any:
        """Send a POST with JSON, and return the JSON of the answer.

        Args:
            path: The path, such as `/v1/tasks`.
            body: An object that JSON can represent.
            repeatable: Whether to send a key, by which the node carries out a repeated request once.

        Raises:
            BadInput: JSON cannot represent the body.
            Problem: The node refuses the request.
            Unreachable: No node answers.
        """
        headers = {"Content-Type": "application/json"}
        if repeatable:
            headers["Idempotency-Key"] = str(uuid.uuid4())
        return self._request("POST", path, _encode(body), headers, repeatable)

    def delete(self, path: str) -> None:
        """Send a DELETE. Errors are as in `get`."""
        self._request("DELETE", path, None, {}, False)

    def stream(self, path: str, query: Mapping[str, str | int] | None = None) -> Iterator[str]:
        """Yield the lines of an answer to GET until the node ends it. Errors are as in `get`."""
        if query:
            path += "?" + urllib.parse.urlencode(query)
        connection = self._connect()
        try:
            response = self._send(connection, "GET", path, None, {})
            if response.status >= 300:
                raise _refusal(response.status, response.read())
            for line in response:
                yield line.decode().rstrip("\r\n")
        except (OSError, http.client.HTTPException) as error:
            raise self._unreachable(error) from error
        finally:
            connection.close()

    def _request(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str], repeatable: bool
    ) -> Any:
        give_up = time.monotonic() + self._patience
        pause = 0.05
        while True:
            last_try = time.monotonic() + pause > give_up
            try:
                return self._once(method, path, body, headers)
            except Unavailable as error:
                if last_try or error.status not in (429, 503):
                    raise
            except Unreachable as error:
                if self._revived():
                    give_up = time.monotonic() + self._patience
                elif last_try:
                    raise
                if not repeatable and not isinstance(error, _NotSent):
                    raise
            time.sleep(pause)
            pause = min(2 * pause, 1.0)

    def _once(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Any:
        connection = self._connect()
        try:
            response = self._send(connection, method, path, body, headers)
            data = response.read()
        except (OSError, http.client.HTTPException) as error:
            raise self._unreachable(error) from error
        finally:
            connection.close()
        if response.status >= 300:
            raise _refusal(response.status, data)
        return json.loads(data) if data else None

    def _revived(self) -> bool:
        """Have the node started again; tell whether it was."""
        revive = self._revive
        found = None if revive is None else revive()
        if found is None or found is self._same:
            return False
        self._same = found
        self._socket, self._scheme, self._host, self._token = found._socket, found._scheme, found._host, found._token
        return True

    def _connect(self) -> http.client.HTTPConnection:
        if self._socket is not None:
            return _SocketConnection(self._socket, _TIMEOUT)
        if self._scheme == "https":
            return http.client.HTTPSConnection(self._host, timeout=_TIMEOUT)
        return http.client.HTTPConnection(self._host, timeout=_TIMEOUT)

    def _send(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        body: bytes | None,
        headers: Mapping[str, str],
    ) -> http.client.HTTPResponse:
        sent = dict(headers)
        if self._token is not None:
            sent["Authorization"] = f"Bearer {self._token}"
        try:
            connection.connect()
        except OSError as error:
            raise self._unreachable(error, _NotSent) from error
        connection.request(method, path, body, sent)
        return connection.getresponse()

    def _unreachable(self, error: Exception, kind: type[Unreachable] = Unreachable) -> Unreachable:
        return kind(f"no node answers at {self._at()}: {error}")

    def _at(self) -> str:
        return self._socket or f"{self._scheme}://{self._host}"


def quote(part: str | int) -> str:
    """Make a part of a path."""
    return urllib.parse.quote(str(part), safe="")


def _encode(body: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(body, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise BadInput(f"{error}: expected what JSON has: texts, finite numbers, true, false, lists and objects") from error


def _refusal(status: int, data: bytes) -> Exception:
    text = data.decode(errors="replace").strip()
    try:
        body = json.loads(text)
    except ValueError:
        body = None
    return problem(status, shown(body) if isinstance(body, dict) else None, text)
