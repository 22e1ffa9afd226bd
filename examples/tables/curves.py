"""Make tables of learning curves: python curves.py doctor-curves weather-curves

Each row is one training of one member: member, the parameters, value, standard_error, and the value
after each step in the columns step_1, step_2, …; value is that of the last one. The members and their
data are those of the federation of the same name.
"""

import make  # first: it sets the number of threads

import argparse
import pathlib
import sys
import time
import warnings

import numpy as np

import data
import models

STEPS = 27
DESIGNS = 256
MEMBERS = 8


def network(design, member):
    """Train a network and yield the validation probabilities after each epoch."""
    from sklearn.neural_network import MLPClassifier
    model = MLPClassifier(
        hidden_layer_sizes=(design["width"],), activation=design["activation"], solver=design["solver"],
        learning_rate_init=design["rate"], alpha=design["l2"],
        batch_size=min(design["batch"], len(member.train_y)), random_state=member.seed)
    classes = np.arange(member.train_y.max() + 1)
    for _ in range(STEPS):
        try:
            model.partial_fit(member.train_x, member.train_y, classes=classes)
            yield model.predict_proba(member.valid_x)
        except ValueError as problem:
            if "non-finite" not in str(problem).lower():
                raise
            yield np.full((len(member.valid_y), len(classes)), np.nan)


def boosting(design, member):
    """Train boosted trees and yield the validation probabilities after every fifth round."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    model = HistGradientBoostingClassifier(
        learning_rate=design["learning_rate"], max_iter=5 * STEPS, max_leaf_nodes=design["max_leaves"],
        min_samples_leaf=design["min_leaf"], l2_regularization=design["l2"], max_features=design["max_features"],
        early_stopping=False, random_state=member.seed)
    model.fit(member.train_x, member.train_y)
    for i, probabilities in enumerate(model.staged_predict_proba(member.valid_x)):
        if i % 5 == 4:
            yield probabilities


FEDERATIONS = {"doctor-curves": (data.doctor, network), "weather-curves": (data.weather, boosting)}


def measure(name, member, design):
    """Return the log loss and its standard error after each step."""
    _, train = FEDERATIONS[name]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # the steps are what is measured, converged or not
        return [models.log_loss(p, member.valid_y) for p in train(make.read_design(name, design), member)]


def rows(name, member):
    for design in make.designs(name)[:DESIGNS]:
        measured = measure(name, member, design)
        value, error = measured[-1]
        yield [member.name, *design, make.number(value, 4), make.number(error), *(make.number(v, 4) for v, _ in measured)]


def build(name, out):
    path = out / name / "table.csv.gz"
    header = ["member", *(p["name"] for p in make.parameters(name)), "value", "standard_error", *(f"step_{i + 1}" for i in range(STEPS))]
    table = [header]
    for member in FEDERATIONS[name][0]()[:MEMBERS]:
        begin = time.process_time()
        table += rows(name, member)
        print(f"{name}: {member.name} took {time.process_time() - begin:.0f} s", flush=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    make.write(path, table)


def check(name, out, cells):
    """Train for random rows again, and return how many differ at some step by more than make.TOLERANCE."""
    header, *kept = make.read(out / name / "table.csv.gz")
    members = {member.name: member for member in FEDERATIONS[name][0]()}
    first = len(make.parameters(name)) + 1
    wrong = 0
    for index in sorted(np.random.default_rng(1).choice(len(kept), size=cells, replace=False)):
        row = kept[index]
        again = measure(name, members[row[0]], tuple(row[1:first]))
        error = float(row[first + 1])
        apart = max(abs(value - float(text)) for (value, _), text in zip(again, row[first + 2:]))
        if apart > make.TOLERANCE * error + 1e-3:
            wrong += 1
            print(f"{name}, row {index + 2}: a step differs by {apart:.3g}, with the standard error {error:.3g}")
    print(f"{name}: {cells} rows trained again, {wrong} differ")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+", choices=FEDERATIONS)
    parser.add_argument("--out", type=pathlib.Path, default=make.HERE)
    parser.add_argument("--check", type=int, metavar="ROWS", help="train for this many random rows again, and compare")
    arguments = parser.parse_args()
    if arguments.check:
        sys.exit(sum(check(name, arguments.out, arguments.check) for name in arguments.names) > 0)
    for name in arguments.names:
        build(name, arguments.out)


if __name__ == "__main__":
    main()
