"""What a trial keeps for its user: attributes, tags, references to files, and notes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .errors import BadInput

LONGEST_NAME = 64  # bytes
LONGEST_TEXT = 4096  # bytes
MOST_ATTRIBUTES = 64
MOST_BYTES = 60_000  # of all attributes; the node accepts a little more


@dataclass(frozen=True)
class File:
    """A reference to a file of the evaluation. The node does not read the file.

    Attributes:
        path: A path or a URL.
        sha256: The SHA-256 digest in hexadecimal digits, or None.
    """

    path: str
    sha256: str | None = None


@dataclass(frozen=True)
class Note:
    """A text about a trial.

    Attributes:
        id: 1, 2, … of the trial.
        text: The text.
        time: When it was added, in the format of RFC 3339.
        author: Who wrote it, or None.
    """

    id: int
    text: str
    time: str
    author: str | None = None


def as_text(value: object) -> str:
    """Return a text as it is, and any other value as JSON."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{value!r:.200} is no text, and not a value that JSON has: {error}") from error


def body_of(
    attributes: Mapping[str, object] | None, tags: Iterable[str] | None, files: Iterable[str | File | Mapping[str, Any]] | None
) -> dict[str, Any]:
    """Return the part of a request that has annotations."""
    made: dict[str, Any] = {}
    if attributes:
        made["attributes"] = {name: as_text(value) for name, value in attributes.items()}
    if tags:
        made["tags"] = [tags] if isinstance(tags, str) else list(tags)
    if files:
        made["files"] = [_file(one) for one in ([files] if isinstance(files, str) else files)]
    return made


def _file(given: str | File | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(given, File):
        given = {"path": given.path, "sha256": given.sha256}
    if isinstance(given, Mapping):
        return {key: str(value) for key, value in given.items() if value is not None}
    return {"path": str(given)}


def fields_from_json(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a Trial from an answer of a node."""
    return {
        "attributes": dict(given.get("attributes") or {}),
        "tags": tuple(given.get("tags") or ()),
        "files": tuple(File(one["path"], one.get("sha256")) for one in given.get("files") or ()),
        "notes": tuple(Note(one["id"], one["text"], one["time"], one.get("author")) for one in given.get("notes") or ()),
    }


def accepted(attributes: Mapping[str, object]) -> tuple[dict[str, str], list[str]]:
    """Return the attributes that a node accepts, and the names of the others."""
    kept: dict[str, str] = {}
    refused: list[str] = []
    size = 0
    for name, value in attributes.items():
        try:
            text = as_text(value)
            length = len(text.encode())
            size_with = size + length + len(name.encode())
        except (BadInput, UnicodeEncodeError):
            refused.append(name)
            continue
        fits = 0 < len(name.encode()) <= LONGEST_NAME and name.isprintable() and length <= LONGEST_TEXT
        if fits and size_with <= MOST_BYTES and len(kept) < MOST_ATTRIBUTES:
            kept[name], size = text, size_with
        else:
            refused.append(name)
    return kept, refused
