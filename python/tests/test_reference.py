"""The reference of the package."""

from __future__ import annotations

import inspect
import sys

import api_reference
import pytest

import fbo


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="signatures differ between versions of Python")
def test_the_reference_is_current() -> None:
    written = (api_reference.HERE / "API.md").read_text()
    assert written == api_reference.reference(), "run python3 python/api_reference.py > python/API.md"


def test_public_names_have_docstrings() -> None:
    for name in fbo.__all__:
        thing = getattr(fbo, name)
        if inspect.isfunction(thing) or inspect.isclass(thing):
            assert inspect.getdoc(thing), name
            assert f"## fbo.{name}\n" in api_reference.reference()
