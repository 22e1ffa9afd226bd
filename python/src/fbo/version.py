"""The version of this package."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def package_version() -> str:
    """Return the version of the installed package; in a checkout the one that its wheels would have."""
    try:
        return version("fbo")
    except PackageNotFoundError:
        text = (Path(__file__).resolve().parents[2] / "pyproject.toml").read_text()
        found = re.search(r'^version = "(.*)"$', text, re.M)
        assert found is not None
        return found[1]
