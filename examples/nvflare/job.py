"""FedAvg of five sites by NVFlare, whose sites tune their own fine-tuning: python job.py --help"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import nvflare.recipe
from nvflare.app_common.np.recipes.fedavg import NumpyFedAvgRecipe

HERE = Path(__file__).parent
APP = HERE.parent / "flower"  # has the data, the model and the tuning of a site, without Flower
sys.path.insert(0, str(APP))

import nodes  # noqa: E402
from sites import training  # noqa: E402


def main() -> None:
    """Run the job in NVFlare's simulator, and print what each site reports."""
    parser = argparse.ArgumentParser(description="FedAvg in NVFlare's simulator, then the tuning of five sites.")
    parser.add_argument("--seed", type=int, default=1, help="of the split of the data; default %(default)s")
    parser.add_argument("--rounds", type=int, default=3, help="of FedAvg; default %(default)s")
    parser.add_argument("--evals", type=int, default=16, help="of each site, 4 or more; default %(default)s")
    parser.add_argument("--arms", default="together", help="together, alone, or both with a comma; default %(default)s")
    args = parser.parse_args()
    if args.rounds < 1 or args.evals < 4:
        parser.error(f"--rounds {args.rounds}, --evals {args.evals}: expected 1 and 4 or more")
    with tempfile.TemporaryDirectory(prefix="fbo", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        sites = [f"site-{number + 1}" for number in range(training.SITES)]
        with nodes.running(folder, sites):
            recipe = NumpyFedAvgRecipe(
                name="fbo-sites",
                model=np.concatenate([array.ravel() for array in training.initial(args.seed)]).tolist(),
                min_clients=len(sites),
                num_rounds=args.rounds + 1,
                train_script=str(HERE / "client.py"),
                train_args=f"--folder {folder} --seed {args.seed} --evals {args.evals} --arms {args.arms}",
                key_metric="loss",
                key_metric_mode="min",
            )
            # NVFlare copies what a folder contains: the package needs a folder around it.
            shutil.copytree(APP / "sites", folder / "code" / "sites", ignore=shutil.ignore_patterns("*_app.py", "__pycache__"))
            recipe.add_client_file(str(folder / "code"))
            recipe.run(nvflare.recipe.SimEnv(clients=sites, workspace_root=str(folder / "nvflare"), log_config="concise"))
        missing = [site for site in sites if not (folder / f"{site}.json").exists()]
        if missing:
            sys.exit(f"no result of {', '.join(missing)}: the log of NVFlare is above")
        for site in sites:
            print(json.dumps(json.loads((folder / f"{site}.json").read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
