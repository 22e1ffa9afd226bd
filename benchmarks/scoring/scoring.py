# Times the scoring of points by random features in NumPy, one repetition for each
# line on standard input after the first. The first line is a JSON object:
#   frequencies  M/2 rows of d: those of the function to compare with
#   weights      M: a cosine's and a sine's weight for each frequency in turn
#   points       the points, rows of d
#   batches      how many points to score at once
#   checks       how many values to return for comparison
# Two ways are timed: "phases", cos(X W' + b) w with M frequencies and phases, as
# features are usually written; and "pairs", a cosine and a sine of each of M/2
# frequencies, which is the very function that is compared with.
import json
import sys
import time

import numpy as np

task = json.loads(sys.stdin.readline())
half = np.array(task["frequencies"])
weights = np.array(task["weights"])
points = np.array(task["points"])
features = len(weights)
amplitude = np.sqrt(2 / features)

rng = np.random.default_rng(1)
full = np.ascontiguousarray(np.vstack([half, half[::-1]]).T)
phases = rng.uniform(0, 2 * np.pi, features)
half = np.ascontiguousarray(half.T)
cosines, sines = np.ascontiguousarray(weights[0::2]), np.ascontiguousarray(weights[1::2])


def by_phases(x):
    z = x @ full
    z += phases
    np.cos(z, out=z)
    return amplitude * (z @ weights)


def by_pairs(x):
    z = x @ half
    return amplitude * (np.cos(z) @ cosines + np.sin(z) @ sines)


try:
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    blas = f"{blas['name']} {blas['version']}"
except Exception:  # an older NumPy does not tell
    blas = "unknown BLAS"
hello = {"numpy": np.__version__, "blas": blas, "values": by_pairs(points[: task["checks"]]).tolist()}
print(json.dumps(hello), flush=True)

for _ in sys.stdin:
    took = {}
    for name, score in (("phases", by_phases), ("pairs", by_pairs)):
        for batch in task["batches"]:
            x = points[:batch]
            repeat = max(1, max(task["batches"]) // batch)
            begin = time.perf_counter()
            for _ in range(repeat):
                score(x)
            took[f"{name} {batch}"] = (time.perf_counter() - begin) / (repeat * batch)
    print(json.dumps(took), flush=True)
