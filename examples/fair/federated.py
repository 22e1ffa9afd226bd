"""Eight nodes, each with its own part of the data, together and alone: python federated.py --help"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import compare
import data
import fair
import tables

CHECKPOINTS = (10, 20)


def main():
    parser = argparse.ArgumentParser(description="Tune on disjoint parts of the data, by processes of fbo-node that are peers "
                                     "and by such that know of nobody (logei), with the same starts.")
    fair.add_problem(parser)
    fair.add_evaluation(parser)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--evals", type=int, default=40)
    parser.add_argument("--repeats", type=int, default=5, help="splits, from --seed on; default %(default)s")
    parser.add_argument("--strategy", default="constrained-gp", help="of those that are peers: constrained-gp, density; default %(default)s")
    parser.add_argument("--results", default="federated.jsonl", help="file that lines are added to; what it has is not run again")
    parser.add_argument("--table", action="store_true", help="run nothing; print a table of what the file has")
    parser.add_argument("--fbo-node", default="fbo-node", help="the program")
    args = parser.parse_args()
    limits = fair.problem(parser, args)
    if not limits or not (args.dir or args.table):
        parser.error("expected one --constraint or more, and --dir unless --table")

    about = {name: getattr(args, name) for name in ("data", "sensitive", "model", "merge", "rows", "clients", "evals", "strategy")} | {"constraints": limits}
    lines = [line for line in compare.read(args.results) if all(line[name] == value for name, value in about.items())]
    if args.table:
        table(lines, limits, args.evals)
        return
    known = {line["split"] for line in lines}
    for seed in range(args.seed, args.seed + args.repeats):
        if seed in known:
            continue
        with tempfile.TemporaryDirectory() as folder:
            found = repeat(args, limits, seed, Path(folder))
        with open(args.results, "a", encoding="utf-8") as file:
            file.write(json.dumps({**about, "split": seed, **found}) + "\n")
        print(f"split {seed}", flush=True)


def repeat(args, limits, seed, folder):
    """Return the trials of each client alone, and of each together with the others."""
    (folder / "alone.yaml").write_text(fair.task(args.data, args.model, limits, args.merge, "logei", sensitive=args.sensitive))
    (folder / "together.yaml").write_text(fair.task(args.data, args.model, limits, args.merge, args.strategy, sensitive=args.sensitive))
    alone = []
    for client in range(args.clients):
        run = start(args, limits, seed, folder, "alone", client)
        finish(run)
        alone.append(history(args, folder, "alone", client))
        (folder / f"first{client}.json").write_text(json.dumps([trial["parameters"] for trial in alone[-1][:5]]))

    runs, peer = [], []
    for client in range(args.clients):
        run = start(args, limits, seed, folder, "together", client, "--enqueue", str(folder / f"first{client}.json"), *peer)
        runs.append(run)
        if not peer:
            peer = ["--peer", address(run, folder / "together0.jsonl")]
    for run in runs:
        finish(run)
    return {"alone": alone, "together": [history(args, folder, "together", client) for client in range(args.clients)]}


def start(args, limits, seed, folder, name, client, *flags):
    worker = [*compare.worker(args, limits, seed), "--part", f"{client}/{args.clients}"]
    with open(folder / f"{name}{client}.jsonl", "w", encoding="utf-8") as events:
        return subprocess.Popen([args.fbo_node, "run", str(folder / f"{name}.yaml"), "--json", "--evals", str(args.evals),
                                 "--seed", str(args.clients * seed + client + 1), "--mdns=false", "--listen", "/ip4/127.0.0.1/udp/0/quic-v1",
                                 "--data-dir", str(folder / f"{name}{client}"), *flags, "--worker", "--", *worker],
                                stdout=events, stderr=subprocess.STDOUT)


def address(run, events):
    """Return where a node can be reached, which is in its first event."""
    while run.poll() is None:
        line, newline, _ = events.read_text(encoding="utf-8").partition("\n")
        if newline:
            return json.loads(line)["addresses"][0]
        time.sleep(0.05)
    sys.exit(f"federated.py: fbo-node run: {events.read_text(encoding='utf-8')}")


def finish(run):
    if run.wait() != 0:
        sys.exit(f"federated.py: {' '.join(run.args)}: exit code {run.returncode}")


def history(args, folder, name, client):
    lines = subprocess.run([args.fbo_node, "history", "--json", "--data-dir", str(folder / f"{name}{client}")],
                           capture_output=True, text=True, check=True)
    return [{"parameters": one["parameters"], "value": one["outcome"]["value"], **one["outcome"]["metrics"], "why": one["why"]}
            for one in json.loads(lines.stdout) if one["state"] == "done"]


def table(lines, limits, evals):
    """Print means over clients, with intervals over repeats: clients of one repeat use each other's shares.

    A classifier without any positive prediction treats all groups equally and is useless, so
    the first feasible classifier with a positive prediction has a column of its own.
    """
    checkpoints = [at for at in CHECKPOINTS if at < evals] + [evals]
    print(f"{len(lines)} repeats")
    print("| | first feasible | first of use |", *(f"error after {at} |" for at in checkpoints), "nothing feasible |")
    print("|---|" + "---|" * (len(checkpoints) + 3))
    for name in ("alone", "together"):
        first = [mean(tables.needed(trials, limits, 1) for trials in line[name]) for line in lines]
        useful = [mean(tables.needed([trial | {"value": trial["positive"] == 0} for trial in trials], limits, 0) for trials in line[name]) for line in lines]
        best = {at: [[tables.best(trials[:at], limits) for trials in line[name]] for line in lines] for at in checkpoints}
        errors = [tables.show(mean, [mean(one["value"] for one in ones if one) for ones in best[at]]) for at in checkpoints]
        print("|", name, "|", tables.show(mean, first, form=".1f"), "|", tables.show(mean, useful, form=".1f"), "|", " | ".join(errors), "|",
              sum(one is None for ones in best[evals] for one in ones), "|")
    for at in checkpoints:
        pairs = [mean(theirs["value"] - ours["value"] for ours, theirs in zip(*([tables.best(trials[:at], limits) for trials in line[name]]
                                                                                for name in ("together", "alone"))) if ours and theirs) for line in lines]
        print(f"error alone less together after {at}:", tables.show(mean, pairs))
    print("designs that followed peers:", sum("peer_count" in trial["why"] for line in lines for trials in line["together"] for trial in trials))


def mean(values):
    values = list(values)
    return sum(values) / len(values)


if __name__ == "__main__":
    main()
