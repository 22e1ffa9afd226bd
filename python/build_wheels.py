#!/usr/bin/env python3
"""Build the wheels: one per system with fbo-node in it, and one without for all others.

    python3 python/build_wheels.py [--out DIR] [--licences DIR] [SYSTEM ...]

A system is linux-amd64, linux-arm64, macos-arm64, macos-amd64, windows-amd64 or any; without
one all are built. It needs Go and pip, which fetches setuptools. The same sources, Go and
zlib give the same bytes. Wheels for others have to come with the licences of the modules in the
program: DIR has SYSTEM.txt for each, as `go run ./internal/release` makes them.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
ANY = "any"

# The program is linked statically, and so runs with every libc; macOS 12 is the oldest that Go supports.
SYSTEMS = {
    "linux-amd64": ("linux", "amd64", "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"),
    "linux-arm64": ("linux", "arm64", "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"),
    "macos-arm64": ("darwin", "arm64", "macosx_12_0_arm64"),
    "macos-amd64": ("darwin", "amd64", "macosx_12_0_x86_64"),
    "windows-amd64": ("windows", "amd64", "win_amd64"),
}


@dataclass(frozen=True)
class Entry:
    """A file in a wheel."""

    name: str
    data: bytes
    executable: bool = False


def build_program(path: Path, goos: str = "", goarch: str = "") -> None:
    """Build fbo-node, for this system unless others are named."""
    environment = {**os.environ, "CGO_ENABLED": "0"}
    if goos:
        environment.update(GOOS=goos, GOARCH=goarch)
    command = ["go", "build", "-trimpath", "-ldflags", "-s -w -buildid=", "-o", str(path), "./cmd/fbo-node"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)


def pure_entries() -> tuple[str, list[Entry]]:
    """Have setuptools make the wheel without a program; return its name and files but for RECORD."""
    with tempfile.TemporaryDirectory() as directory:
        source, out = Path(directory, "source"), Path(directory, "out")
        left = shutil.ignore_patterns("bin", "__pycache__", "*.egg-info")
        shutil.copytree(HERE / "src", source / "src", ignore=left)
        for path in (HERE / "pyproject.toml", HERE / "README.md", ROOT / "LICENSE"):
            shutil.copy(path, source)
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
        command += ["--no-deps", "--wheel-dir", str(out), str(source)]
        subprocess.run(command, check=True)
        (wheel,) = out.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            entries = [Entry(name, archive.read(name)) for name in archive.namelist()]
        return wheel.name, [entry for entry in entries if not entry.name.endswith("/RECORD")]


def for_system(entries: list[Entry], tags: str, program: Entry) -> list[Entry]:
    """Put a program into the files of a wheel."""
    made = [program]
    for entry in entries:
        if entry.name.endswith(".dist-info/WHEEL"):
            text = entry.data.decode().replace("Root-Is-Purelib: true", "Root-Is-Purelib: false")
            lines = [f"Tag: py3-none-{tag}" for tag in tags.split(".")]
            text = text.replace("Tag: py3-none-any", "\n".join(lines))
            entry = Entry(entry.name, text.encode())
        made.append(entry)
    return made


def write(path: Path, entries: list[Entry]) -> None:
    """Write a wheel whose bytes depend on its files only."""
    (info,) = {entry.name.split("/")[0] for entry in entries if ".dist-info/" in entry.name}
    # What describes the wheel stands at its end, as the format recommends.
    ordered = sorted(entries, key=lambda entry: (entry.name.startswith(info), entry.name))
    record = f"{info}/RECORD"
    lines = [f"{entry.name},sha256={_digest(entry.data)},{len(entry.data)}" for entry in ordered]
    lines.append(f"{record},,")
    ordered.append(Entry(record, ("\n".join(lines) + "\n").encode()))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for entry in ordered:
            one = zipfile.ZipInfo(entry.name, (1980, 1, 1, 0, 0, 0))
            one.create_system = 3  # Unix, whose modes follow
            one.external_attr = (0o100755 if entry.executable else 0o100644) << 16
            one.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(one, entry.data)


def licences_of(entries: list[Entry], directory: Path, system: str) -> Entry:
    """Return the licences of the modules in a system's program, in their place in a wheel."""
    (own,) = (entry.name for entry in entries if entry.name.endswith("/LICENSE"))
    return Entry(own.replace("LICENSE", "THIRD_PARTY_LICENSES.txt"), (directory / f"{system}.txt").read_bytes())


def build(systems: list[str], out: Path, licences: Path | None = None) -> list[Path]:
    """Build the wheels of these systems, and return their paths."""
    out.mkdir(parents=True, exist_ok=True)
    name, entries = pure_entries()
    paths = []
    for system in systems:
        if system == ANY:
            path, files = out / name, entries
        else:
            goos, goarch, tags = SYSTEMS[system]
            path = out / name.replace("-py3-none-any", f"-py3-none-{tags}")
            program = "fbo-node.exe" if goos == "windows" else "fbo-node"
            with tempfile.TemporaryDirectory() as directory:
                built = Path(directory, program)
                build_program(built, goos, goarch)
                files = for_system(entries, tags, Entry(f"fbo/bin/{program}", built.read_bytes(), executable=True))
            if licences is not None:
                files.append(licences_of(entries, licences, system))
        write(path, files)
        paths.append(path)
    return paths


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def main() -> None:
    """Build what the command line names."""
    parser = argparse.ArgumentParser(description="Build the wheels of fbo.")
    known = [*SYSTEMS, ANY]
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", help=f"of {', '.join(known)}; default: all")
    parser.add_argument("--out", type=Path, default=HERE / "dist", help="where to (default: python/dist)")
    parser.add_argument("--licences", type=Path, help="folder of the modules' licences (default: wheels have none)")
    given = parser.parse_args()
    for system in given.systems:
        if system not in known:
            parser.error(f"SYSTEM {system!r}: expected {', '.join(known)}")
    for path in build(given.systems or known, given.out, given.licences):
        print(f"{path}  {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
