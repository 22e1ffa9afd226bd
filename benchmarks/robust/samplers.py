"""Minimises by a sampler of Optuna with its defaults, one run at a time.

The first request of a run has

    "begin": {"method": "tpe", "seed": 7, "parameters": [
        {"name": "a", "type": "float", "low": 0.1, "high": 10, "scale": "log"},
        {"name": "c", "type": "categorical", "choices": ["red", "blue"]}]}

with parameters as in a task file. Each later one has what the design of the last answer
measured: {"value": 1.5}, or {"failed": true}. The answer is the next design, {"x": {...}}.
"""

import optuna

PACKAGES = ("optuna",)
SAMPLERS = {"tpe": "TPESampler", "gp": "GPSampler"}

optuna.logging.set_verbosity(optuna.logging.ERROR)


def distribution(p):
    log = p.get("scale") == "log"
    if p["type"] == "categorical":
        return optuna.distributions.CategoricalDistribution(p["choices"])
    if p["type"] == "int":
        return optuna.distributions.IntDistribution(p["low"], p["high"], log=log)
    return optuna.distributions.FloatDistribution(p["low"], p["high"], log=log)


class Run:
    def __init__(self, method, seed, parameters):
        self.space = {p["name"]: distribution(p) for p in parameters}
        sampler = getattr(optuna.samplers, SAMPLERS[method])(seed=seed)
        self.study = optuna.create_study(direction="minimize", sampler=sampler)
        self.trial = None

    def tell(self, request):
        if request.get("failed"):
            self.study.tell(self.trial, state=optuna.trial.TrialState.FAIL)
        else:
            self.study.tell(self.trial, request["value"])

    def ask(self):
        self.trial = self.study.ask(self.space)
        return self.trial.params


run = None


def answer(request):
    global run
    if "begin" in request:
        run = Run(**request["begin"])
    else:
        run.tell(request)
    return {"x": run.ask()}
