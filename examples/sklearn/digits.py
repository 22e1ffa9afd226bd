"""The training: a support vector machine on one site's handwritten digits."""

import sys

try:
    import numpy as np
    from sklearn.datasets import load_digits
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.svm import SVC
except ImportError as error:
    sys.exit(f"digits.py: scikit-learn is missing ({error}); install it with: "
             f"{sys.executable} -m pip install -r requirements.txt")

SITES = 4


def load(site):
    """Return images and digits of a site: every fourth, from its number on."""
    if not 0 <= site < SITES:
        sys.exit(f"digits.py: site {site}: expected 0 to {SITES - 1}")
    images, digits = load_digits(return_X_y=True)
    return images[site::SITES], digits[site::SITES]


def train(data, **settings):
    """Return the accuracy on what was held out, and the smallest of its five parts."""
    images, digits = data
    parts = StratifiedKFold(5, shuffle=True, random_state=0)
    scores = cross_val_score(SVC(**settings), images, digits, cv=parts)
    return {"value": float(np.mean(scores)), "worst_part": float(np.min(scores))}
