"""Compare samplers on problems with conditional parameters.

    python benchmarks/conditional.py --seeds 10 --json results.json

Each study has 40 trials; its result is the best value. The problems:

- classifier: the example of Optuna's documentation. A classifier, then the parameters of that classifier.
- tree: three levels of choices, with floats that only some of them have.
- network: one to four layers, each with a width and a dropout rate.
- digits: the error of an SVC, a random forest or gradient boosting on 400 images of scikit-learn's digits, in
  3-fold cross-validation.

The first three are formulas with the minimum 0. The results are appended to the file as they are made; a second
call with the same file makes only those that it does not have. The samplers smac (SMAC3 with the conditions in
ConfigSpace) and the problem digits need smac and scikit-learn.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import math
import statistics
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

import fbo
from fbo.optuna import Sampler

FLAGS = ["--mdns=false", "--listen", "/ip4/127.0.0.1/tcp/0", "--wait-for-peers", "0"]
SAMPLERS = ("random", "tpe", "tpe-group", "smac", "fbo", "fbo-space", "fbo-conditions")

Conditions = Mapping[str, Mapping[str, Any]]
Best = Callable[["Problem", int, int], float]  # of a problem, a seed and a number of trials


@dataclass(frozen=True)
class Problem:
    """An objective, and what of its space a user can state beforehand."""

    name: str
    objective: Callable[[optuna.trial.BaseTrial], float]
    space: Mapping[str, BaseDistribution]
    conditions: Conditions


def suggest(trial: optuna.trial.BaseTrial, name: str, one: BaseDistribution) -> Any:
    if isinstance(one, CategoricalDistribution):
        return trial.suggest_categorical(name, one.choices)
    if isinstance(one, IntDistribution):
        return trial.suggest_int(name, one.low, one.high, step=one.step, log=one.log)
    assert isinstance(one, FloatDistribution)
    return trial.suggest_float(name, one.low, one.high, step=one.step, log=one.log)


CLASSIFIER: dict[str, BaseDistribution] = {
    "classifier": CategoricalDistribution(["SVC", "RandomForest"]),
    "svc_c": FloatDistribution(1e-4, 1e4, log=True),
    "svc_gamma": FloatDistribution(1e-5, 1e1, log=True),
    "rf_max_depth": IntDistribution(2, 32),
    "rf_n": IntDistribution(2, 32, step=2),
}


def classifier(trial: optuna.trial.BaseTrial) -> float:
    if suggest(trial, "classifier", CLASSIFIER["classifier"]) == "SVC":
        c = suggest(trial, "svc_c", CLASSIFIER["svc_c"])
        gamma = suggest(trial, "svc_gamma", CLASSIFIER["svc_gamma"])
        return float((math.log10(c) - 1) ** 2 + (math.log10(gamma) + 2) ** 2) / 10
    depth = suggest(trial, "rf_max_depth", CLASSIFIER["rf_max_depth"])
    n = suggest(trial, "rf_n", CLASSIFIER["rf_n"])
    return float(0.1 + abs(depth - 20) / 30 + abs(n - 10) / 50)


TREE: dict[str, BaseDistribution] = {"root": CategoricalDistribution(["a", "b"])}
TREE_CONDITIONS: dict[str, dict[str, Any]] = {}
for _root in "ab":
    TREE[f"{_root}_side"] = CategoricalDistribution(["l", "r"])
    TREE_CONDITIONS[f"{_root}_side"] = {"root": _root}
    for _side in "lr":
        _at = f"{_root}{_side}"
        TREE[f"{_at}_x"] = FloatDistribution(0, 1)
        TREE[f"{_at}_leaf"] = CategoricalDistribution(["p", "q"])
        TREE_CONDITIONS[f"{_at}_x"] = TREE_CONDITIONS[f"{_at}_leaf"] = {f"{_root}_side": _side}
        for _leaf in "pq":
            TREE[f"{_at}{_leaf}_y"] = FloatDistribution(0, 1)
            TREE_CONDITIONS[f"{_at}{_leaf}_y"] = {f"{_at}_leaf": _leaf}

# The offset of each leaf, and where its two floats are best. The best leaf is in the worse half at the root.
LEAVES = {
    "alp": (0.10, 0.3, 0.8), "alq": (0.15, 0.3, 0.2), "arp": (0.12, 0.7, 0.5), "arq": (0.20, 0.7, 0.9),
    "blp": (0.30, 0.2, 0.6), "blq": (0.40, 0.2, 0.1), "brp": (0.00, 0.8, 0.35), "brq": (0.35, 0.8, 0.7),
}  # fmt: skip


def tree(trial: optuna.trial.BaseTrial) -> float:
    at = suggest(trial, "root", TREE["root"])
    at += suggest(trial, f"{at}_side", TREE[f"{at}_side"])
    x = suggest(trial, f"{at}_x", TREE[f"{at}_x"])
    at += suggest(trial, f"{at}_leaf", TREE[f"{at}_leaf"])
    y = suggest(trial, f"{at}_y", TREE[f"{at}_y"])
    offset, best_x, best_y = LEAVES[at]
    return float(offset + (x - best_x) ** 2 + (y - best_y) ** 2)


NETWORK: dict[str, BaseDistribution] = {"layers": IntDistribution(1, 4), "rate": FloatDistribution(1e-5, 1e-1, log=True)}
NETWORK_CONDITIONS: dict[str, dict[str, Any]] = {}
for _layer in range(1, 5):
    for _name, _one in (("units", IntDistribution(4, 256, log=True)), ("dropout", FloatDistribution(0, 0.5))):
        NETWORK[f"{_name}_{_layer}"] = _one
        if _layer > 1:
            NETWORK_CONDITIONS[f"{_name}_{_layer}"] = {"layers": {"low": _layer}}


def network(trial: optuna.trial.BaseTrial) -> float:
    layers = suggest(trial, "layers", NETWORK["layers"])
    value = 0.05 * abs(layers - 3) + (math.log10(suggest(trial, "rate", NETWORK["rate"])) + 3) ** 2 / 10
    for i in range(1, layers + 1):
        units, dropout = (suggest(trial, name, NETWORK[name]) for name in (f"units_{i}", f"dropout_{i}"))
        value += ((math.log2(units) - (8 - i)) ** 2 / 20 + 2 * (dropout - 0.1 * i) ** 2) / layers
    return float(value)


DIGITS: dict[str, BaseDistribution] = {
    "model": CategoricalDistribution(["svc", "forest", "boosting"]),
    "svc_c": FloatDistribution(1e-3, 1e3, log=True),
    "svc_gamma": FloatDistribution(1e-6, 1, log=True),
    "forest_trees": IntDistribution(5, 40),
    "forest_depth": IntDistribution(2, 16),
    "forest_features": FloatDistribution(0.05, 1),
    "boosting_trees": IntDistribution(3, 15),
    "boosting_rate": FloatDistribution(0.01, 1, log=True),
    "boosting_depth": IntDistribution(1, 4),
}
DIGITS_CONDITIONS = {name: {"model": name.partition("_")[0]} for name in DIGITS if name != "model"}


@lru_cache
def images() -> tuple[Any, Any]:
    from sklearn.datasets import load_digits

    inputs, labels = load_digits(return_X_y=True)
    return inputs[:400], labels[:400]


def digits(trial: optuna.trial.BaseTrial) -> float:
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.model_selection import cross_val_score
    from sklearn.svm import SVC

    chosen = suggest(trial, "model", DIGITS["model"])
    of = {name.partition("_")[2]: suggest(trial, name, one) for name, one in DIGITS.items() if name.startswith(f"{chosen}_")}
    if chosen == "svc":
        model = SVC(C=of["c"], gamma=of["gamma"])
    elif chosen == "forest":
        model = RandomForestClassifier(of["trees"], max_depth=of["depth"], max_features=of["features"], random_state=1)
    else:
        model = GradientBoostingClassifier(
            n_estimators=of["trees"], learning_rate=of["rate"], max_depth=of["depth"], max_features="sqrt", random_state=1
        )
    return 1 - float(cross_val_score(model, *images(), cv=3).mean())


PROBLEMS = {
    one.name: one
    for one in (
        Problem("classifier", classifier, CLASSIFIER, {
            **{name: {"classifier": "SVC"} for name in ("svc_c", "svc_gamma")},
            **{name: {"classifier": "RandomForest"} for name in ("rf_max_depth", "rf_n")},
        }),
        Problem("tree", tree, TREE, TREE_CONDITIONS),
        Problem("network", network, NETWORK, NETWORK_CONDITIONS),
        Problem("digits", digits, DIGITS, DIGITS_CONDITIONS),
    )
}  # fmt: skip


def by_optuna(make: Callable[[Problem, int], optuna.samplers.BaseSampler]) -> Best:
    def best(problem: Problem, seed: int, trials: int) -> float:
        study = optuna.create_study(sampler=make(problem, seed))
        study.optimize(problem.objective, n_trials=trials)
        return study.best_value

    return best


def by_smac(problem: Problem, seed: int, trials: int) -> float:
    import smac

    best = math.inf

    def evaluated(configuration: Any, seed: int = 0) -> float:
        nonlocal best
        value = problem.objective(optuna.trial.FixedTrial(dict(configuration)))
        best = min(best, value)
        return value

    with tempfile.TemporaryDirectory(prefix="smac-") as directory:
        scenario = smac.Scenario(
            config_space(problem), n_trials=trials, seed=seed, deterministic=True, output_directory=Path(directory)
        )
        smac.HyperparameterOptimizationFacade(scenario, evaluated, logging_level=logging.ERROR, overwrite=True).optimize()
    return best


def config_space(problem: Problem) -> Any:
    """Return the problem's space with its conditions, for SMAC."""
    import ConfigSpace as cs

    space = cs.ConfigurationSpace()
    made: dict[str, Any] = {}
    for name, one in problem.space.items():
        if isinstance(one, CategoricalDistribution):
            made[name] = cs.CategoricalHyperparameter(name, list(one.choices))
        elif isinstance(one, FloatDistribution):
            made[name] = cs.UniformFloatHyperparameter(name, one.low, one.high, log=one.log)
        elif isinstance(one, IntDistribution) and one.step > 1:
            made[name] = cs.OrdinalHyperparameter(name, list(range(one.low, one.high + 1, one.step)))
        elif isinstance(one, IntDistribution):
            made[name] = cs.UniformIntegerHyperparameter(name, one.low, one.high, log=one.log)
    space.add(list(made.values()))
    for name, when in problem.conditions.items():
        ((parent, value),) = when.items()
        if isinstance(value, Mapping):
            accepted = list(range(value["low"], made[parent].upper + 1))
            space.add(cs.InCondition(made[name], made[parent], accepted))
        else:
            space.add(cs.EqualsCondition(made[name], made[parent], value))
    return space


def samplers(node: fbo.Node, startup: int) -> dict[str, Best]:
    def by_fbo(kind: str, **of: Callable[[Problem], Any]) -> Best:
        return by_optuna(
            lambda problem, seed: Sampler(
                f"{kind}-{problem.name}-{seed}", node, seed=seed, n_startup_trials=startup, **{key: one(problem) for key, one in of.items()}
            )
        )

    return {
        "random": by_optuna(lambda problem, seed: optuna.samplers.RandomSampler(seed)),
        "tpe": by_optuna(lambda problem, seed: optuna.samplers.TPESampler(seed=seed)),
        "tpe-group": by_optuna(lambda problem, seed: optuna.samplers.TPESampler(seed=seed, multivariate=True, group=True)),
        "smac": by_smac,
        "fbo": by_fbo("learned"),
        "fbo-space": by_fbo("space", search_space=lambda problem: problem.space),
        "fbo-conditions": by_fbo("stated", search_space=lambda problem: problem.space, conditions=lambda problem: problem.conditions),
    }


def read(path: Path | None) -> dict[tuple[str, str, int, int], float]:
    if path is None or not path.exists():
        return {}
    lines = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return {(one["problem"], one["sampler"], one["seed"], one["trials"]): one["value"] for one in lines}


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    logging.getLogger("fbo").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def print_table(problem: str, of: Mapping[str, list[float]]) -> None:
    print(f"{problem:15} median  mean    least   largest")
    for name, values in of.items():
        print(
            f"{name:15} {statistics.median(values):.4f}  {statistics.mean(values):.4f}  {min(values):.4f}  {max(values):.4f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10, help="number of seeds (default: 10)")
    parser.add_argument("--first-seed", type=int, default=1001, help="the first seed (default: 1001)")
    parser.add_argument("--trials", type=int, default=40, help="trials of each study (default: 40)")
    parser.add_argument("--startup", type=int, default=5, help="n_startup_trials of fbo, with a file of its own (default: 5)")
    parser.add_argument("--problems", default=",".join(PROBLEMS), help="a list with commas (default: all)")
    parser.add_argument("--samplers", default=",".join(SAMPLERS), help="a list with commas (default: all)")
    parser.add_argument("--json", type=Path, help="file to which each result is appended as a line")
    arguments = parser.parse_args()
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    names = arguments.samplers.split(",")
    known = read(arguments.json)
    with quiet(), tempfile.TemporaryDirectory(prefix="fbo-") as directory, fbo.Node(Path(directory), flags=FLAGS) as node:
        best = samplers(node, arguments.startup)
        for problem in arguments.problems.split(","):
            found: dict[str, list[float]] = {name: [] for name in names}
            for seed in seeds:
                for name in names:
                    key = (problem, name, seed, arguments.trials)
                    if key not in known:
                        known[key] = best[name](PROBLEMS[problem], seed, arguments.trials)
                        if arguments.json is not None:
                            one = dict(zip(("problem", "sampler", "seed", "trials"), key), value=known[key])
                            with arguments.json.open("a", encoding="utf-8") as file:
                                file.write(json.dumps(one) + "\n")
                    found[name].append(known[key])
            print_table(problem, found)


if __name__ == "__main__":
    main()
