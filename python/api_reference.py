#!/usr/bin/env python3
"""Write docs/python.md from the docstrings of the package, or check that it is current.

    python api_reference.py [--check]

It needs griffe (requirements.txt), which reads the sources without running them.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import griffe

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "python.md"
CALLS = (
    "minimize", "maximize", "Objective", "Result", "Run", "Float", "Int", "Categorical", "Bool", "Fixed", "Parameter", "Asha", "Median", "Forecast",
    "Patience", "StopRule",
)  # fmt: skip
NODES = ("Node", "JoinPreview", "Task", "Trial", "Stop", "Recommendation", "File", "Note", "Event", "Client")
HEAD = """# API of the Python package

`python/api_reference.py` makes this page of the docstrings. [python/README.md](../python/README.md) has the first steps,
[optuna.md](optuna.md) and [clusters.md](clusters.md) describe studies of Optuna and experiments of Ray Tune.
`fbo.__version__` is the version of the package, a text. Names of [types](#types) are explained at the end.
"""
TYPES = (
    ("evaluate", "Function"), ("limits", "Constraints"), ("limits", "Limit"), ("run", "Callback"), ("space", "Space"),
    ("space", "TaskFile"), ("space", "Choice"), ("space", "When"), ("trial", "Value"), ("trial", "Row"),
)  # fmt: skip


def page() -> str:
    """Return the page."""
    package = griffe.load("fbo", search_paths=[HERE / "src"], docstring_parser="google")
    errors = [one for one in package.exports or () if str(one) not in (*CALLS, *NODES, "TrialPruned", "__version__")]
    parts = [HEAD, "## Optimisation", *_objects(package, CALLS, "fbo"), "## Nodes and tasks", *_objects(package, NODES, "fbo")]
    parts += ["## Errors", *_errors(package, [str(one) for one in errors])]
    for module, names in (("optuna", ["Sampler", "Pruner"]), ("ray", ["Search", "Scheduler"]), ("trackers", ["MLflow", "WandB", "TensorBoard"]), ("aio", ["Node", "Task"])):
        parts += [f"## fbo.{module}", *_objects(package[module], names, f"fbo.{module}")]
    rows = [f"| `{name}` | `{package[module][name].value}` |".replace(" | None", " \\| None") for module, name in TYPES]
    parts += ["## Types", "| name | type |\n|---|---|\n" + "\n".join(rows)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _objects(module: Any, names: tuple[str, ...] | list[str], path: str) -> Iterator[str]:
    for name in names:
        one = _target(module[name])
        yield f"### {path}.{name}"
        yield from _described(one, f"{path}.{name}")
        if one.is_class:
            for member in one.members.values():
                if _is_public(member):
                    yield f"#### {path}.{name}.{member.name}".replace(" fbo.", " ")
                    yield from _described(member, f"{name}.{member.name}")


def _is_public(member: Any) -> bool:
    of_class = member.is_function or "property" in member.labels
    # Methods that Optuna and Ray call are part of their interfaces, not of this one.
    called = {"Sampler": ("close", "task"), "Search": (), "Scheduler": (), "Pruner": (), "Client": ("get", "post", "delete", "stream")}
    wanted = member.name in called.get(member.parent.name, (member.name,)) and [str(base) for base in member.parent.bases] != ["Parameter"]
    return bool(of_class and wanted and member.has_docstring and not member.name.startswith("_"))


def _described(one: Any, name: str) -> Iterator[str]:
    if one.is_function:
        yield f"```python\n{_signature(one, name)}\n```"
    elif one.is_class and (init := one.all_members.get("__init__")) is not None and not one.name == "Result":
        if len(init.parameters) > 1 and (init.has_docstring or "dataclass" in one.labels):
            yield f"```python\n{_signature(init, name)}\n```"
    for source in (one, one.members.get("__init__") if one.is_class else None):
        if source is not None and source.has_docstring:
            yield from (_section(section) for section in source.docstring.parsed)


def _signature(function: Any, name: str) -> str:
    parts: list[str] = []
    marked = False
    for one in function.parameters:
        if one.name == "self":
            continue
        if one.kind is griffe.ParameterKind.keyword_only and not marked:
            parts, marked = [*parts, "*"], True
        star = {griffe.ParameterKind.var_positional: "*", griffe.ParameterKind.var_keyword: "**"}.get(one.kind, "")
        default = "" if one.default is None or star else f" = {one.default}".replace("LEASE", "600.0")
        parts.append(f"{star}{one.name}: {one.annotation}{default}")
    returns = f" -> {function.returns}" if function.returns is not None and function.name != "__init__" else ""
    line = f"{name}({', '.join(parts)}){returns}"
    return line if len(line) <= 100 else f"{name}(\n" + "".join(f"    {one},\n" for one in parts) + f"){returns}"


def _section(section: Any) -> str:
    kind, value = section.kind.value, section.value
    if kind == "text":
        return str(value)
    if kind in ("parameters", "attributes"):
        title = "argument" if kind == "parameters" else "attribute"
        return f"| {title} | |\n|---|---|\n" + "\n".join(f"| `{one.name}` | {_line(one.description)} |" for one in value)
    if kind == "raises":
        return "| error | |\n|---|---|\n" + "\n".join(f"| `{one.annotation}` | {_line(one.description)} |" for one in value)
    if kind == "returns":
        return "Returns: " + " ".join(_line(one.description) for one in value)
    return "\n\n".join(text for _, text in value)


def _errors(package: Any, names: list[str]) -> Iterator[str]:
    rows = []
    for name in sorted(names):
        one = _target(package[name])
        text = _line(one.docstring.parsed[0].value)
        more = [f"`{part.name}`: {_line(part.description)}" for section in one.docstring.parsed[1:] for part in section.value]
        bases = ", ".join(f"`{base}`" for base in one.bases)
        rows.append(f"| `fbo.{name}` | {bases} | {' '.join([text, *more])} |")
    yield "| class | bases | |\n|---|---|---|\n" + "\n".join(rows)


def _target(one: Any) -> Any:
    return one.final_target if one.is_alias else one


def _line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main() -> int:
    """Write the page, or with --check compare it."""
    logging.getLogger("griffe").setLevel(logging.ERROR)
    made = page()
    if sys.argv[1:] == ["--check"]:
        if PAGE.read_text(encoding="utf-8") == made:
            return 0
        print(f"{PAGE} is not current: run python/api_reference.py", file=sys.stderr)
        return 1
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
