"""Tunes a function with the client of OSS Vizier. `fbo-node serve --vizier 127.0.0.1:28080` chooses the trials.

    python tune.py --client laptop --trials 15
    python tune.py --client laptop --trials 15 --metrics 2

Nothing in it is specific to fbo but the address.
"""

import argparse
import json

from vizier.service import clients
from vizier.service import pyvizier as vz

parser = argparse.ArgumentParser()
parser.add_argument("--endpoint", default="127.0.0.1:28080")
parser.add_argument("--study", default="rosenbrock")
parser.add_argument("--client", default="laptop", help="another one for each worker")
parser.add_argument("--trials", type=int, default=15)
parser.add_argument("--metrics", type=int, choices=[1, 2], default=1)
parser.add_argument("--hold", action="store_true", help="end with a trial that is not evaluated")
parser.add_argument("--summary", action="store_true", help="print all trials in JSON")
args = parser.parse_args()

clients.environment_variables.server_endpoint = args.endpoint


def config():
    study = vz.StudyConfig(algorithm="DEFAULT")
    root = study.search_space.root
    root.add_float_param("x", -2.0, 2.0)
    root.add_float_param("y", -1.0, 3.0)
    mode = root.add_categorical_param("mode", ["plain", "scaled"])
    mode.select_values(["scaled"]).add_float_param("scale", 0.1, 10.0, scale_type=vz.ScaleType.LOG)
    study.metric_information.append(vz.MetricInformation("loss", goal=vz.ObjectiveMetricGoal.MINIMIZE))
    if args.metrics == 2:
        study.metric_information.append(vz.MetricInformation("speed", goal=vz.ObjectiveMetricGoal.MAXIMIZE))
    else:
        study.automated_stopping_config = vz.AutomatedStoppingConfig.default_stopping_spec()
    return study


def evaluate(trial):
    p = trial.parameters
    if p["x"] > 1.5:
        trial.complete(infeasible_reason="x is too large")
        return "infeasible"
    loss = (1 - p["x"]) ** 2 + 100 * (p["y"] - p["x"] ** 2) ** 2 + p.get("scale", 1.0)
    if args.metrics == 1:
        for epoch in range(5):  # the loss falls to its final value
            trial.add_measurement(vz.Measurement({"loss": loss * (2 - 0.25 * epoch)}, steps=epoch))
            if trial.check_early_stopping():
                trial.complete()
                return "stopped"
    metadata = vz.Metadata()
    metadata.ns("worker")["client"] = args.client
    trial.update_metadata(metadata)
    values = {"loss": loss} if args.metrics == 1 else {"loss": loss, "speed": p["x"]}
    trial.complete(vz.Measurement(values, elapsed_secs=1))
    return loss


study = clients.Study.from_study_config(config(), owner="me", study_id=args.study)
for _ in range(args.trials):
    for trial in study.suggest(count=1, client_id=args.client):
        print(trial.id, evaluate(trial), flush=True)
if args.hold:
    for trial in study.suggest(count=1, client_id=args.client):
        print(trial.id, "held")
if args.summary:
    optimal = [trial.id for trial in study.optimal_trials()]
    for trial in study.trials().get():
        print(json.dumps({
            "id": trial.id,
            "state": trial.status.name,
            "client": trial.assigned_worker,
            "infeasible": trial.infeasible,
            "values": {name: m.value for name, m in trial.final_measurement.metrics.items()} if trial.final_measurement else {},
            "written_by": trial.metadata.ns("worker").get("client"),
            "steps": len(trial.measurements),
            "optimal": trial.id in optimal,
        }))
