"""A worker with two objectives: the error of a random forest, and the time of a prediction.

For each line such as {"trial": 1, "parameters": {...}} on standard input it prints
{"trial": 1, "value": 0.05, "microseconds": 40.0}: the first objective is the value.
"""

import json
import sys
import time

import digits  # first, since it explains a missing scikit-learn
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold

REPEATS = 5


def measure(images, labels, **settings):
    """Return the error on held-out images, and the shortest prediction of some repeats, in microseconds per image."""
    errors, spans = [], []
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(images, labels):
        forest = RandomForestClassifier(random_state=0, **settings).fit(images[train], labels[train])
        errors.append(np.mean(forest.predict(images[test]) != labels[test]))
        for _ in range(REPEATS):
            begin = time.perf_counter()
            forest.predict(images[test])
            spans.append((time.perf_counter() - begin) / len(test))
    return {"value": float(np.mean(errors)), "microseconds": 1e6 * min(spans)}


def main():
    images, labels = digits.load_digits(return_X_y=True)
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps({"trial": request["trial"], **measure(images, labels, **request["parameters"])}), flush=True)


if __name__ == "__main__":
    main()
