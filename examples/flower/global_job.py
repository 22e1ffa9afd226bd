"""One setting for all: a node tunes the whole federated training, one run per evaluation. python global_job.py --help"""

from __future__ import annotations

import argparse
import json
import logging
import tempfile
from pathlib import Path

import fbo
import inprocess
import loopback
import nodes
from per_site import show

# Names are those of the app's config, with _ for -.
SPACE = [
    fbo.Float("rate", 1e-4, 0.3, log=True),
    fbo.Int("batch", 8, 128, log=True),
    fbo.Int("epochs", 1, 20, log=True),
    fbo.Float("server_rate", 0.3, 3, log=True),
    fbo.Float("fraction", 0.2, 1, step=0.2),
]


def main() -> None:
    """Tune the job for each seed, and print a table."""
    parser = argparse.ArgumentParser(description="Tune the settings of a whole federated training by ask and tell.")
    parser.add_argument("--seeds", type=int, default=5, help="splits of the data, from 1 on; default %(default)s")
    parser.add_argument("--rounds", type=int, default=3, help="of FedAvg in each evaluation; default %(default)s")
    parser.add_argument("--evals", type=int, default=16, help="federated trainings, 4 or more; default %(default)s")
    parser.add_argument("--processes", action="store_true", help="start the processes of Flower too, on this machine")
    args = parser.parse_args()
    if args.seeds < 1 or args.evals < 4 or args.rounds < 1:
        parser.error(f"--seeds {args.seeds}, --rounds {args.rounds}, --evals {args.evals}: expected 1, 1 and 4 or more")
    logging.getLogger("flwr").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="fbo") as folder, (loopback if args.processes else inprocess).federation() as federation:
        with fbo.Node(Path(folder), flags=nodes.LOCAL) as node:
            table([tune(node, federation, seed, args.rounds, args.evals) for seed in range(1, args.seeds + 1)], args.evals)


def tune(node: fbo.Node, federation: inprocess.Federation | loopback.Federation, seed: int, rounds: int, evals: int) -> list[dict[str, float]]:
    """Return what the job measures with the defaults, and with the best settings after evals / 4, evals / 2 and evals runs."""
    task = node.task(
        {
            "name": f"digits-job-{seed}",
            "goal": "minimize",
            "parameters": [parameter.definition() for parameter in SPACE],
            "strategy": {"type": "alone"},  # there is one node; without this line it works together with nodes of other federations
        },
        seed=seed,
    )
    found = [measure(federation.run(seed=seed, rounds=rounds, arms=""))]
    best = found[0]  # the defaults stay until something is better
    for count in range(1, evals + 1):
        while not (asked := task.ask()):  # the node has no design yet
            pass
        (trial,) = asked
        try:
            outcome = measure(federation.run(seed=seed, rounds=rounds, arms="", **trial.parameters))
        except RuntimeError as error:  # the federation has failed, perhaps because of these settings
            task.fail(trial, str(error)[:500])
        else:
            task.tell(trial, outcome["valid_loss"], metrics={key: outcome[key] for key in ("test_loss", "test_error")})
            best = min(best, outcome, key=lambda one: one["valid_loss"])
        if count in (evals // 4, evals // 2, evals):
            found.append(best)
    print(f"seed {seed}: {json.dumps(task.best().parameters)}", flush=True)
    return found


def measure(result: dict) -> dict[str, float]:
    """Return the means over the sites, weighted by their validation images."""
    total = sum(site["num-examples"] for site in result["sites"])
    return {key: sum(site[key] * site["num-examples"] for site in result["sites"]) / total for key in ("valid_loss", "test_loss", "test_error")}


def table(found: list[list[dict[str, float]]], evals: int) -> None:
    """Print means, with the standard deviation over seeds."""
    print("| settings | validation loss | test loss | test error |")
    print("|---|---|---|---|")
    for row, name in enumerate(["defaults", *(f"best of {count}" for count in (evals // 4, evals // 2, evals))]):
        print("|", name, "|", " | ".join(show([one[row][key] for one in found]) for key in ("valid_loss", "test_loss", "test_error")), "|")


if __name__ == "__main__":
    main()
