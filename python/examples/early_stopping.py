"""Train a linear model epoch by epoch. The node stops trainings that are worse than others at the same epoch."""

import random

import fbo

_random = random.Random(1)
POINTS = [(x := _random.uniform(-1, 1), 2.0 * x - 0.5 + _random.gauss(0, 0.1)) for _ in range(200)]
EPOCHS = 27


class Line:
    """A line that is fitted by stochastic gradient descent."""

    def __init__(self, rate: float, decay: float) -> None:
        self.slope, self.offset, self.rate, self.decay = 0.0, 0.0, rate, decay

    def partial_fit(self, points: list[tuple[float, float]]) -> None:
        """Make one pass over the points."""
        for x, y in points:
            error = self.slope * x + self.offset - y
            self.slope -= self.rate * error * x
            self.offset -= self.rate * error
        self.rate *= self.decay

    def loss(self, points: list[tuple[float, float]]) -> float:
        """Return the mean squared error."""
        return sum((self.slope * x + self.offset - y) ** 2 for x, y in points) / len(points)


def train(rate: float, decay: float, trial: fbo.Trial) -> float:
    """Return the loss after all epochs. It is reported after each."""
    model = Line(rate, decay)
    for epoch in range(1, EPOCHS + 1):
        model.partial_fit(POINTS[:100])
        trial.report(epoch, model.loss(POINTS[100:]))
        if trial.should_stop():
            raise fbo.TrialStopped
    return model.loss(POINTS[100:])


if __name__ == "__main__":
    space = [fbo.Float("rate", 1e-5, 1, log=True), fbo.Float("decay", 0.5, 1)]
    result = fbo.minimize(train, space, evals=30, stop=fbo.Asha(grace_period=3), seed=1)
    print(result)
    epochs = sum(len(trial.steps) for trial in result.trials)
    print(f"{epochs} epochs of {EPOCHS * len(result.trials)}")
