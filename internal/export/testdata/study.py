"""Prints, as JSON, what Optuna reads of the only study in a journal.

Each value is checked as Optuna checks it when trials are copied to another study.
"""
import json
import sys
import warnings
from datetime import timezone

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

warnings.simplefilter("error")  # such as of a range that its step does not divide
optuna.logging.set_verbosity(optuna.logging.ERROR)
storage = JournalStorage(JournalFileBackend(sys.argv[1]))
(name,) = optuna.get_all_study_names(storage)
study = optuna.load_study(study_name=name, storage=storage)
copy = optuna.create_study(direction=study.direction)
for trial in study.trials:
    copy.add_trial(trial)
try:
    best = study.best_trial.number
except ValueError:  # nothing is feasible
    best = None


def seconds(moment):
    return moment.astimezone(timezone.utc).timestamp() if moment else None


json.dump(
    {
        "version": optuna.__version__,
        "name": name,
        "direction": study.direction.name,
        "attributes": study.user_attrs,
        "best": best,
        "trials": [
            {
                "number": t.number,
                "state": t.state.name,
                "value": t.value,
                "params": t.params,
                "types": {k: type(v).__name__ for k, v in t.params.items()},
                "distributions": {k: repr(d) for k, d in t.distributions.items()},
                "attributes": t.user_attrs,
                "constraints": t.constraints,
                "intermediate": t.intermediate_values,
                "started": seconds(t.datetime_start),
                "ended": seconds(t.datetime_complete),
            }
            for t in study.trials
        ],
    },
    sys.stdout,
)
