"""All trials in one process: fbo-node run task.yaml --worker -- python worker.py --site 0"""

import argparse
import json
import os
import sys

# Answers have standard output for themselves; what libraries print goes to standard error.
answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)

import digits  # noqa: E402  slow, and done once

parser = argparse.ArgumentParser()
parser.add_argument("--site", type=int, required=True)
data = digits.load(parser.parse_args().site)

for line in sys.stdin:
    request = json.loads(line)
    try:
        answer = digits.train(data, **request["parameters"])
    except Exception as error:  # fails this trial, and not the next
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps({"trial": request["trial"], **answer}), file=answers)
