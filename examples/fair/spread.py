"""How unfairness varies among models of similar accuracy: python spread.py --data compas --limit 0.05

Over the designs of random search that compare.py has evaluated, of all splits together (figures 1
and 6 of the paper).
"""

import argparse
import sys

import compare
import data
import models
import numpy as np


def row(trials, limit, near):
    """Return the numbers of a model: means over splits, each from its own designs."""
    splits = []
    for one in trials:
        error, dsp = (np.array([trial[name] for trial in one]) for name in ("value", "dsp"))
        best = error.argmin()
        similar = dsp[error <= error[best] + near]
        fair = error[dsp <= limit]
        splits.append((error[best], dsp[best], similar.min(), similar.max(), 100 * len(fair) / len(one), fair.min() if len(fair) else np.nan))
    return np.nanmean(splits, axis=0)


def main():
    parser = argparse.ArgumentParser(description="Print the range of dsp among the most accurate models, and how many models are fair.")
    parser.add_argument("--data", required=True, choices=list(data.READERS))
    parser.add_argument("--limit", type=float, default=0.05, help="largest dsp of a fair model; default %(default)s")
    parser.add_argument("--near", type=float, default=0.02, help="largest difference in error from the best model; default %(default)s")
    parser.add_argument("--results", default="results.jsonl", help="file of compare.py")
    args = parser.parse_args()

    lines = [line for line in compare.read(args.results) if (line["data"], line["method"]) == (args.data, "random")]
    if not lines:
        sys.exit(f"spread.py: {args.results} has no random search on {args.data}; compare.py makes it")
    print(f"| model | designs | best error | its dsp | dsp within {args.near} of the best error | % with dsp ≤ {args.limit} | best error of these |")
    print("|---|---|---|---|---|---|---|")
    for model in models.SPACES:
        if trials := [line["trials"] for line in lines if line["model"] == model]:
            error, dsp, low, high, share, fair = row(trials, args.limit, args.near)
            print(f"| {model} | {sum(map(len, trials))} | {error:.3f} | {dsp:.3f} | {low:.3f} to {high:.3f} | {share:.0f} | {fair:.3f} |")


if __name__ == "__main__":
    main()
