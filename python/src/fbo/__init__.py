"""Peer-to-peer federated Bayesian optimisation, over the HTTP interface of fbo-node."""

from .errors import (
    BadInput,
    BinaryMissing,
    Conflict,
    Denied,
    Error,
    Field,
    NotFound,
    NotStarted,
    Problem,
    Refused,
    Unavailable,
    Unreachable,
)
from .http import Client
from .node import Node
from .task import Event, Task
from .trial import Trial

__all__ = [
    "BadInput",
    "BinaryMissing",
    "Client",
    "Conflict",
    "Denied",
    "Error",
    "Event",
    "Field",
    "Node",
    "NotFound",
    "NotStarted",
    "Problem",
    "Refused",
    "Task",
    "Trial",
    "Unavailable",
    "Unreachable",
]
