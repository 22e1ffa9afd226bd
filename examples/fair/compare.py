"""Run the methods of README.md on the same starts, and print tables: python compare.py --help"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import data
import fair
import models
import numpy as np
import tables

HERE = Path(__file__).parent

# What decides which results belong together; the limits only where a method knows them.
KEY = ("data", "sensitive", "model", "rows", "evals", "method", "constraints", "merge", "split")

# Methods that search the front of error and differences, and know no limit; by the type of strategy.
FRONT = {"parego": "parego", "nehvi": "alone"}


def main():
    parser = argparse.ArgumentParser(description="Tune by several methods on several splits; results are lines of JSON in a file.")
    fair.add_problem(parser)
    fair.add_evaluation(parser)
    parser.add_argument("--methods", default="random,free,logei", help="random, free (no constraints in the task), untuned, "
                        "parego or nehvi (error and differences as objectives, without limits), or strategies under constraints "
                        "such as logei, mes, ts; default %(default)s")
    parser.add_argument("--splits", type=int, default=10, help="how many, from --seed on; default %(default)s")
    parser.add_argument("--evals", type=int, default=100, help="evaluations in each run, five random ones included; default %(default)s")
    parser.add_argument("--results", default="results.jsonl", help="file that lines are added to; what it has is not run again")
    parser.add_argument("--table", action="store_true", help="run nothing; print a table of what the file has")
    parser.add_argument("--fronts", action="store_true", help="run nothing; print how much of the front each method finds, within the limits and in all")
    parser.add_argument("--again", type=int, default=0, metavar="N", help="tune nothing; train the best of each run once more on N other splits")
    parser.add_argument("--fbo-node", default="fbo-node", help="the program")
    args = parser.parse_args()
    limits = fair.problem(parser, args)
    if not limits:
        parser.error("expected one --constraint or more")
    if args.table:
        tables.compare(collect(args, limits), limits)
        return
    if args.fronts:
        tables.fronts(collect(args, limits), limits)
        return
    if not args.dir:
        parser.error("expected --dir, --table or --fronts")
    if args.again:
        again(args, limits)
        return

    known = {key(line) for line in read(args.results)}
    for seed in range(args.seed, args.seed + args.splits):
        for method in args.methods.split(","):
            line = wanted(args, limits, method, seed)
            if key(line) in known:
                continue
            begin = time.time()
            line["trials"] = untuned(args, limits, seed) if method == "untuned" else tune(args, limits, method, seed)
            line["seconds"] = round(time.time() - begin, 1)
            with open(args.results, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            known.add(key(line))
            print(*(f"{name}={value}" for name, value in line.items() if name != "trials"), flush=True)


def wanted(args, limits, method, seed):
    """Return the line of a run, without its trials."""
    tells = method not in ("random", "free")  # random search and the task without limits are run once for all limits
    return {
        "data": args.data, "sensitive": args.sensitive or next(iter(data.SENSITIVE[args.data])),
        "model": args.model, "rows": args.rows, "evals": 1 if method == "untuned" else args.evals, "method": method,
        "constraints": dict.fromkeys(limits) if method in FRONT else limits if tells else {}, "merge": args.merge and tells and method not in FRONT, "split": seed,
    }


def collect(args, limits):
    """Return for each method its trials by split, as far as the file has them for all splits."""
    found = {key(line): line["trials"] for line in read(args.results)}
    seeds = range(args.seed, args.seed + args.splits)
    runs = {}
    for method in args.methods.split(","):
        keys = {seed: key(wanted(args, limits, method, seed)) for seed in seeds}
        if missing := [seed for seed in seeds if keys[seed] not in found]:
            sys.exit(f"compare.py: {args.results} has no {method} of split {missing[0]}; expected the same command without --table first")
        runs[method] = {seed: found[keys[seed]] for seed in seeds}
    return runs


def again(args, limits):
    """Print what the best designs come to on splits that they were not chosen on."""
    table = data.load(args.data, args.dir, args.sensitive)
    # Other numbers than those of any splits that were tuned on.
    others = {seed: data.split(table, seed, args.rows) for seed in range(10000, 10000 + args.again)}
    print(f"| method | designs | error where chosen | error on {args.again} other splits | limits kept there |")
    print("|---|---|---|---|---|")
    for method, by_split in collect(args, limits).items():
        winners = [winner for winner in (tables.best(trials, limits) for trials in by_split.values()) if winner]
        answers = [[fair.evaluate(split, args.model, seed, {}, False, winner["parameters"]) for seed, split in others.items()] for winner in winners]
        cells = [tables.show(np.mean, [winner["value"] for winner in winners]),
                 tables.show(np.mean, [np.mean([answer["value"] for answer in ones]) for ones in answers]),
                 tables.show(np.mean, [np.mean([tables.feasible(answer, limits) for answer in ones]) for ones in answers], form=".2f")]
        print("|", method, "|", len(winners), "|", " | ".join(cells), "|")


def key(line):
    return tuple(json.dumps(line[name], sort_keys=True) for name in KEY)


def read(path):
    if not Path(path).exists():
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def untuned(args, limits, seed):
    """Evaluate a model that lessens unfairness by itself, as it comes."""
    split = data.split(data.load(args.data, args.dir, args.sensitive), seed, args.rows)
    parameters = models.UNTUNED[args.model](limits.get("dsp", min(limits.values())))
    return [trial(parameters, fair.evaluate(split, args.model, seed, {}, False, parameters))]


def tune(args, limits, method, seed):
    """Run a node; all of a split start with the first five designs of its random search."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        if method == "random":
            return node(args, folder, fair.task(args.data, args.model, {}, initial=args.evals, sensitive=args.sensitive), {}, seed)
        start = key(wanted(args, limits, "random", seed))
        trials = next((line["trials"] for line in read(args.results) if key(line) == start), None)
        if trials is None:
            sys.exit("compare.py: the other methods start with designs of random; expected --methods with random before them")
        (folder / "first.json").write_text(json.dumps([first["parameters"] for first in trials[:5]]))
        known = {} if method == "free" or method in FRONT else limits
        strategy = "logei" if method == "free" else FRONT.get(method, method)
        objectives = list(limits) if method in FRONT else []
        task = fair.task(args.data, args.model, known, args.merge and bool(known), strategy, sensitive=args.sensitive, objectives=objectives)
        return node(args, folder, task, known, seed, "--enqueue", str(folder / "first.json"))


def worker(args, limits, seed):
    """Return the command of a worker."""
    command = [sys.executable, str(HERE / "worker.py"), "--data", args.data, "--model", args.model, "--dir", args.dir,
               "--seed", str(seed), "--rows", str(args.rows)]
    if args.sensitive:
        command += ["--sensitive", args.sensitive]
    for name, limit in limits.items():
        command += ["--constraint", f"{name}={limit}"]
    if args.merge and limits:
        command += ["--merge"]
    return command


def node(args, folder, task, limits, seed, *flags):
    """Return the trials of a node of its own."""
    (folder / "task.yaml").write_text(task)
    where = ["--data-dir", str(folder / "node")]
    run = subprocess.run([args.fbo_node, "run", str(folder / "task.yaml"), "--evals", str(args.evals), "--seed", str(seed + 1), "--mdns=false",
                          "--listen", "/ip4/127.0.0.1/udp/0/quic-v1", "--wait-for-peers", "0s", *where, *flags, "--worker", "--", *worker(args, limits, seed)],
                         capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"compare.py: fbo-node run: {run.stdout[-2000:]}{run.stderr[-2000:]}")
    history = subprocess.run([args.fbo_node, "history", "--json", *where], capture_output=True, text=True, check=True)
    return [trial(one["parameters"], {"value": one["outcome"]["value"], **one["outcome"]["metrics"]})
            for one in json.loads(history.stdout) if one["state"] == "done"]


def trial(parameters, answer):
    return {"parameters": parameters, **{name: answer[name] for name in ("value", "dsp", "deo", "dfp", "undefined")}}


if __name__ == "__main__":
    main()
