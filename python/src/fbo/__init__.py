"""Peer-to-peer federated Bayesian optimisation, by a node (fbo-node) that this package starts or finds."""

from .annotations import File, Note
from .errors import (
    BadInput,
    BinaryMissing,
    Conflict,
    Denied,
    Error,
    Failed,
    Field,
    Interrupted,
    NotAdmitted,
    NotFound,
    NotStarted,
    Problem,
    Refused,
    TrialStopped,
    Unavailable,
    Unreachable,
)
from .http import Client
from .node import JoinPreview, Node
from .objectives import Objective
from .optimize import maximize, minimize
from .result import Result
from .run import Run
from .space import Bool, Categorical, Fixed, Float, Int, Parameter
from .stopping import Asha, Forecast, Median, Patience, Stop, StopRule
from .task import Event, Task
from .trial import Recommendation, Trial
from .version import __version__

TrialPruned = TrialStopped  # the word of Optuna

__all__ = [
    "Asha",
    "BadInput",
    "BinaryMissing",
    "Bool",
    "Categorical",
    "Client",
    "Conflict",
    "Denied",
    "Error",
    "Event",
    "Failed",
    "Field",
    "File",
    "Fixed",
    "Float",
    "Forecast",
    "Int",
    "Interrupted",
    "JoinPreview",
    "Median",
    "Node",
    "NotAdmitted",
    "NotFound",
    "NotStarted",
    "Note",
    "Objective",
    "Parameter",
    "Patience",
    "Problem",
    "Recommendation",
    "Refused",
    "Result",
    "Run",
    "Stop",
    "StopRule",
    "Task",
    "Trial",
    "TrialPruned",
    "TrialStopped",
    "Unavailable",
    "Unreachable",
    "__version__",
    "maximize",
    "minimize",
]
