"""Minimises by BoTorch or by Optuna's GPSampler, one run at a time.

The first request of a run has

    "begin": {"method": "botorch", "seed": 7, "parameters": [
        {"name": "a", "type": "float", "low": 0.1, "high": 10, "scale": "log"},
        {"name": "b", "type": "int", "low": 1, "high": 9},
        {"name": "c", "type": "categorical", "choices": ["red", "blue"]}]}

with parameters as in a task file. Each request has what was observed since the last one,
{"x": [{"a": 0.5, "b": 4, "c": "red"}], "y": [1.5], "pending": [...]}, and the designs that are being
evaluated. The answer is the next design, {"x": {...}}.
"""

import math

import optuna
import torch
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import MixedSingleTaskGP, SingleTaskGP
from botorch.models.transforms.input import Normalize
from botorch.models.transforms.outcome import Standardize
from botorch.optim import optimize_acqf, optimize_acqf_mixed_alternating
from gpytorch.mlls import ExactMarginalLogLikelihood

PACKAGES = ("botorch", "gpytorch", "optuna", "torch")

torch.set_num_threads(1)
optuna.logging.set_verbosity(optuna.logging.ERROR)


def coordinate(p, value):
    if p["type"] == "categorical":
        return p["choices"].index(value)
    return math.log(value) if p.get("scale") == "log" else value


def value(p, coordinate):
    if p["type"] == "categorical":
        return p["choices"][round(coordinate)]
    v = math.exp(coordinate) if p.get("scale") == "log" else coordinate
    v = min(max(v, p["low"]), p["high"])  # which rounding may leave by a hair
    return round(v) if p["type"] == "int" else v


class BoTorch:
    """Expected improvement with what BoTorch recommends, and its defaults.

    Floats only: SingleTaskGP and optimize_acqf. Otherwise optimize_acqf_mixed_alternating,
    which BoTorch takes by itself for more than ten combinations of ints and choices, and
    with choices MixedSingleTaskGP, whose kernel compares them by whether they are equal.
    Parameters with a logarithmic scale enter by their logarithms.
    """

    RESTARTS, RAW_SAMPLES = 10, 512  # of optimize_acqf, which has no defaults for them

    def __init__(self, parameters, seed):
        torch.manual_seed(seed)
        self.parameters = parameters
        self.x, self.y, self.model = [], [], None
        self.ordered, self.discrete, self.choices = [], {}, {}
        bounds = []
        for i, p in enumerate(parameters):
            if p["type"] == "categorical":
                self.choices[i] = list(range(len(p["choices"])))
                bounds.append((0, len(p["choices"]) - 1))
                continue
            self.ordered.append(i)
            if p["type"] == "int":
                self.discrete[i] = [coordinate(p, v) for v in range(p["low"], p["high"] + 1)]
            bounds.append((coordinate(p, p["low"]), coordinate(p, p["high"])))
        self.bounds = torch.tensor(bounds, dtype=torch.double).T

    def coordinates(self, x):
        return [coordinate(p, x[p["name"]]) for p in self.parameters]

    def tell(self, x, y):
        self.x.append(self.coordinates(x))
        self.y.append([-y])  # BoTorch maximises
        self.model = None

    def ask(self, pending):
        x = torch.tensor(self.x, dtype=torch.double)
        if self.model is None:
            self.model = self.fitted(x)
        acquisition = qLogNoisyExpectedImprovement(
            model=self.model,
            X_baseline=x,
            X_pending=torch.tensor([self.coordinates(p) for p in pending], dtype=torch.double) if pending else None,
        )
        if self.choices or self.discrete:
            best, _ = optimize_acqf_mixed_alternating(
                acquisition, bounds=self.bounds, discrete_dims=self.discrete, cat_dims=self.choices
            )
        else:
            best, _ = optimize_acqf(
                acquisition, bounds=self.bounds, q=1, num_restarts=self.RESTARTS, raw_samples=self.RAW_SAMPLES
            )
        return {p["name"]: value(p, v) for p, v in zip(self.parameters, best.squeeze(0).tolist())}

    def fitted(self, x):
        y = torch.tensor(self.y, dtype=torch.double)
        transforms = {"outcome_transform": Standardize(m=1)}
        if self.ordered:
            transforms["input_transform"] = Normalize(
                d=len(self.parameters), indices=self.ordered, bounds=self.bounds[:, self.ordered]
            )
        if self.choices:
            model = MixedSingleTaskGP(x, y, cat_dims=list(self.choices), **transforms)
        else:
            model = SingleTaskGP(x, y, **transforms)
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model


class Optuna:
    """GPSampler with its defaults, but that it draws nothing at random: by itself it would
    until ten trials are there, and the starting designs are the same for all methods."""

    def __init__(self, parameters, seed):
        self.space = {}
        for p in parameters:
            log = p.get("scale") == "log"
            if p["type"] == "categorical":
                distribution = optuna.distributions.CategoricalDistribution(p["choices"])
            elif p["type"] == "int":
                distribution = optuna.distributions.IntDistribution(p["low"], p["high"], log=log)
            else:
                distribution = optuna.distributions.FloatDistribution(p["low"], p["high"], log=log)
            self.space[p["name"]] = distribution
        self.study = optuna.create_study(
            direction="minimize", sampler=optuna.samplers.GPSampler(seed=seed, n_startup_trials=1)
        )
        self.trial = None

    def tell(self, x, y):
        if self.trial is not None:
            self.study.tell(self.trial, y)
            self.trial = None
        else:  # it was not asked for: a starting design
            self.study.add_trial(optuna.trial.create_trial(params=x, distributions=self.space, value=y))

    def ask(self, pending):
        self.trial = self.study.ask(self.space)
        return self.trial.params


METHODS = {"botorch": BoTorch, "optuna-gp": Optuna}
run = None


def answer(request):
    global run
    if "begin" in request:
        begin = request["begin"]
        run = METHODS[begin["method"]](begin["parameters"], begin["seed"])
    for x, y in zip(request["x"], request["y"]):
        run.tell(x, y)
    return {"x": run.ask(request["pending"])}
