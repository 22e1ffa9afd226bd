"""`python -m fbo …` is `fbo-node …`, by the program that this package uses."""

from __future__ import annotations

import subprocess
import sys

from .daemon import find_binary
from .errors import BinaryMissing


def main() -> int:
    """Run fbo-node with the arguments of this program."""
    try:
        binary = find_binary()
    except BinaryMissing as error:
        print(error, file=sys.stderr)
        return 1
    process = subprocess.Popen([binary, *sys.argv[1:]])
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:  # fbo-node gets it too, and ends
            continue


if __name__ == "__main__":
    sys.exit(main())
