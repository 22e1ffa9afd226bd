"""Minimises by BoTorch, by TuRBO on BoTorch's models, or by Optuna's GPSampler, one run at a time.

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


class TuRBO(BoTorch):
    """TuRBO-1 of Eriksson et al., "Scalable Global Optimization via Local Bayesian Optimization"
    (NeurIPS 2019), with the constants of that paper, for floats.

    A sample of the posterior is maximised over candidates in a box around the best design of the
    region. The box follows the lengthscales. It doubles after three improvements in turn and
    halves after d others. Below 2^-7 of the range a new region starts, with 2d Sobol designs. The
    first region starts with the designs that all methods have.
    """

    LENGTH, MIN_LENGTH, MAX_LENGTH, SUCCESSES = 0.8, 2**-7, 1.6, 3

    def __init__(self, parameters, seed):
        super().__init__(parameters, seed)
        if self.choices or self.discrete:
            raise ValueError("turbo: expected floats only")
        self.dim = len(parameters)
        self.sobol = torch.quasirandom.SobolEngine(self.dim, scramble=True, seed=seed)
        self.starts, self.modelled = [], False
        self.reset()

    def reset(self):
        self.x, self.y, self.model = [], [], None
        self.length, self.successes, self.failures = self.LENGTH, 0, 0

    def tell(self, x, y):
        best = max((v for (v,) in self.y), default=None)
        super().tell(x, y)
        if not self.modelled:
            return
        improved = -y > best + 1e-3 * abs(best)
        self.successes = self.successes + 1 if improved else 0
        self.failures = 0 if improved else self.failures + 1
        if self.successes == self.SUCCESSES:
            self.length, self.successes = min(2 * self.length, self.MAX_LENGTH), 0
        elif self.failures == self.dim:
            self.length, self.failures = self.length / 2, 0
        if self.length < self.MIN_LENGTH:
            self.reset()
            self.starts = list(self.sobol.draw(2 * self.dim, dtype=torch.double))

    def ask(self, pending):
        if pending:
            raise ValueError("turbo: expected one design at a time")
        self.modelled = not self.starts
        unit = self.candidate() if self.modelled else self.starts.pop()
        x = self.bounds[0] + unit * (self.bounds[1] - self.bounds[0])
        return {p["name"]: value(p, v) for p, v in zip(self.parameters, x.tolist())}

    def candidate(self):
        x = torch.tensor(self.x, dtype=torch.double)
        model = self.fitted(x)
        scales = model.covar_module
        scales = getattr(scales, "base_kernel", scales).lengthscale.detach().squeeze(0)
        scales = scales / scales.log().mean().exp()
        low, high = self.bounds
        centre = (x[max(range(len(self.y)), key=lambda i: self.y[i])] - low) / (high - low)
        bottom = (centre - scales * self.length / 2).clamp(0, 1)
        top = (centre + scales * self.length / 2).clamp(0, 1)
        candidates = min(100 * self.dim, 5000)
        drawn = bottom + (top - bottom) * self.sobol.draw(candidates, dtype=torch.double)
        moved = torch.rand(candidates, self.dim) <= min(20 / self.dim, 1)
        stuck = ~moved.any(dim=1)
        moved[stuck, torch.randint(self.dim, (int(stuck.sum()),))] = True
        drawn = torch.where(moved, drawn, centre)
        with torch.no_grad():
            sample = model.posterior(low + drawn * (high - low)).rsample().flatten()
        return drawn[sample.argmax()]


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


METHODS = {"botorch": BoTorch, "optuna-gp": Optuna, "turbo": TuRBO}
run = None


def answer(request):
    global run
    if "begin" in request:
        begin = request["begin"]
        run = METHODS[begin["method"]](begin["parameters"], begin["seed"])
    for x, y in zip(request["x"], request["y"]):
        run.tell(x, y)
    return {"x": run.ask(request["pending"])}
