"""The program fbo-node, as the command `fbo-node` of this package and as `python -m fbo`."""

from __future__ import annotations

import os
import subprocess
import sys

from .daemon import find_binary
from .errors import BinaryMissing


def run() -> int:
    """Run fbo-node with the arguments of this program, and return its exit code. On Unix it replaces this process."""
    try:
        binary = find_binary()
    except BinaryMissing as error:
        print(error, file=sys.stderr)
        return 1
    line = [binary, *sys.argv[1:]]
    if sys.platform != "win32":
        os.execv(binary, line)
    # Windows has no exec: this process waits. Ctrl-C reaches both, and fbo-node ends.
    process = subprocess.Popen(line)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue


if __name__ == "__main__":
    sys.exit(run())
