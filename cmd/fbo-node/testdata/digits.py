"""A site's training: python digits.py SEED SITE reads trials and writes losses, a line each.

The images of handwritten digits that come with scikit-learn are dealt out anew for each
seed, so that every site has some of its own.
"""

import json
import sys

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

SITES = 5
seed, site = int(sys.argv[1]), int(sys.argv[2])
images, digits = load_digits(return_X_y=True)
own = np.random.default_rng(seed).permutation(len(digits))[site::SITES]

for line in sys.stdin:
    request = json.loads(line)
    machine = SVC(**request["parameters"])
    loss = 1 - cross_val_score(machine, images[own] / 16, digits[own], cv=3).mean()
    print(json.dumps({"trial": request["trial"], "value": loss}), flush=True)
