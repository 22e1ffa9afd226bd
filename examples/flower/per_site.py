"""Per-site settings: each site tunes the fine-tuning of the model of all. python per_site.py --help"""

from __future__ import annotations

import argparse
import json
import logging
import math
from pathlib import Path

import inprocess
import loopback
from sites import training


def main() -> None:
    """Run the app once for each seed, and print a table."""
    parser = argparse.ArgumentParser(description="Tune the fine-tuning of five sites, each site alone and all together.")
    parser.add_argument("--seeds", type=int, default=10, help="splits of the data, from 1 on; default %(default)s")
    parser.add_argument("--rounds", type=int, default=3, help="of FedAvg before it; default %(default)s")
    parser.add_argument("--evals", type=int, default=16, help="of each site; 4 or more; default %(default)s")
    parser.add_argument("--processes", action="store_true", help="start the processes of Flower too, on this machine")
    parser.add_argument("--results", type=Path, default=Path("per-site.jsonl"), help="file that lines are added to; seeds in it are not run again")
    args = parser.parse_args()
    if args.seeds < 1 or args.evals < 4 or args.rounds < 1:
        parser.error(f"--seeds {args.seeds}, --rounds {args.rounds}, --evals {args.evals}: expected 1, 1 and 4 or more")
    about = {"rounds": args.rounds, "evals": args.evals}
    lines = [json.loads(line) for line in args.results.read_text(encoding="utf-8").splitlines()] if args.results.exists() else []
    lines = [line for line in lines if about.items() <= line.items()]
    wanted = [seed for seed in range(1, args.seeds + 1) if seed not in {line["seed"] for line in lines}]
    if wanted:
        logging.getLogger("flwr").setLevel(logging.ERROR)
        with (loopback if args.processes else inprocess).federation() as federation:
            for seed in wanted:
                found = federation.run(seed=seed, rounds=args.rounds, evals=args.evals, arms="alone,together", task=f"digits-{seed}")
                lines.append({**about, **found})
                with open(args.results, "a", encoding="utf-8") as file:
                    file.write(json.dumps(lines[-1]) + "\n")
                print(f"seed {seed}", flush=True)
    table([line for line in lines if line["seed"] <= args.seeds], args.evals)


def table(lines: list[dict], evals: int) -> None:
    """Print means over the sites, with the standard deviation over seeds; and the paired differences with standard errors."""
    rows = {"model of all": "global", "defaults": "defaults"}
    for count in sorted({evals // 4, evals // 2, evals}):
        rows |= {f"alone, {count}": f"{count}_alone", f"together, {count}": f"{count}_together"}
    print(f"{len(lines)} seeds, {training.SITES} sites")
    print("| | validation loss | test loss | test error |")
    print("|---|---|---|---|")
    measures = ("valid_loss", "test_loss", "test_error")
    for name, key in rows.items():
        print("|", name, "|", " | ".join(show(means(lines, f"{measure}_{key}")) for measure in measures), "|")
    for name, one, other in [("defaults less together", "defaults", f"{evals}_together")] + [
        (f"alone less together, {count}", f"{count}_alone", f"{count}_together") for count in sorted({evals // 4, evals // 2, evals})
    ]:
        pairs = [[a - b for a, b in zip(means(lines, f"{measure}_{one}"), means(lines, f"{measure}_{other}"))] for measure in measures]
        print("|", name, "|", " | ".join(show(values, len(lines)) for values in pairs), "|")
    sites = [site for line in lines for site in line["sites"]]
    worse = sum(site[f"test_loss_{evals}_together"] > site["test_loss_defaults"] for site in sites)
    print(f"sites with a larger test loss than with the defaults: {worse} of {len(sites)}")


def means(lines: list[dict], key: str) -> list[float]:
    """Return the mean over the sites for each seed."""
    return [sum(site[key] for site in line["sites"]) / len(line["sites"]) for line in lines]


def show(values: list[float], count: int = 1) -> str:
    """Return the mean, and the standard deviation of the mean of count values."""
    mean = sum(values) / len(values)
    if len(values) < 2:
        return f"{mean:.3f}"
    return f"{mean:.3f} ± {math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1) / count):.3f}"


if __name__ == "__main__":
    main()
