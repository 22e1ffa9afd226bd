"""Print a row of statistics for each kept table: python describe.py"""

import argparse
import pathlib

import make
import numpy as np
import yaml
from scipy.stats import rankdata


def values_of(name, out):
    """Return values and standard errors, a row for each member and a column for each design."""
    header, *rows = make.read(out / name / "table.csv.gz")
    names = list(dict.fromkeys(row[0] for row in rows))
    shape = len(names), len(rows) // len(names)
    value, error = (np.array([float(row[header.index(column)]) for row in rows]).reshape(shape) for column in ("value", "standard_error"))
    return value, error


def describe(name, out):
    value, error = values_of(name, out)
    with open(make.HERE / name / "task.yaml", encoding="utf-8") as file:
        goal = yaml.safe_load(file)["goal"]
    members = make.FEDERATIONS[name][0]()
    training = [len(member.train_y) for member in members]
    validation = [len(member.valid_y) for member in members]
    ranks = rankdata(value if goal == "minimize" else -value, axis=1)  # 1 is the best
    best = value.min(axis=1) if goal == "minimize" else value.max(axis=1)
    pairs = np.corrcoef(ranks)[np.triu_indices(len(value), 1)]
    low, middle, high = np.quantile(pairs, [0.1, 0.5, 0.9])
    first = ranks.argmin(axis=1)
    carried = [ranks[other, first[one]] <= value.shape[1] / 10 for one in range(len(value)) for other in range(len(value)) if one != other]
    return (f"| `{name}` | {len(value)} | {value.shape[1]} | {min(training)}–{max(training)} | {min(validation)}–{max(validation)} "
            f"| {best.min():.3f}–{best.max():.3f} | {middle:.2f} ({low:.2f}, {high:.2f}) | {np.mean(carried):.0%} "
            f"| {np.median(error) / np.median(value.std(axis=1)):.2f} |")


parser = argparse.ArgumentParser(description="Print a row of statistics for each kept table.")
parser.add_argument("names", nargs="*", metavar="NAME")
parser.add_argument("--out", type=pathlib.Path, default=make.HERE)
args = parser.parse_args()
print("| federation | members | designs | training rows | validation rows | best values | rank correlation | carries over | error / deviation |")
print("|---|---|---|---|---|---|---|---|---|")
for name in args.names or make.FEDERATIONS:
    print(describe(name, args.out))
