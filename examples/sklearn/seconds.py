"""Time per trial: fbo-node history --json | python seconds.py"""

import json
import statistics
import sys
from datetime import datetime


def moment(text):
    whole, _, fraction = text.rstrip("Z").partition(".")
    return datetime.fromisoformat(f"{whole}.{fraction:0<6.6}+00:00")


spans = [(moment(trial["finished"]) - moment(trial["started"])).total_seconds()
         for trial in json.load(sys.stdin) if trial["state"] == "done"]
print(f"{len(spans)} trials: the first took {spans[0]:.2f} s, the median of the others is {statistics.median(spans[1:]):.2f} s")
