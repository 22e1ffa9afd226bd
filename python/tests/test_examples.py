"""What readers are shown is run: the examples, the notebook, the README."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[1]
EXAMPLES = HERE / "examples"


@pytest.fixture
def environment(binary: str, tmp_path: Path) -> dict[str, str]:
    return {
        **os.environ,
        "FBO_NODE": binary,
        "FBO_DATA_DIR": str(tmp_path / "data"),
        "PYTHONPATH": str(HERE / "src"),
        "PYTHONWARNINGS": "error",
    }


def _run(arguments: list[str], environment: dict[str, str]) -> str:
    process = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, timeout=300
    )
    assert process.returncode == 0, process.stderr[-2000:]
    return process.stdout


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("alone", r"best value 0\.0\d+ at .*model='exponential'\n40 trials with a value, 0 failed"),
        ("together", r"second site: (?s:.*)\n1 peer had a part in trials \[\d"),
        ("early_stopping", r"best value \S+ at rate=.*\n\d+ trials with a value, 0 failed, [1-9]\d* stopped early\n\d+ epochs of 810"),
        ("ask_tell", r"Trial\(id=.*state='done'"),
    ],
)
def test_examples(name: str, expected: str, environment: dict[str, str]) -> None:
    assert re.search(expected, _run([str(EXAMPLES / f"{name}.py")], environment))


def test_every_example_is_run() -> None:
    # Those of Optuna and Ray are run in test_optuna.py and test_ray.py.
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {"alone", "together", "ask_tell", "early_stopping", "optuna_study", "ray_tune"}


def test_readme(environment: dict[str, str]) -> None:
    text = (HERE / "README.md").read_text()
    found = re.search(r"```python\n(.*?)```\n\n((?:    [^\n]*\n)+)", text, re.S)
    assert found is not None
    said = _run(["-c", found[1]], environment)
    shown = re.sub("(?m)^    ", "", found[2])
    # Other processors round otherwise, and so may take other designs late in the search.
    for result in (said, shown):
        assert re.fullmatch(r"best value \S+e-0\d at rate=0\.0\d+, depth=4\n30 trials with a value, 0 failed\n", result)


def test_the_program_with_limits_in_the_readme(environment: dict[str, str]) -> None:
    programs = re.findall(r"```python\n(.*?)```", (HERE / "README.md").read_text(), re.S)
    (program,) = (one for one in programs if " constraints=" in one)
    assert re.fullmatch(r"[1-7] {'memory_mb': \d+(\.0)?}\n", _run(["-c", program], environment))


def test_the_program_with_conditions_in_the_readme(environment: dict[str, str]) -> None:
    programs = re.findall(r"```python\n(.*?)```", (HERE / "README.md").read_text(), re.S)
    (program,) = (one for one in programs if "parameter_constraints=" in one)
    assert _run(["-c", program], environment).startswith("best value")


def test_the_program_with_steps_in_the_readme(environment: dict[str, str]) -> None:
    programs = re.findall(r"```python\n(.*?)```", (HERE / "README.md").read_text(), re.S)
    (program,) = (one for one in programs if "trial.report" in one)
    assert re.search(r"0 failed, [1-9]\d* stopped early\n\[\d", _run(["-c", program], environment))


def test_the_program_with_objectives_in_the_readme(environment: dict[str, str]) -> None:
    programs = re.findall(r"```python\n(.*?)```", (HERE / "README.md").read_text(), re.S)
    (program,) = (one for one in programs if "fbo.Objective" in one)
    front = [tuple(map(float, line.split()[2:])) for line in _run(["-c", program], environment).splitlines()]
    assert len(front) > 3 and front == sorted(front) and [speed for _, speed in front] == sorted(speed for _, speed in front)


def test_notebook(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    pytest.importorskip("cloudpickle")
    notebook = nbformat.read(EXAMPLES / "fbo.ipynb", as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code), "outputs are not committed"
    environment.pop("PYTHONWARNINGS")  # those of Jupyter are not ours
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    kinds = [{kind for output in cell.outputs for kind in output.get("data", {})} for cell in code]
    assert "best value" in str(code[0].outputs)
    assert "text/html" in kinds[1] and "image/png" in kinds[2] and "text/plain" in kinds[3]
