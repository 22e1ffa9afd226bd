"""How much each hyperparameter matters for error and for unfairness: python importance.py --data adult --model rf

By fANOVA (Hutter, Hoos and Leyton-Brown, An Efficient Approach for Assessing Hyperparameter
Importance, ICML 2014), as Optuna has it, over the designs of random search that compare.py
has evaluated, of all splits together.
"""

import argparse
import sys

import compare
import data
import models
import optuna
import yaml
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.importance import FanovaImportanceEvaluator, get_param_importances

TARGETS = ("value", "dsp", "deo", "dfp")


def distribution(parameter):
    if parameter["type"] == "categorical":
        return CategoricalDistribution(parameter["choices"])
    kind = IntDistribution if parameter["type"] == "int" else FloatDistribution
    return kind(parameter["low"], parameter["high"], log=parameter.get("scale") == "log")


def main():
    parser = argparse.ArgumentParser(description="Print the share of the variance that each hyperparameter alone is answerable for, of 1 in all.")
    parser.add_argument("--data", required=True, choices=list(data.READERS))
    parser.add_argument("--model", required=True, choices=list(models.SPACES))
    parser.add_argument("--results", default="results.jsonl", help="file of compare.py")
    args = parser.parse_args()

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    space = {parameter["name"]: distribution(parameter) for parameter in map(yaml.safe_load, models.SPACES[args.model])}
    trials = [trial for line in compare.read(args.results) for trial in line["trials"]
              if (line["data"], line["model"], line["method"]) == (args.data, args.model, "random")]
    if not trials:
        sys.exit(f"importance.py: {args.results} has no random search of {args.model} on {args.data}; compare.py makes it")
    columns = []
    for target in TARGETS:
        study = optuna.create_study(direction="minimize")
        study.add_trials([optuna.trial.create_trial(params=trial["parameters"], distributions=space, value=trial[target]) for trial in trials])
        columns.append(get_param_importances(study, evaluator=FanovaImportanceEvaluator(seed=0)))
    print(f"{len(trials)} designs")
    print("| | error | " + " | ".join(TARGETS[1:]) + " |")
    print("|---|" + "---|" * len(TARGETS))
    for name in space:
        print("|", name, "|", " | ".join(f"{column[name]:.2f}" for column in columns), "|")


if __name__ == "__main__":
    main()
