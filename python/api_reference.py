#!/usr/bin/env python3
"""Print the reference of the package in Markdown, made from its docstrings.

python3 python/api_reference.py > python/API.md
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "src"))


def _text(thing: object) -> str:
    """Return a docstring with lists in place of its sections."""
    lines = []
    for line in (inspect.getdoc(thing) or "").splitlines():
        if re.fullmatch(r"(Args|Attributes|Returns|Raises|Example|Yields):", line):
            lines += ["", f"**{line[:-1]}**", ""]
        elif found := re.fullmatch(r" {4}(\*{0,2}\w+): (.*)", line):
            lines.append(f"- `{found[1]}`: {found[2]}")
        else:
            lines.append(re.sub(r"^ {4}", "  " if lines and lines[-1].startswith(("- ", "  ")) else "", line))
    return "\n".join(lines)


def _signature(name: str, thing: object) -> str:
    try:
        text = str(inspect.signature(thing))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return f"`{name}`"
    text = re.sub(r"\bself, |\bself\b|'", "", re.sub(r"<[^>]*>", "…", text))
    return f"`{name}{text}`"


def _members(owner: type) -> list[str]:
    found = []
    for name, member in vars(owner).items():
        if name.startswith("_") or not inspect.getdoc(member):
            continue
        if isinstance(member, property):
            found.append(f"- `{name}`: {_text(member)}".replace("\n", "\n  "))
        elif inspect.isfunction(member):
            found.append(f"\n{_signature(name, member)}\n\n{_text(member)}\n")
    return found


def reference() -> str:
    """Return the reference."""
    import fbo
    import fbo.aio
    import fbo.optuna

    parts = ["# Reference of the Python package", "", "Made from the docstrings by `api_reference.py`."]
    things = [(f"fbo.{name}", getattr(fbo, name)) for name in fbo.__all__ if not name.startswith("__")]
    things += [("fbo.aio.Node", fbo.aio.Node), ("fbo.aio.Task", fbo.aio.Task), ("fbo.optuna.Sampler", fbo.optuna.Sampler)]
    things.sort(key=lambda one: (isinstance(one[1], type), one[0].lower()))
    for name, thing in things:
        parts += ["", f"## {name}", "", _signature(name.rpartition(".")[2], thing), "", _text(thing)]
        if isinstance(thing, type):
            parts += _members(thing)
    text = "\n".join(parts) + "\n"
    return re.sub(r"\n{3,}", "\n\n", text)


if __name__ == "__main__":
    print(reference(), end="")
