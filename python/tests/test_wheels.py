"""The wheels: the same bytes twice, and what a user gets from them."""

from __future__ import annotations

import os
import platform
import re
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import build_wheels
import pytest

import fbo

SYSTEM = {
    ("linux", "x86_64"): "linux-amd64",
    ("linux", "aarch64"): "linux-arm64",
    ("darwin", "arm64"): "macos-arm64",
    ("darwin", "x86_64"): "macos-amd64",
}.get((sys.platform, platform.machine()))

# Pre-releases in the words of Python packages and of the program.
KINDS = {"a": "alpha", "b": "beta", "rc": "rc"}


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The wheel for this system, and the one without a program."""
    if SYSTEM is None:
        pytest.skip(f"no wheel is built for {sys.platform} {platform.machine()}")
    return build_wheels.build([SYSTEM, "any"], tmp_path_factory.mktemp("wheels"))


def test_the_same_bytes_twice(wheels: list[Path], tmp_path: Path) -> None:
    assert SYSTEM is not None
    again = build_wheels.build([SYSTEM, "any"], tmp_path)
    for one, other in zip(wheels, again, strict=True):
        assert one.name == other.name and one.read_bytes() == other.read_bytes()


def _fresh(wheel: Path, home: Path) -> tuple[Path, dict[str, str]]:
    """Install a wheel into a new environment; return its python and variables that know no fbo-node."""
    subprocess.run([sys.executable, "-m", "venv", home], check=True)
    python = home / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", str(wheel)]
    subprocess.run(install, check=True)
    left = ("FBO_NODE", "PYTHONPATH")
    environment = {name: value for name, value in os.environ.items() if name not in left}
    environment.update(PATH=os.defpath, FBO_DATA_DIR=str(home / "data"))
    return python, environment


def test_pip_install_and_the_readme(wheels: list[Path], tmp_path: Path) -> None:
    python, environment = _fresh(wheels[0], tmp_path / "venv")
    text = (build_wheels.HERE / "README.md").read_text()
    found = re.search(r"```python\n(.*?)```", text, re.S)
    assert found is not None
    said = subprocess.run(
        [python, "-c", found[1]], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert said.returncode == 0, said.stderr[-2000:]
    assert "30 trials with a value, 0 failed" in said.stdout
    versions = []
    for command in ([python, "-m", "fbo"], [python.parent / "fbo-node"]):
        version = subprocess.run([*command, "version"], env=environment, capture_output=True, text=True)
        assert version.returncode == 0 and version.stdout.startswith("fbo-node ")
        versions.append(version.stdout)
        wrong = subprocess.run([*command, "no-such-command"], env=environment, capture_output=True, text=True)
        assert wrong.returncode == 2 and "no-such-command" in wrong.stderr, wrong
    assert versions[0] == versions[1]
    shown = subprocess.run(
        [python, "-c", "import fbo, importlib.metadata; print(fbo.__version__, importlib.metadata.version('fbo'))"],
        env=environment, cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    of_package, of_wheel = shown.stdout.split()
    assert of_package == of_wheel == fbo.__version__ == wheels[0].name.split("-")[1]
    # A program that is built without the tag of a release has the version of its commit.
    of_program = versions[0].split()[1].rstrip(",")
    of_tag = "v" + re.sub(r"(?<=\d)(a|b|rc)(?=\d)", lambda at: f"-{KINDS[at[1]]}.", of_package)
    assert of_program == of_tag or re.search("[0-9a-f]{7}|unreleased", of_program)


def test_the_command_is_the_program(wheels: list[Path], tmp_path: Path) -> None:
    python, environment = _fresh(wheels[0], tmp_path / "venv")
    line = [str(python.parent / "fbo-node"), "serve", "--json", "--mdns=false", "--listen", "/ip4/127.0.0.1/tcp/0"]
    environment["FBO_NODE"] = line[0]  # as a user may set it
    process = subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout as output:
        for shown in output:
            if '"serving"' in shown:
                break
        if sys.platform == "linux":
            assert Path(f"/proc/{process.pid}/exe").readlink().name == "fbo-node", "the program replaces the command"
        process.send_signal(signal.SIGTERM)
        output.read()
    assert process.wait(timeout=60) == 0


def test_without_a_program_it_says_where_to_get_one(wheels: list[Path], tmp_path: Path) -> None:
    python, environment = _fresh(wheels[1], tmp_path / "venv")
    run = [str(python), "-m", "fbo", "version"]
    said = subprocess.run(run, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert said.returncode == 1 and said.stdout == ""
    for part in ("installed without it", "Install the wheel for", "go install ./cmd/fbo-node", "FBO_NODE"):
        assert part in said.stderr
    command = python.parent / "fbo-node"
    said = subprocess.run([command, "version"], env=environment, capture_output=True, text=True)
    assert said.returncode == 1 and "installed without it" in said.stderr
    # The command is the first on the PATH, and runs the program behind it.
    other = tmp_path / "other"
    other.mkdir()
    with zipfile.ZipFile(wheels[0]) as archive:
        (other / "fbo-node").write_bytes(archive.read("fbo/bin/fbo-node"))
    (other / "fbo-node").chmod(0o755)
    environment["PATH"] = os.pathsep.join([str(command.parent), str(other), os.defpath])
    said = subprocess.run([command, "version"], env=environment, capture_output=True, text=True, timeout=60)
    assert said.returncode == 0 and said.stdout.startswith("fbo-node ")


def test_licences(tmp_path: Path) -> None:
    (tmp_path / "linux-amd64.txt").write_text("of others")
    entries = build_wheels.pure_entries()[1]
    entry = build_wheels.licences_of(entries, tmp_path, "linux-amd64")
    assert re.fullmatch(r"fbo-[^/]*\.dist-info/licenses/THIRD_PARTY_LICENSES\.txt", entry.name)
    assert entry.data == b"of others"


def test_tags(tmp_path: Path) -> None:
    name, entries = build_wheels.pure_entries()
    assert name.endswith("-py3-none-any.whl")
    for _, _, tags in build_wheels.SYSTEMS.values():
        program = build_wheels.Entry("fbo/bin/fbo-node", b"program", executable=True)
        files = build_wheels.for_system(entries, tags, program)
        path = tmp_path / "one.whl"
        build_wheels.write(path, files)
        with zipfile.ZipFile(path) as archive:
            assert archive.getinfo("fbo/bin/fbo-node").external_attr >> 16 == 0o100755
            assert "fbo/py.typed" in archive.namelist()
            (about,) = (one for one in archive.namelist() if one.endswith("/WHEEL"))
            lines = archive.read(about).decode().splitlines()
        assert [line.removeprefix("Tag: py3-none-") for line in lines if line.startswith("Tag: ")] == tags.split(".")
        assert "Root-Is-Purelib: false" in lines
