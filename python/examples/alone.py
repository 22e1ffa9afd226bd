"""Fit a curve to measurements, with two processes that evaluate side by side."""

import math
import random

import fbo

_random = random.Random(1)
DATA = [(t, 3.0 * math.exp(-0.4 * t) + _random.gauss(0, 0.05)) for t in range(20)]


def loss(height: float, rate: float, model: str) -> float:
    """Return the mean squared error of a model of decay."""
    if model == "exponential":
        predicted = [height * math.exp(-rate * t) for t, _ in DATA]
    else:
        predicted = [height / (1 + rate * t) for t, _ in DATA]
    return sum((y - p) ** 2 for (_, y), p in zip(DATA, predicted)) / len(DATA)


SPACE = [
    fbo.Float("height", 1, 10, log=True),
    fbo.Float("rate", 0.1, 2, log=True),
    fbo.Categorical("model", ["exponential", "hyperbolic"]),
]

if __name__ == "__main__":
    result = fbo.minimize(loss, SPACE, evals=40, workers=2, seed=1)
    print(result)
    for row in result.rows[-3:]:
        print(f"trial {row['trial']}: {row['value']:.4f}, {row['why']}")
