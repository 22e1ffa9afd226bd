"""Evaluations and task files: python fair.py task --data adult --model rf --constraint dsp=0.05"""

import argparse
import os
import sys

# One core per node: what runs beside it is another node, or the node's own search.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import data  # noqa: E402
import metrics  # noqa: E402
import models  # noqa: E402


def evaluate(split, model, seed, limits, merge, parameters):
    """Return what a worker answers: validation error, constraints, all three differences.

    limits has a limit for each criterion that is one. Their differences are the constraints,
    or with merge a single one, fair, which is true when all limits are kept. A difference
    that is undefined counts as 1, the largest there can be, so that it breaks every limit;
    how many are is the metric undefined.
    """
    predictions = models.predict(model, split, seed, parameters)
    gaps = metrics.gaps(split.valid_labels, predictions, split.valid_groups, split.count)
    numbers = {name: 1.0 if gap is None else gap for name, gap in gaps.items()}
    if merge:
        constraints = {"fair": all(numbers[name] <= limit for name, limit in limits.items())}
    else:
        constraints = {name: numbers[name] for name in limits}
    return {
        "value": float((predictions != split.valid_labels).mean()),
        **({"constraints": constraints} if limits else {}),
        **numbers,
        "undefined": sum(gap is None for gap in gaps.values()),
        "positive": float(predictions.mean()),
    }


def task(data_name, model, limits, merge=False, strategy="logei", initial=5, sensitive=None, objectives=()):
    """Return a task file. Its name contains everything else that must be the same on all nodes.

    objectives are criteria to be minimised beside the error, in place of limits.
    """
    name = f"fair-{data_name}-{model}"
    if sensitive not in (None, next(iter(data.SENSITIVE[data_name]))):
        name += f"-{sensitive}"
    if merge:
        name += "".join(f"-{criterion}{limit}" for criterion, limit in sorted(limits.items()))
    lines = [f"name: {name}"]
    if objectives:
        lines += ["objectives:", *(f"  - {{name: {one}, goal: minimize}}" for one in ("error", *objectives))]
    else:
        lines += ["goal: minimize              # the validation error"]
    lines += ["parameters:"]
    lines += [f"  - {parameter}" for parameter in models.SPACES[model]]
    if merge:
        lines += ["constraints:", "  - {name: fair, type: bool}"]
    elif limits:
        lines += ["constraints:", *(f"  - {{name: {name}, high: {limit}}}" for name, limit in limits.items())]
    lines += [f"strategy: {{type: {strategy}, initial_designs: {initial}}}"]
    return "\n".join(lines) + "\n"


def limit(text):
    name, _, number = text.partition("=")
    try:
        number = float(number)
    except ValueError:
        number = -1.0
    if name not in metrics.CRITERIA or not 0 <= number < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: expected {', '.join(metrics.CRITERIA)}, each with = and a limit from 0 to below 1")
    return name, number


def part(text):
    number, _, count = text.partition("/")
    if not (number.isdigit() and count.isdigit() and int(number) < int(count)):
        raise argparse.ArgumentTypeError(f"{text!r}: expected such as 0/8 to 7/8")
    return int(number), int(count)


def add_problem(parser):
    """Add the flags for the data set, the model and the limits."""
    parser.add_argument("--data", required=True, choices=list(data.READERS))
    parser.add_argument("--model", required=True, choices=list(models.SPACES))
    parser.add_argument("--sensitive", help="by what groups are made: adult sex, race; compas white, race, sex; german sex; default the first")
    parser.add_argument("--constraint", type=limit, action="append", default=[], metavar="NAME=LIMIT",
                        help="dsp, deo or dfp, and the largest that is accepted; as often as need be")
    parser.add_argument("--merge", action="store_true", help="one constraint that is true or false, for all limits together")


def add_evaluation(parser):
    """Add the flags that select rows."""
    parser.add_argument("--dir", help="folder of the data files, see README.md")
    parser.add_argument("--seed", type=int, default=0, help="of the split into training and validation, and of the training")
    parser.add_argument("--rows", type=int, default=0, help="how many training rows to use; default all")
    parser.add_argument("--part", type=part, metavar="I/N", help="only the I-th of N disjoint parts of the rows")


def problem(parser, args):
    """Return the limits, by name; the flags must fit each other."""
    limits = dict(args.constraint)
    if len(limits) < len(args.constraint):
        parser.error("--constraint: one limit for each name is accepted")
    if args.sensitive not in (None, *data.SENSITIVE[args.data]):
        parser.error(f"--sensitive {args.sensitive}: accepted for {args.data} are {', '.join(data.SENSITIVE[args.data])}")
    if args.merge and not limits:
        parser.error("--merge needs a --constraint")
    return limits


def main():
    parser = argparse.ArgumentParser(description="Print a task file.")
    parser.add_argument("command", choices=["task"])
    add_problem(parser)
    parser.add_argument("--strategy", default="logei")
    args = parser.parse_args()
    print(task(args.data, args.model, problem(parser, args), args.merge, args.strategy, sensitive=args.sensitive), end="")


if __name__ == "__main__":
    main()
