"""What one site reaches alone with Optuna's TPE: python tpe.py [SEEDS]

It prints the regret in accuracy after 1, 3 and 5 trials. Each seed is of one of the sites in turn.
The reference is the best of a grid of 32 times 32 settings of that site.
"""

import math
import statistics
import sys

import digits
import optuna

SEEDS = int(sys.argv[1]) if len(sys.argv) > 1 else 20
CHECKPOINTS = (1, 3, 5)
BOUNDS = {"C": (0.001, 1000), "gamma": (0.00001, 10)}  # as in task.yaml


def grid(low, high, count):
    """Return count values from low to high on a log scale."""
    step = math.log(high / low) / (count - 1)
    return [low * math.exp(step * i) for i in range(count)]


def best(data):
    """Return the best accuracy on a grid."""
    return max(digits.train(data, C=C, gamma=gamma)["value"] for C in grid(*BOUNDS["C"], 32) for gamma in grid(*BOUNDS["gamma"], 32))


def accuracies(data, seed):
    """Return the accuracies of the trials of one study."""
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(lambda trial: digits.train(data, **{
        name: trial.suggest_float(name, low, high, log=True) for name, (low, high) in BOUNDS.items()
    })["value"], n_trials=max(CHECKPOINTS))
    return [trial.value for trial in study.trials]


optuna.logging.set_verbosity(optuna.logging.WARNING)
data = [digits.load(site) for site in range(digits.SITES)]
references = [best(of) for of in data]
runs = [(seed % digits.SITES, accuracies(data[seed % digits.SITES], seed)) for seed in range(SEEDS)]
for t in CHECKPOINTS:
    regrets = [references[site] - max(values[:t]) for site, values in runs]
    error = statistics.stdev(regrets) / math.sqrt(SEEDS)
    print(f"after {t}: {statistics.mean(regrets):.4f} ± {error:.4f}, median {statistics.median(regrets):.4f}")
