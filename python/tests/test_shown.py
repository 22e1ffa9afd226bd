"""Texts for people: repr, and tables in notebooks."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

from conftest import BOWL

import fbo


def _result(count: int, name: str = "x") -> fbo.Result:
    trials = tuple(
        fbo.Trial(i, {name: i / 3, "value": "<b>"}, "done", value=i / 7, why={"source": "initial"}) for i in range(1, count)
    )
    failed = fbo.Trial(count, {name: 0.0, "value": "<b>"}, "failed", reason="<script>alert(1)</script> & more")
    return fbo.Result("<t>", "id", "minimize", dict(trials[0].parameters), 1 / 7, (*trials, failed))


class _Cells(HTMLParser):
    """Collects tags and texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: dict[str, int] = {}
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags[tag] = self.tags.get(tag, 0) + 1

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_the_repr_of_a_result_is_short() -> None:
    shown = repr(_result(1000))
    assert shown == "<fbo.Result of '<t>': best value 0.142857 at x=0.333333, value='<b>'; 999 trials with a value, 1 failed>"
    wide = fbo.Trial(1, {f"p{i}": 1.0 for i in range(100)}, "done", value=1.0)
    assert repr(wide).endswith("p7=1, … 92 more)") and len(repr(wide)) < 200
    assert len(repr(fbo.Result("t", "id", "minimize", wide.parameters, 1.0, (wide,)))) < 200


def test_the_table_of_a_notebook_is_escaped() -> None:
    found = _Cells(_result(4, "<i>")._repr_html_())
    assert set(found.tags) == {"p", "br", "table", "thead", "tbody", "tr", "th", "td"}
    assert found.tags["tr"] == 5 and found.tags["td"] == 4 * found.tags["th"]
    for text in ("<i>", "parameter value", "<b>", "<script>alert(1)</script> & more", "random start", "0.142857"):
        assert text in found.texts
    many = _Cells(_result(1000)._repr_html_())
    assert many.tags["tr"] == 62 and "… 940 more trials, see rows" in many.texts


def test_other_reprs(node: fbo.Node, short_dir: Path) -> None:
    task = node.task(BOWL)
    assert repr(task) == f"<fbo.Task 'bowl': minimize over 2 parameters, ID {task.id}>"
    assert repr(node) == f"<fbo.Node of {str(short_dir)!r}>"
    (trial,) = task.ask()
    assert repr(trial).startswith("Trial(id=1, state='running', value=None: x=")
    ended = task.tell(trial, 0.5, metrics={"a": 1})
    assert repr(ended).startswith("Trial(id=1, state='done', value=0.5, metrics={'a': 1}: x=")
    remote = fbo.Node(url="http://127.0.0.1:1", token="secret")
    assert "127.0.0.1:1" in repr(remote) and "secret" not in repr(remote)
