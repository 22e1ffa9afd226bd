"""A client of the NVFlare job: local training in all rounds but the last, in which the site tunes its own fine-tuning."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import fbo
import nvflare.client as flare
import numpy as np
from sites import training, tuning

KEY = "numpy_key"  # under which NVFlare keeps a model that is one array

def main() -> None:
    """Serve the rounds of one job."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, required=True, help="with the data directory of each site's node: site-1, site-2 and so on")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--evals", type=int, required=True)
    parser.add_argument("--arms", required=True)
    args = parser.parse_args()
    flare.init()
    name = flare.get_site_name()
    number = int(name.removeprefix("site-")) - 1
    site = training.load(number, args.seed)
    while flare.is_running():
        received = flare.receive()
        if received is None:
            break
        model = unflatten(received.params[KEY], training.initial(args.seed))
        metrics = training.measure(model, site.valid)
        if received.current_round + 1 < received.total_rounds:
            model = training.train(site, model, args.seed)
        else:  # the model of all is final: the site sends it back, and keeps its own
            found = {"site": number, **tuning.untuned(site, model, args.seed)}
            with fbo.Node(args.folder / name) as node:
                for arm in args.arms.split(","):
                    own = training.SITES * args.seed + number
                    got = tuning.tune(node, f"digits-{args.seed}", arm, site, model, args.evals, own)
                    found |= {f"{key}_{arm}": value for key, value in got.items()}
            (args.folder / f"{name}.json").write_text(json.dumps(found), encoding="utf-8")
        meta = {"NUM_STEPS_CURRENT_ROUND": len(site.train[1])}
        flare.send(flare.FLModel(params={KEY: np.concatenate([array.ravel() for array in model])}, metrics=metrics, meta=meta))


def unflatten(values: np.ndarray, like: training.Weights) -> training.Weights:
    """Return the matrices and intercepts of a model that is one array; like has their shapes."""
    ends = np.cumsum([array.size for array in like])
    return [part.reshape(array.shape) for part, array in zip(np.split(np.asarray(values), ends[:-1]), like)]


if __name__ == "__main__":
    main()
