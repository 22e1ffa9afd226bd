"""The ClientApp of a site: local training for FedAvg, and the tuning of its fine-tuning."""

from __future__ import annotations

import fbo
from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

from . import training, tuning

app = ClientApp()


@app.train()
def train(message: Message, context: Context) -> Message:
    """Train the model of all on the site's images, with the settings of the server."""
    site = _site(context)
    settings = {key: value for key, value in message.content["config"].items() if key in training.DEFAULTS}
    model = training.train(site, _model(message), _seed(context), **settings)
    return _reply(message, {"num-examples": len(site.train[1])}, model)


@app.evaluate()
def evaluate(message: Message, context: Context) -> Message:
    """Measure the model of all on the site's validation and test images."""
    site, model = _site(context), _model(message)
    valid, test = training.measure(model, site.valid), training.measure(model, site.test)
    found = {"valid_loss": valid["loss"], "test_loss": test["loss"], "test_error": test["error"]}
    return _reply(message, {"num-examples": len(site.valid[1]), "site": int(context.node_config["site"]), **found})


@app.query("tune")
def tune(message: Message, context: Context) -> Message:
    """Tune the fine-tuning of the model of all, by the site's own node: it must run, or it starts without peers."""
    site, model, seed = _site(context), _model(message), _seed(context)
    found = {"site": int(context.node_config["site"]), **tuning.untuned(site, model, seed)}
    config = message.content["config"]
    with fbo.Node(str(context.node_config["fbo-dir"])) as node:
        for arm in str(config["arms"]).split(","):
            own = training.SITES * seed + int(context.node_config["site"])  # sites do not begin with the same designs
            got = tuning.tune(node, str(config["task"]), arm, site, model, int(config["evals"]), own)
            found |= {f"{key}_{arm}": value for key, value in got.items()}
    return _reply(message, found)


def _site(context: Context) -> training.Site:
    return training.load(int(context.node_config["site"]), _seed(context))


def _seed(context: Context) -> int:
    return int(context.run_config["seed"])


def _model(message: Message) -> training.Weights:
    return message.content["arrays"].to_numpy_ndarrays()


def _reply(message: Message, metrics: dict[str, float], model: training.Weights | None = None) -> Message:
    content = RecordDict({"metrics": MetricRecord(metrics)})
    if model is not None:
        content["arrays"] = ArrayRecord(model)
    return Message(content=content, reply_to=message)
