"""Compare fbo with Optuna and Syne Tune where trainings report values by step and can be stopped early.

    python benchmarks/stopping.py --seeds 10 --json results.jsonl --cache trainings.db

The objective is the validation log loss of a real training of scikit-learn after its 27th step:

- network: a network, trained by stochastic gradient descent on images of digits. A step is three epochs.
- boosting: gradient boosting that separates even and odd digits. A step is three trees.

Each seed divides the digits among four members. All methods optimise for the first one, with the same budget of
steps. Where four nodes work together, each of the others has the same budget for a part of its own. Of the unlike
ones, one has its losses in another unit, one classifies wines and one tumours. The nodes are processes, connected by
TCP. The node that has used the fewest steps is the next to make one, so all are equally fast.

A line of the table has

- the steps until the loss that full trainings alone have at the end of the budget, divided by theirs: the geometric
  mean over the seeds, and its 95 % bounds (of Student's t). A run that does not reach the loss counts as the whole
  budget;
- the number of these runs;
- the mean simple regret after a third, two thirds and all of the budget: the loss less the least one that any method
  of this seed has found;
- the mean number of trainings, and of those until the last step.

Only the losses of trainings until the last step count. Results are appended to the file as they are made; a second
call with the same file makes only those that it does not have. The cache has the losses by step of all trainings, so
methods that train the same design do so once. scikit-learn 1.7.2, Optuna 5.0.0 and syne-tune[gpsearchers] 0.13.0
with NumPy below 2 are needed. Later versions of Syne Tune do not have MOBSTER.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import heapq
import io
import itertools
import json
import logging
import math
import sqlite3
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import threadpoolctl

import fbo

FLAGS = ["--mdns=false", "--listen", "/ip4/127.0.0.1/tcp/0", "--wait-for-peers", "0"]
STEPS = 27
PASSES = 3  # epochs, or trees, in a step
FACTOR = 3  # between rungs; the first step at which a training may be stopped is 1
STARTUP = 5  # full trainings before the rules forecast and median stop any
SETTLE = 0.05  # seconds from an outcome until the next design, for shares to arrive

Design = Mapping[str, Any]


@dataclass(frozen=True)
class Data:
    train_x: Any
    train_y: Any
    valid_x: Any
    valid_y: Any


@lru_cache
def rows(source: str) -> tuple[Any, Any]:
    """Return all inputs, scaled, and labels from 0."""
    from sklearn import datasets
    from sklearn.preprocessing import StandardScaler

    inputs, labels = getattr(datasets, f"load_{source}")(return_X_y=True)
    return StandardScaler().fit_transform(inputs), labels


@lru_cache
def part(source: str, seed: int, index: int, parts: int) -> Data:
    """Return one of the disjoint parts into which a seed divides the rows of a source. A third of it is for training."""
    inputs, labels = rows(source)
    chosen = np.random.default_rng(seed).permutation(len(labels))[index::parts]
    train, valid = np.split(chosen, [len(chosen) // 3])
    return Data(inputs[train], labels[train], inputs[valid], labels[valid])


@dataclass(frozen=True)
class Member:
    """Data, and the unit of the losses."""

    source: str
    index: int = 0
    parts: int = 1
    unit: float = 1.0
    offset: float = 0.0

    def data(self, seed: int) -> Data:
        return part(self.source, seed, self.index, self.parts)


SIMILAR = tuple(Member("digits", index, 4) for index in range(4))
UNLIKE = (SIMILAR[0], Member("digits", 1, 4, unit=100, offset=300), Member("wine"), Member("breast_cancer"))
ALONE = SIMILAR[:1]


def network(design: Design, data: Data) -> Iterator[Any]:
    """Yield the probabilities of the validation rows after each step. A call of partial_fit makes all epochs of a step."""
    from sklearn.neural_network import MLPClassifier

    classes = np.unique(data.train_y)
    train_x, train_y = np.tile(data.train_x, (PASSES, 1)), np.tile(data.train_y, PASSES)
    model = MLPClassifier(
        hidden_layer_sizes=(design["width"],) * design["layers"],
        activation=design["activation"],
        solver="sgd",
        learning_rate_init=design["rate"],
        alpha=design["l2"],
        batch_size=min(design["batch"], len(train_y)),
        momentum=design["momentum"],
        random_state=1,
    )
    for _ in range(STEPS):
        try:
            model.partial_fit(train_x, train_y, classes=classes)
            yield model.predict_proba(data.valid_x)
        except ValueError as problem:  # the training has diverged
            if "non-finite" not in str(problem).lower() and "nan" not in str(problem).lower():
                raise
            yield np.full((len(data.valid_y), len(classes)), np.nan)


def boosting(design: Design, data: Data) -> Iterator[Any]:
    """Yield the probabilities of the validation rows after each step. Trees are made as they are needed."""
    from sklearn.ensemble import GradientBoostingClassifier

    model = GradientBoostingClassifier(**design, warm_start=True, random_state=1)
    made = 0
    while made < STEPS * PASSES:
        model.set_params(n_estimators=min(STEPS * PASSES, max(PASSES, 3 * made)))
        model.fit(data.train_x, data.train_y)
        yield from itertools.islice(model.staged_predict_proba(data.valid_x), made + PASSES - 1, None, PASSES)
        made = model.n_estimators


def even(data: Data) -> Data:
    return Data(data.train_x, data.train_y % 2, data.valid_x, data.valid_y % 2)


def log_loss(probabilities: Any, labels: Any) -> float:
    """Return the mean log loss. No probability counts as less than 0.001, and no mean as worse than 1.5 times a guess's."""
    of_label = np.nan_to_num(probabilities[np.arange(len(labels)), labels], nan=0)
    guess = math.log(probabilities.shape[1])
    return float(min(-np.log(np.clip(of_label, 0.001, 1)).mean(), 1.5 * guess))


@dataclass(frozen=True)
class Problem:
    """Parameters, as in a task file, and a training."""

    name: str
    parameters: list[dict[str, Any]]
    train: Callable[[Design, Data], Iterator[Any]]
    view: Callable[[Data], Data] = lambda data: data

    def losses(self, design: Design, member: Member, seed: int) -> Iterator[float]:
        """Yield the loss after each step. It depends on the arguments only."""
        from sklearn import config_context

        data = member.data(seed)
        if member.source == "digits":
            data = self.view(data)
        with config_context(assume_finite=True, skip_parameter_validation=True), np.errstate(all="ignore"):
            for probabilities in self.train(design, data):
                yield log_loss(probabilities, data.valid_y)


def parameter(name: str, low: float, high: float, log: bool = False) -> dict[str, Any]:
    kind = "int" if isinstance(low, int) and isinstance(high, int) else "float"
    return {"name": name, "type": kind, "low": low, "high": high, "scale": "log" if log else "linear"}


PROBLEMS = {
    one.name: one
    for one in (
        Problem("network", [
            parameter("width", 4, 64, log=True),
            parameter("layers", 1, 3),
            parameter("rate", 1e-4, 1.0, log=True),
            parameter("l2", 1e-6, 10.0, log=True),
            parameter("batch", 50, 150, log=True),
            parameter("momentum", 0.0, 0.99),
            {"name": "activation", "type": "categorical", "choices": ["relu", "tanh", "logistic"]},
        ], network),
        Problem("boosting", [
            parameter("learning_rate", 0.01, 1.0, log=True),
            parameter("max_depth", 1, 8),
            parameter("min_samples_leaf", 1, 32, log=True),
            parameter("subsample", 0.3, 1.0),
            parameter("max_features", 0.05, 1.0),
            parameter("min_impurity_decrease", 1e-6, 0.1, log=True),
        ], boosting, even),
    )
}  # fmt: skip


class Trainings:
    """The losses by step of all trainings, on disk if it has a path."""

    def __init__(self, path: Path | None) -> None:
        self._database = sqlite3.connect(path or ":memory:", isolation_level=None)
        self._database.execute("PRAGMA synchronous = OFF")
        self._database.execute("CREATE TABLE IF NOT EXISTS training (key TEXT PRIMARY KEY, losses TEXT)")

    def losses(self, problem: Problem, design: Design, member: Member, seed: int) -> Iterator[float]:
        """Yield the loss after each step. A step is computed when it is asked for, unless it is stored."""
        of = (problem.name, member.source, member.index, member.parts, seed, sorted(design.items()))
        key = json.dumps(of)
        row = self._database.execute("SELECT losses FROM training WHERE key = ?", (key,)).fetchone()
        known: list[float] = json.loads(row[0]) if row else []
        stored = len(known)
        yield from known
        try:
            if stored < STEPS:
                for loss in itertools.islice(problem.losses(design, member, seed), stored, None):
                    known.append(loss)
                    yield loss
        finally:
            if len(known) > stored:
                self._database.execute("INSERT OR REPLACE INTO training VALUES (?, ?)", (key, json.dumps(known)))


@dataclass
class Run:
    """What one member does within its budget of steps."""

    trainings: Trainings
    problem: Problem
    member: Member
    seed: int
    budget: int
    used: int = 0
    started: int = 0
    complete: int = 0
    best: list[tuple[int, float]] = field(default_factory=list)  # the steps used until each improvement, and the loss

    @property
    def ended(self) -> bool:
        return self.used >= self.budget

    def train(self, design: Design) -> Iterator[tuple[int, float]]:
        """Yield step and loss until the last step, or the end of the budget."""
        self.started += 1
        with contextlib.closing(self.trainings.losses(self.problem, design, self.member, self.seed)) as losses:  # type: ignore[type-var]
            for step, loss in enumerate(losses, 1):
                if self.ended:
                    return
                self.used += 1
                if step == STEPS:
                    self.complete += 1
                    if not self.best or loss < self.best[-1][1]:
                        self.best.append((self.used, loss))
                yield step, loss


_numbers = itertools.count()  # of tasks: their names, and so their IDs, differ

Begin = Callable[[Member], Run]
Method = Callable[[Sequence[fbo.Node], Begin], Run]  # the run of the first member


@contextlib.contextmanager
def connected(count: int) -> Iterator[list[fbo.Node]]:
    """Start nodes that are connected to each other."""
    with contextlib.ExitStack() as stack:
        nodes: list[fbo.Node] = []
        peers: list[str] = []
        for _ in range(count):
            directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="fbo-"))
            nodes.append(stack.enter_context(fbo.Node(Path(directory), flags=FLAGS, peers=peers)))
            peers.append(next(one for one in nodes[-1].info()["addresses"] if "/tcp/" in one))
        yield nodes


def by_fbo(members: Sequence[Member], sections: str, nodes: Sequence[fbo.Node], begin: Begin) -> Run:
    """Have a node for each member work on one new task, with these sections."""
    runs = [begin(member) for member in members]
    problem, seed = runs[0].problem, runs[0].seed
    name = f"{problem.name}-{seed}-{next(_numbers)}"
    text = f"name: {name}\ngoal: minimize\nparameters: {json.dumps(problem.parameters)}\n{sections}\n"
    with contextlib.ExitStack() as stack:
        tasks: list[fbo.Task] = []
        for index, node in enumerate(nodes[: len(runs)]):
            tasks.append(stack.enter_context(node.task(text, seed=seed + 1_000_000 * index)))
            stack.callback(tasks[-1].leave)
        while any(len(task.peers()) < len(tasks) - 1 for task in tasks):
            time.sleep(0.05)
        news = News(settle=SETTLE if len(tasks) > 1 else 0)
        steps = [one_member(task, run, "stop:" in sections, news) for task, run in zip(tasks, runs)]
        turn = itertools.count()
        clocks = [(0, next(turn), i) for i in range(len(runs))]
        while not runs[0].ended:
            _, _, i = heapq.heappop(clocks)
            if next(steps[i], None) is not None:
                heapq.heappush(clocks, (runs[i].used, next(turn), i))
    return runs[0]


class News:
    """The time of the last outcome of any node. Trainings of real length leave its share the time to arrive."""

    def __init__(self, settle: float) -> None:
        self.settle = settle
        self._last = -math.inf

    def made(self) -> None:
        self._last = time.monotonic()

    def await_arrival(self) -> None:
        time.sleep(max(0.0, self._last + self.settle - time.monotonic()))


def one_member(task: fbo.Task, run: Run, reports: bool, news: News) -> Iterator[int]:
    """Evaluate designs of a node, and yield after each step and before each design.

    So nodes that end trainings after the same number of steps all publish before any of them gets its next design.
    Values by step are reported if there is a rule.
    """
    while not run.ended:
        yield run.used
        news.await_arrival()
        (trial,) = task.ask()
        for step, loss in run.train(trial.parameters):
            value = run.member.offset + run.member.unit * loss
            yield step
            if reports and task.report(trial, step, value):
                task.stop(trial)
                news.made()
                break
            if step == STEPS:
                task.tell(trial, value)
                news.made()


def by_optuna(
    sampler: Callable[[int], optuna.samplers.BaseSampler],
    pruner: Callable[[], optuna.pruners.BasePruner],
    nodes: Sequence[fbo.Node],
    begin: Begin,
) -> Run:
    run = begin(ALONE[0])
    name = f"{run.problem.name}-{run.seed}"  # HyperbandPruner chooses brackets by it
    study = optuna.create_study(study_name=name, sampler=sampler(run.seed), pruner=pruner())
    while not run.ended:
        trial = study.ask()
        for step, loss in run.train({one["name"]: suggest(trial, one) for one in run.problem.parameters}):
            trial.report(loss, step)
            if step == STEPS:
                study.tell(trial, loss)
            elif trial.should_prune():
                study.tell(trial, state=optuna.trial.TrialState.PRUNED)
                break
    return run


def suggest(trial: optuna.Trial, one: Mapping[str, Any]) -> Any:
    if one["type"] == "categorical":
        return trial.suggest_categorical(one["name"], one["choices"])
    kind = trial.suggest_int if one["type"] == "int" else trial.suggest_float
    return kind(one["name"], one["low"], one["high"], log=one["scale"] == "log")


def by_syne_tune(scheduler: str, nodes: Sequence[fbo.Node], begin: Begin) -> Run:
    """Call a scheduler as its tuner does with one worker, without a backend."""
    with contextlib.redirect_stdout(io.StringIO()):  # advice on optional packages
        from syne_tune.backend.trial_status import Trial
        from syne_tune.optimizer import baselines
        from syne_tune.optimizer.scheduler import SchedulerDecision

    run = begin(ALONE[0])
    chosen = getattr(baselines, scheduler)(
        {one["name"]: domain(one) for one in run.problem.parameters},
        metric="loss",
        resource_attr="step",
        mode="min",
        type="stopping",
        max_t=STEPS,
        grace_period=1,
        reduction_factor=FACTOR,
        random_seed=run.seed,
        search_options={"debug_log": False},
    )
    for number in itertools.count():
        if run.ended:
            return run
        trial = Trial(number, chosen.suggest(number).config, datetime.datetime.now())
        chosen.on_trial_add(trial)
        design = {one["name"]: plain(trial.config[one["name"]], one) for one in run.problem.parameters}
        for step, loss in run.train(design):
            if chosen.on_trial_result(trial, {"loss": loss, "step": step}) == SchedulerDecision.STOP:
                chosen.on_trial_remove(trial)
                break
            if step == STEPS:
                chosen.on_trial_complete(trial, {"loss": loss, "step": step})
    raise AssertionError("unreachable")


def domain(one: Mapping[str, Any]) -> Any:
    from syne_tune import config_space

    if one["type"] == "categorical":
        return config_space.choice(one["choices"])
    kinds = {
        ("int", "linear"): config_space.randint,
        ("int", "log"): config_space.lograndint,
        ("float", "linear"): config_space.uniform,
        ("float", "log"): config_space.loguniform,
    }
    return kinds[one["type"], one["scale"]](one["low"], one["high"])


def plain(value: Any, one: Mapping[str, Any]) -> Any:
    return value if one["type"] == "categorical" else int(value) if one["type"] == "int" else float(value)


CONTROL = "alone"
FORECAST = f"stop: {{type: forecast, startup_trials: {STARTUP}}}"
SHARED = f"stop: {{type: forecast, startup_trials: {STARTUP}, share: quartiles}}"
ASHA = f"stop: {{type: asha, reduction_factor: {FACTOR}}}"
MEDIAN = f"stop: {{type: median, startup_trials: {STARTUP}}}"
LOGEI = "strategy: {type: logei}"

# A method of fbo is a line: whose nodes work on the task, and sections of its file.
METHODS: dict[str, Method] = {
    CONTROL: partial(by_fbo, ALONE, LOGEI),
    "alone-forecast": partial(by_fbo, ALONE, f"{LOGEI}\n{FORECAST}"),
    "alone-asha": partial(by_fbo, ALONE, f"{LOGEI}\n{ASHA}"),
    "alone-median": partial(by_fbo, ALONE, f"{LOGEI}\n{MEDIAN}"),
    "together": partial(by_fbo, SIMILAR, ""),
    "together-forecast": partial(by_fbo, SIMILAR, FORECAST),
    "together-shared": partial(by_fbo, SIMILAR, SHARED),
    "unlike-forecast": partial(by_fbo, UNLIKE, FORECAST),
    "unlike-shared": partial(by_fbo, UNLIKE, SHARED),
    "random": partial(by_optuna, optuna.samplers.RandomSampler, optuna.pruners.NopPruner),
    "optuna-hyperband": partial(
        by_optuna,
        lambda seed: optuna.samplers.TPESampler(seed=seed),
        lambda: optuna.pruners.HyperbandPruner(min_resource=1, max_resource=STEPS, reduction_factor=FACTOR),
    ),
    "optuna-median": partial(
        by_optuna,
        lambda seed: optuna.samplers.TPESampler(seed=seed),
        lambda: optuna.pruners.MedianPruner(n_startup_trials=STARTUP),
    ),
    "syne-tune-asha": partial(by_syne_tune, "ASHA"),
    "syne-tune-mobster": partial(by_syne_tune, "MOBSTER"),
}

Found = dict[str, Any]  # a line of the file of results


def read(path: Path | None) -> dict[tuple[str, str, int, int], Found]:
    if path is None or not path.exists():
        return {}
    lines = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return {(one["problem"], one["method"], one["seed"], one["budget"]): one for one in lines}


def steps_until(found: Found, loss: float) -> int | None:
    return next((used for used, value in found["best"] if value <= loss), None)


def loss_at(found: Found, used: float) -> float:
    """Return the best loss until then. Before the first training is complete it is that of a guess."""
    return float(min((value for when, value in found["best"] if when <= used), default=found["guess"]))


def bounds(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean and its 95 % bounds."""
    from scipy import stats

    mean = statistics.mean(values)
    if len(values) < 2:
        return mean, -math.inf, math.inf
    half = stats.t.ppf(0.975, len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return mean, mean - half, mean + half


def print_table(problem: str, budget: int, of: Mapping[str, list[Found]]) -> None:
    print(f"{problem:18} steps  95 % bounds     missed  regret at 1/3, 2/3 and the end           trainings  complete")
    seeds = range(len(of[CONTROL]))
    least = [min(loss_at(found[i], budget) for found in of.values()) for i in seeds]
    for name, all_found in of.items():
        ratios, missed = [], 0
        for found, control in zip(all_found, of[CONTROL]):
            level = loss_at(control, budget)
            needed = steps_until(found, level)
            missed += needed is None
            ratios.append(math.log((needed or budget) / (steps_until(control, level) or budget)))
        mean, low, high = (math.exp(one) for one in bounds(ratios))
        regrets = []
        for share in (1 / 3, 2 / 3, 1):
            regret = [loss_at(found, share * budget) - least[i] for i, found in enumerate(all_found)]
            center, _, above = bounds(regret)
            regrets.append(f"{center:.4f} ± {above - center:.4f}")
        counts = [statistics.mean(found[key] for found in all_found) for key in ("started", "complete")]
        print(
            f"{name:18} {mean:5.2f}  [{low:.2f}, {high:.2f}]".ljust(41)
            + f"{missed:2} of {len(all_found)}  {'  '.join(regrets)}  {counts[0]:5.1f}  {counts[1]:5.1f}",
            flush=True,
        )


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    for name in ("fbo", "syne_tune"):
        logging.getLogger(name).setLevel(logging.ERROR)
    logging.disable(logging.WARNING)  # modules of Syne Tune have loggers of their own
    with warnings.catch_warnings(), threadpoolctl.threadpool_limits(1):
        warnings.simplefilter("ignore")
        yield


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10, help="number of seeds (default: 10)")
    parser.add_argument("--first-seed", type=int, default=1001, help="the first seed (default: 1001)")
    parser.add_argument("--trainings", type=int, default=15, help="the budget, in full trainings (default: 15)")
    parser.add_argument("--problems", default=",".join(PROBLEMS), help="a list with commas (default: all)")
    parser.add_argument("--methods", default=",".join(METHODS), help="a list with commas, alone added (default: all)")
    parser.add_argument("--quick", action="store_true", help="one seed and a budget of three trainings")
    parser.add_argument("--json", type=Path, help="file to which each result is appended as a line")
    parser.add_argument("--cache", type=Path, help="SQLite database of the losses by step")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.seeds, arguments.trainings = 1, 3
    budget = STEPS * arguments.trainings
    names = list(dict.fromkeys([CONTROL, *arguments.methods.split(",")]))
    problems = [PROBLEMS[name] for name in arguments.problems.split(",")]
    known = read(arguments.json)
    with quiet(), connected(len(SIMILAR)) as nodes:
        trainings = Trainings(arguments.cache)
        for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
            for problem, name in itertools.product(problems, names):
                key = (problem.name, name, seed, budget)
                if key in known:
                    continue
                begin = time.monotonic()
                run = METHODS[name](nodes, partial(Run, trainings, problem, seed=seed, budget=budget))
                known[key] = dict(
                    zip(("problem", "method", "seed", "budget"), key),
                    best=run.best,
                    started=run.started,
                    complete=run.complete,
                    guess=math.log(10 if problem.name == "network" else 2),
                    seconds=round(time.monotonic() - begin, 2),
                )
                if arguments.json is not None:
                    with arguments.json.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(known[key]) + "\n")
        for problem in problems:
            seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
            print_table(problem.name, budget, {name: [known[problem.name, name, seed, budget] for seed in seeds] for name in names})


if __name__ == "__main__":
    main()
