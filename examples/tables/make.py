"""Make or check tables of measured values: python make.py diamonds flights, python make.py --check diamonds

A federation is a folder with a task file. Its table gets a row for each member and design:
member, the parameters, value, standard_error. What is finished of a table is kept member by
member, so that a run that was cut off goes on where it was.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is imported; sums then have one order

import argparse
import csv
import functools
import gzip
import io
import pathlib
import sys
import time
import zlib

import numpy as np
import yaml
from scipy.stats import qmc

import data
import models

# Which training and which measure; "error" is 1 - AUC.
FEDERATIONS = {
    "diamonds": (data.diamonds, models.svm, "error"),
    "digits": (data.digits, models.svm, "auc"),
    "visits": (data.visits, models.kernels, "error"),
    "computers": (data.computers, models.kernels, "error"),
    "insurance": (data.insurance, models.sgd, "loss"),
    "pharmacy": (data.pharmacy, models.sgd, "loss"),
    "baseball": (data.baseball, models.random_forest, "loss"),
    "movies": (data.movies, models.extra_trees, "loss"),
    "weather": (data.weather, models.histogram_boosting, "loss"),
    "flights": (data.flights, models.xgboost, "loss"),
    "doctor": (data.doctor, models.network, "loss"),
    "food": (data.food, models.network, "loss"),
}
GRID = 20        # values of each parameter where there are two floats
SCATTERED = 512  # designs where there is more: a power of two, as Sobol sequences want

# A cell that is computed again agrees within this part of its standard error. The same
# machine gives the same digits, another one adds in another order.
TOLERANCE = 0.25

HERE = pathlib.Path(__file__).resolve().parent


@functools.cache
def parameters(name):
    with open(HERE / name / "task.yaml", encoding="utf-8") as file:
        return yaml.safe_load(file)["parameters"]


def number(value, digits=3):
    return f"{float(value):.{digits}g}"


def value_at(parameter, share):
    """Return the value of a parameter at a share of its range, as text."""
    kind = parameter["type"]
    if kind == "bool":
        return ("false", "true")[int(share * 2)]
    if "choices" in parameter:
        return str(parameter["choices"][int(share * len(parameter["choices"]))])
    low, high = parameter["low"], parameter["high"]
    if kind == "int":
        low, high = low - 0.5, high + 0.5  # each whole number as wide as any other
    logarithmic = parameter.get("scale") == "log"
    value = low * (high / low) ** share if logarithmic else low + (high - low) * share
    if kind == "int":
        return str(min(max(round(value), parameter["low"]), parameter["high"]))
    return number(min(max(value, low), high))


def designs(name):
    """Return the designs of a federation, the same for all members, as tuples of texts."""
    space = parameters(name)
    if len(space) == 2 and all(parameter["type"] == "float" for parameter in space):
        axes = [[value_at(parameter, i / (GRID - 1)) for i in range(GRID)] for parameter in space]
        return [(first, second) for first in axes[0] for second in axes[1]]
    points = qmc.Sobol(len(space), scramble=True, rng=np.random.default_rng(zlib.crc32(name.encode()))).random(SCATTERED)
    return [tuple(map(value_at, space, point)) for point in points]


def read_design(name, texts):
    """Return a design as the dict that a training takes."""
    design = {}
    for parameter, text in zip(parameters(name), texts):
        if parameter["type"] == "bool":
            design[parameter["name"]] = text == "true"
        elif parameter["type"] == "categorical":
            design[parameter["name"]] = text
        else:
            design[parameter["name"]] = {"int": int, "float": float}[parameter["type"]](text)
    return design


def measure(name, member, design):
    """Train and return a value and its standard error over validation rows."""
    _, train, kind = FEDERATIONS[name]
    with np.errstate(all="ignore"):
        answer = train(read_design(name, design), member)
    if kind == "loss":
        return models.log_loss(answer, member.valid_y)
    value, error = models.auc(answer, member.valid_y)
    return (1 - value if kind == "error" else value), error


def write(path, rows):
    """Write CSV in one step; the same rows give the same bytes."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    content = text.getvalue().encode()
    if path.suffix == ".gz":
        content = gzip.compress(content, 9, mtime=0)
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_bytes(content)
    unfinished.replace(path)


def read(path):
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            return list(csv.reader(file))
    except FileNotFoundError:
        raise SystemExit(f"there is no file {path}; without --check it is made") from None


def make(name, out, only):
    path, parts = out / name / "table.csv.gz", out / name / "parts"
    if path.exists() and not only:
        print(f"{name}: {path} is there already; delete it to make it again")
        return
    parts.mkdir(parents=True, exist_ok=True)
    members = FEDERATIONS[name][0]()
    for member in members:
        part = parts / f"{member.name}.csv"
        if part.exists() or (only and member.name not in only):
            continue
        begin = time.process_time()
        rows = []
        for design in designs(name):
            value, error = measure(name, member, design)
            rows.append([member.name, *design, number(value, 6), number(error)])
        write(part, rows)
        print(f"{name}, {member.name}: {len(rows)} designs in {time.process_time() - begin:.0f} s", flush=True)
    kept = [parts / f"{member.name}.csv" for member in members]
    if not all(part.exists() for part in kept):
        return
    rows = [["member", *(parameter["name"] for parameter in parameters(name)), "value", "standard_error"]]
    for part in kept:
        with open(part, encoding="utf-8", newline="") as file:
            rows += csv.reader(file)
    write(path, rows)
    for part in kept:
        part.unlink()
    parts.rmdir()
    print(f"{name}: {len(members)} members, {len(rows) - 1} rows, {path.stat().st_size} bytes", flush=True)


def check(name, out, cells, seed):
    """Compute random cells of a kept table again, and return how many differ."""
    path = out / name / "table.csv.gz"
    rows = read(path)
    members = {member.name: member for member in FEDERATIONS[name][0]()}
    chosen = np.random.default_rng(seed).choice(len(rows) - 1, size=min(cells, len(rows) - 1), replace=False) + 1
    wrong = 0
    for index in sorted(chosen):
        who, *design, value, error = rows[index]
        if who not in members:
            raise SystemExit(f"{path}, row {index + 1}: there is no member {who}; the members are {', '.join(members)}")
        again, _ = measure(name, members[who], tuple(design))
        apart = abs(again - float(value))
        if apart > TOLERANCE * float(error) + 1e-6:
            wrong += 1
            print(f"{path}, row {index + 1}: {who}, {', '.join(design)}: the table has {value}, training again gives {number(again, 6)}")
    print(f"{name}: {len(chosen)} cells computed again, {wrong} differ by more than {TOLERANCE} standard errors")
    return wrong


def main():
    parser = argparse.ArgumentParser(description="Make or check tables of measured values.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="federations; default all: " + ", ".join(FEDERATIONS))
    parser.add_argument("--out", type=pathlib.Path, default=HERE, help="folder of the tables, each in a folder of its name")
    parser.add_argument("--only", action="append", metavar="MEMBER", help="make only this member's part; can be given again")
    parser.add_argument("--check", action="store_true", help="compute some cells of kept tables again and compare")
    parser.add_argument("--cells", type=int, default=5, help="cells to compute again in each table, default 5")
    parser.add_argument("--seed", type=int, default=1, help="which cells, default 1")
    args = parser.parse_args()
    for name in args.names:
        if name not in FEDERATIONS:
            parser.error(f"there is no federation {name}; there are {', '.join(FEDERATIONS)}")
    wrong = 0
    for name in args.names or FEDERATIONS:
        if args.check:
            wrong += check(name, args.out, args.cells, args.seed)
        else:
            make(name, args.out, args.only)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
