"""The ServerApp: FedAvg, then one message to each site to tune its fine-tuning."""

from __future__ import annotations

import json
from pathlib import Path

from flwr.app import ArrayRecord, ConfigRecord, Context, Message, RecordDict
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg

from . import training

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    """Train a model of all, have the sites tune their own, and write what they report to a file."""
    config = context.run_config
    strategy = ScaledFedAvg(
        server_rate=float(config["server-rate"]),
        fraction_train=float(config["fraction"]),
        min_train_nodes=1,
        fraction_evaluate=0.0,
        min_available_nodes=training.SITES,
    )
    train_config = ConfigRecord({name: config[name] for name in training.DEFAULTS})
    start = ArrayRecord(training.initial(int(config["seed"])))
    result = strategy.start(grid, start, num_rounds=int(config["rounds"]), train_config=train_config)

    asked = {"arrays": result.arrays}
    if config["arms"]:
        kind = "query.tune"
        asked["config"] = ConfigRecord({name: config[name] for name in ("arms", "task", "evals")})
    else:
        kind = "evaluate"
    messages = [Message(RecordDict(asked), message_type=kind, dst_node_id=node) for node in grid.get_node_ids()]
    replies = list(grid.send_and_receive(messages))
    failed = [reply.error.reason for reply in replies if reply.has_error()]
    found = [dict(reply.content["metrics"]) for reply in replies if not reply.has_error()]
    out = Path(str(config["out"]))
    unfinished = out.with_suffix(".part")
    unfinished.write_text(json.dumps({"seed": config["seed"], "sites": found, "failed": failed}), encoding="utf-8")
    unfinished.replace(out)  # a reader sees the whole file


class ScaledFedAvg(FedAvg):
    """FedAvg whose server moves by a multiple of the mean change: 1 is FedAvg."""

    def __init__(self, server_rate: float, **keywords: object) -> None:
        super().__init__(**keywords)
        self.server_rate = server_rate
        self._model: training.Weights = []

    def configure_train(self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid) -> list[Message]:
        """Keep the model that the sites start from."""
        self._model = arrays.to_numpy_ndarrays()
        return list(super().configure_train(server_round, arrays, config, grid))

    def aggregate_train(self, server_round: int, replies: list[Message]) -> tuple:
        """Scale the change of the aggregated model."""
        arrays, metrics = super().aggregate_train(server_round, replies)
        if arrays is not None:
            moved = [old + self.server_rate * (new - old) for old, new in zip(self._model, arrays.to_numpy_ndarrays())]
            arrays = ArrayRecord(moved)
        return arrays, metrics
