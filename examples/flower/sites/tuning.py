"""The tuning of one site by its node of fbo."""

from __future__ import annotations

import fbo

from . import training

SPACE = [
    fbo.Float("rate", 1e-4, 0.3, log=True),
    fbo.Float("alpha", 1e-6, 1, log=True),
    fbo.Int("batch", 8, 128, log=True),
    fbo.Int("epochs", 1, 20, log=True),
]
STRATEGIES = {"together": "peer-prior", "alone": "alone"}


def task(name: str, arm: str) -> dict[str, object]:
    """Return the content of the task file, the same at all sites; arm is a key of STRATEGIES."""
    return {
        "name": f"{name}-{arm}",
        "goal": "minimize",  # the mean log loss on the site's validation images
        "parameters": [parameter.definition() for parameter in SPACE],
        "strategy": {"type": STRATEGIES[arm]},
    }


def tune(node: fbo.Node, name: str, arm: str, site: training.Site, start: training.Weights, evals: int, seed: int) -> dict[str, float]:
    """Fine-tune the model of all on a site until the node has evals values of the task; return losses and errors.

    Each trial begins at the same model, so the objective does not change during the search. A site's settings are the
    best on its validation images; the results of its test images are measured here and influence nothing.
    """

    def loss(**settings: float) -> tuple[float, dict[str, float]]:
        model = training.train(site, start, seed, **settings)
        tested = training.measure(model, site.test)
        return training.measure(model, site.valid)["loss"], {f"test_{key}": value for key, value in tested.items()}

    result = fbo.minimize(loss, task(name, arm), node=node, evals=evals, seed=seed, progress=False)
    found = {"evals": float(len(result.trials))}
    best = None
    for count, trial in enumerate(result.trials, start=1):
        if trial.value is not None and (best is None or trial.value < best.value):
            best = trial
        if best is not None and count in (evals // 4, evals // 2, evals):
            found |= {f"valid_loss_{count}": best.value, **{f"{key}_{count}": best.metrics[key] for key in ("test_loss", "test_error")}}
    return found | {f"best_{key}": float(value) for key, value in best.parameters.items()}


def untuned(site: training.Site, start: training.Weights, seed: int) -> dict[str, float]:
    """Return the same losses and errors of the model of all, and of a fine-tuning with the defaults."""
    found = {}
    for name, model in (("global", start), ("defaults", training.train(site, start, seed))):
        found[f"valid_loss_{name}"] = training.measure(model, site.valid)["loss"]
        found |= {f"test_{key}_{name}": value for key, value in training.measure(model, site.test).items()}
    return found
