"""Processes that evaluate side by side."""

from __future__ import annotations

import multiprocessing
import pickle
import signal
from collections.abc import Iterator, Mapping
from multiprocessing import connection
from types import TracebackType
from typing import Any

from .errors import BadInput, Error
from .evaluate import Failure, Function, Outcome, evaluate
from .trial import Trial

# Each process begins anew: a copy of this one (fork) may hold the locks of its threads.
_context = multiprocessing.get_context("spawn")

_GUARD = (
    "A worker imports the program anew, so the call belongs under `if __name__ == \"__main__\":`, "
    "and f at the top of a module"
)


class Workers:
    """Processes that hold f, each with one trial at a time. One that dies is replaced."""

    def __init__(self, f: Function, count: int) -> None:
        self._payload = _pickled(f)
        self._workers = [_Worker(self._payload) for _ in range(count)]

    def free(self) -> int:
        """Return how many trials could be begun."""
        return sum(worker.trial is None for worker in self._workers)

    def begin(self, trial: Trial, arguments: Mapping[str, Any]) -> None:
        """Hand a trial to a free worker, with the arguments of f."""
        next(worker for worker in self._workers if worker.trial is None).begin(trial, arguments)

    def ended(self, timeout: float | None) -> Iterator[tuple[Trial, Outcome]]:
        """Wait for at most timeout seconds, None being for ever, and yield what has ended."""
        by_pipe: dict[Any, int] = {worker.pipe: place for place, worker in enumerate(self._workers)}
        for pipe in connection.wait(list(by_pipe), timeout):
            place = by_pipe[pipe]
            worker = self._workers[place]
            try:
                outcome = worker.hear()
            except (EOFError, OSError):
                outcome = worker.obituary()
                self._workers[place] = _Worker(self._payload)
            if outcome is not None and worker.trial is not None:
                trial, worker.trial = worker.trial, None
                if trial._reporter is not None:
                    trial._reporter.add(worker.waiting)
                yield trial, outcome

    def close(self) -> None:
        """End all of them, also those that evaluate."""
        for worker in self._workers:
            worker.end()

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Worker:
    """One process. What is sent before it is ready waits in the pipe."""

    def __init__(self, payload: bytes) -> None:
        self.pipe, theirs = _context.Pipe()
        self.trial: Trial | None = None
        self.waiting: dict[int, float] = {}  # values by step of the last trial that the worker could not send
        self._ready = False
        self._process = _context.Process(target=_work, args=(theirs, payload), name="fbo worker")
        self._process.start()
        theirs.close()

    def begin(self, trial: Trial, arguments: Mapping[str, Any]) -> None:
        self.trial, self.waiting = trial, {}
        try:
            self.pipe.send(arguments)
        except OSError:
            pass  # it has died, which the next hear finds out

    def hear(self) -> Outcome | None:
        """Return an outcome, or None when all that came is that the worker is ready."""
        said = self.pipe.recv()
        if self._ready:
            outcome: Outcome
            outcome, self.waiting = said
            return outcome
        if said is not None:
            raise Error(f"f cannot be read by a worker: {said}. {_GUARD}; or install cloudpickle")
        self._ready = True
        return None

    def obituary(self) -> Failure:
        """Say how the process ended."""
        self.pipe.close()
        self._process.join()
        code = self._process.exitcode or 0
        if not self._ready:
            raise Error(f"a worker ended with code {code} before it was ready. {_GUARD}")
        how = f"by signal {-code}" if code < 0 else f"with code {code}"
        return Failure(f"the process that evaluated it ended {how}")

    def end(self) -> None:
        self._process.terminate()
        self._process.join(5)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self.pipe.close()


def _work(pipe: connection.Connection, payload: bytes) -> None:
    """Run in the worker: evaluate what comes until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program, which ends its workers
    try:
        f = pickle.loads(payload)
    except Exception as error:
        pipe.send(f"{type(error).__name__}: {error}")
        return
    pipe.send(None)
    try:
        while True:
            arguments = pipe.recv()
            outcome = evaluate(f, arguments)
            trial = arguments.get("trial")
            reporter = trial._reporter if isinstance(trial, Trial) else None
            pipe.send((outcome, {} if reporter is None else reporter.waiting()))
    except (EOFError, OSError):  # the program is gone
        return


def _pickled(f: Function) -> bytes:
    """Make bytes of f: by cloudpickle where it is installed, which knows lambdas and notebooks."""
    try:
        import cloudpickle
    except ImportError:
        pass
    else:
        try:
            by_value: bytes = cloudpickle.dumps(f)
            return by_value
        except Exception as error:
            raise BadInput(f"f cannot be sent to workers: {error}") from error
    try:
        return pickle.dumps(f)
    except Exception as error:
        raise BadInput(
            f"f cannot be sent to workers: {error}; expected a function at the top of a module, "
            "or any function where cloudpickle is installed"
        ) from error
