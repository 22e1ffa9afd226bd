"""The reference of the API is current and complete."""

from __future__ import annotations

from typing import Any

import pytest

import fbo
import fbo.node

griffe = pytest.importorskip("griffe")


def test_the_page_is_current() -> None:
    import api_reference

    assert api_reference.PAGE.read_text(encoding="utf-8") == api_reference.page(), "run python/api_reference.py"
    page = api_reference.page()
    for name in fbo.__all__:
        assert f"### fbo.{name}\n" in page or f"| `fbo.{name}` |" in page or name in ("TrialPruned", "__version__"), name
    assert f"lease: float = {fbo.node.LEASE}" in page


def test_every_argument_is_described() -> None:
    import api_reference

    package = griffe.load("fbo", search_paths=[api_reference.HERE / "src"], docstring_parser="google")
    checked = 0
    for module in package.modules.values():
        for one in (*module.functions.values(), *(method for owner in module.classes.values() for method in owner.functions.values())):
            checked += _check(one, one.docstring)
        for owner in module.classes.values():
            if "dataclass" in owner.labels and not owner.name.startswith("_"):
                checked += _check(owner.all_members["__init__"], owner.docstring)
    assert checked >= 15


def _check(function: Any, docstring: Any) -> bool:
    """Check that a docstring with a list of arguments has all of them, and return whether it has one."""
    described = [
        one.name
        for section in (docstring.parsed if docstring else ())
        if section.kind is griffe.DocstringSectionKind.parameters
        for one in section.value
    ]
    if not described:
        return False
    assert described == [one.name for one in function.parameters if one.name != "self"], function.path
    return True
