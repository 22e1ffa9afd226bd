"""Makes a task and a table for `fbo-node simulate` from tables of FedHPO-B (Wang et al., arXiv 2206.03966).

    python3 convert.py DATA/mlp --algorithm avg --out mlp

reads DATA/mlp/DATASET/avg/tabular.csv.gz for every data set; each becomes a member of the federation. It writes
mlp/task.yaml and mlp/table.csv.gz. It needs Python 3.10 and no packages.

A table of FedHPO-B has the columns sample_client, the hyperparameters, seed if there were several, and result: a
dictionary in Python's notation with a list of values, one per round, for each metric. The value of a design is the
metric in the round with the smallest validation loss, as in FedHPO-B; designs with several seeds have a row for each.
"""

import argparse
import ast
import csv
import gzip
import math
import pathlib
import re
import sys

NOT_PARAMETERS = ("sample_client", "seed", "result")
LOSS = "val_avg_loss"
DURATION = re.compile(r"(?:datetime\.)?timedelta\([^)]*\)")


class Problem(Exception):
    """An error for the user."""


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Makes a task and a table for fbo-node simulate from FedHPO-B.")
    parser.add_argument("folder", type=pathlib.Path, help="folder of a model, with a folder for each data set")
    parser.add_argument("--algorithm", default="avg", help="avg, opt, prox or nbafl (default: avg)")
    parser.add_argument("--metric", default="val_acc", help="metric of the result (default: val_acc)")
    parser.add_argument("--minimize", action="store_true", help="smaller values are better, as for val_avg_loss")
    parser.add_argument("--sample-client", type=float, default=1.0, help="fraction of clients per round (default: 1)")
    parser.add_argument("--rounds", type=int, help="rounds that count (default: all)")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for task.yaml and table.csv.gz")
    options = parser.parse_args(arguments)
    try:
        convert(options)
    except (Problem, OSError) as problem:
        sys.exit(f"convert.py: {problem}")


def convert(options):
    files = sorted(options.folder.glob(f"*/{options.algorithm}/tabular.csv.gz"))
    if not files:
        raise Problem(f"{options.folder}: expected files DATASET/{options.algorithm}/tabular.csv.gz, found none")
    names, rows = None, []
    for file in files:
        member = file.parent.parent.name
        columns, found = read(file, options)
        if names is not None and columns != names:
            raise Problem(f"{file}: its hyperparameters are {columns}, expected {names} as in {files[0]}")
        names = columns
        rows += [[member, *design, value] for design, value in found]
    # A hyperparameter with one value everywhere is none of the task.
    kept = [i for i in range(len(names)) if len({row[1 + i] for row in rows}) > 1]
    if not kept:
        raise Problem(f"{options.folder}: no hyperparameter has two values")
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "task.yaml").write_text(task(options, names, kept, rows), encoding="utf-8")
    with gzip.open(options.out / "table.csv.gz", "wt", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["member", *(names[i] for i in kept), "value"])
        for row in rows:
            table.writerow([row[0], *(repr(row[1 + i]) for i in kept), repr(row[-1])])
    print(f"{len(files)} members, {len(rows)} measurements of {len(kept)} hyperparameters: {options.out}")


def read(file, options):
    """Returns the hyperparameters and, for every row that counts, their values and the metric."""
    csv.field_size_limit(1 << 30)  # a result has a list of 500 values for every metric
    with gzip.open(file, "rt", encoding="utf-8", newline="") as content:
        table = csv.DictReader(content)
        missing = {"sample_client", "result"} - set(table.fieldnames or [])
        if missing:
            raise Problem(f"{file}: expected the columns sample_client and result, missing: {sorted(missing)}")
        names = [name for name in table.fieldnames if name not in NOT_PARAMETERS]
        found = []
        for line in table:
            try:
                if not math.isclose(float(line["sample_client"]), options.sample_client):
                    continue
                value = result(line["result"], options)
                design = [float(line[name]) for name in names]
            except (KeyError, TypeError, ValueError, SyntaxError) as problem:
                raise Problem(f"{file}: line {table.line_num}: {problem}") from problem
            if value is not None:
                found.append((design, value))
    if not found:
        raise Problem(f"{file}: no row with sample_client {options.sample_client} has a finite {options.metric}")
    return names, found


def result(text, options):
    """Returns the metric in the round with the smallest validation loss, None if the training diverged."""
    values = ast.literal_eval(re.sub(r"\b(nan|inf)\b", "None", DURATION.sub("0", text)))
    if options.metric not in values:
        raise ValueError(f"no metric {options.metric}, expected one of {', '.join(sorted(values))}")
    losses, metric = values[LOSS][: options.rounds], values[options.metric]
    rounds = [r for r, loss in enumerate(losses) if loss is not None and r < len(metric) and metric[r] is not None]
    return float(metric[min(rounds, key=losses.__getitem__)]) if rounds else None


def task(options, names, kept, rows):
    """Returns the task file: a log scale where the values are positive and more even on it."""
    lines = [f"name: fedhpo-{options.folder.resolve().name}-{options.algorithm}"]
    lines += [f"goal: {'minimize' if options.minimize else 'maximize'}", "parameters:"]
    for i in kept:
        values = sorted({row[1 + i] for row in rows})
        scale = ", scale: log" if values[0] > 0 and unevenness([math.log(v) for v in values]) < unevenness(values) else ""
        lines.append(f"  - {{name: {names[i]}, type: float, low: {values[0]!r}, high: {values[-1]!r}{scale}}}")
    return "\n".join(lines) + "\n"


def unevenness(values):
    """Returns the largest gap between neighbours as a fraction of the range."""
    gaps = [b - a for a, b in zip(values, values[1:])]
    return max(gaps) / (values[-1] - values[0])


if __name__ == "__main__":
    main()
