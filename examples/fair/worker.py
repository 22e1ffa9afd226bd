"""All trials in one process: fbo-node run task.yaml --worker -- python worker.py --data adult --model rf --constraint dsp=0.05 --dir data"""

import argparse
import json
import os
import sys

# Answers have standard output for themselves; what libraries print goes to standard error.
answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)

import data  # noqa: E402  slow, and done once
import fair  # noqa: E402

parser = argparse.ArgumentParser(description="Answer each line with what one setting of a classifier comes to.")
fair.add_problem(parser)
fair.add_evaluation(parser)
args = parser.parse_args()
limits = fair.problem(parser, args)
if not args.dir:
    parser.error("expected --dir with the folder of the data files")
try:
    split = data.split(data.load(args.data, args.dir, args.sensitive), args.seed, args.rows, args.part)
except data.DataError as error:
    sys.exit(f"worker.py: {error}")

for line in sys.stdin:
    request = json.loads(line)
    try:
        answer = fair.evaluate(split, args.model, args.seed, limits, args.merge, request["parameters"])
    except Exception as error:  # fails this trial, and not the next
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps({"trial": request["trial"], **answer}), file=answers)
