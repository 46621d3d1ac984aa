"""Work on threads, processes or a Dask cluster, through :mod:`concurrent.futures`.

:func:`executor` gives the workers that a user names, and :func:`map_unordered` calls a function with many items there:

- Small items share a task: a task has as many as the last one finished in its second, and then twice as many. Few tasks
  are under way at once, and results are handed on as they arrive, so that nothing piles up here.
- An item that raises an error is tried again, alone; after some attempts it has failed, and the others go on.
- If a worker dies, all items that were under way with it are computed at the end, one at a time with nothing beside
  them, so that the item that kills workers is the one that fails.
- Every worker shows before its first task that it has the same code, packages and files as this process.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Generic, NamedTuple, Self, TypeVar

from .agents.core.arguments import choice, job_count, usable_cores
from .agents.core.registry import current_folder_importable
from .files import ChangedFileError, KeptFile, sha256_of
from .sources import code_digest, edited_while_running, unreadable, versions

T = TypeVar("T")
Modules = tuple[str, ...]
Caught = tuple[str, type[Warning], str, int]  # a warning of a worker: its text, its category, the file and the line
EXECUTORS = ("threads", "processes", "dask")
RETRIES = 2  # further attempts at an item that raised an error
TASK_SECONDS = 1.0  # after which a task begins no further item: the most, about, that a crash can lose
MANY_WORKERS = 50  # with more, tasks take longer in proportion, so that no more arrive than can be stored
MOST_ITEMS = 500  # in a task
WHY_WORKERS_DIE = "its memory may have run out, or the code of the agent or the world ended it"
LOOK = 0.5  # seconds between two looks at the workers while nothing arrives
LOOK_AT_CLUSTER = 2.0  # seconds between two questions to a scheduler who is there
CONNECTING = 10  # seconds
CLOSING = 5  # seconds that the workers of a cluster are given to end
ENVIRON = "distributed.nanny.pre-spawn-environ"
# Dask has workers give freed memory back at once. An instance takes megabytes, and then half as long again to draw.
KEPT_MEMORY = {f"{ENVIRON}.MALLOC_TRIM_THRESHOLD_": 64 << 20, f"{ENVIRON}.MALLOC_MMAP_THRESHOLD_": 32 << 20}
CERTIFICATES = "name the files in DASK_DISTRIBUTED__COMM__TLS__CA_FILE, …__CLIENT__CERT and …__CLIENT__KEY"


class ExecutorError(ValueError):
    """The workers cannot be had; the message says why and what to do."""


class ExecutorLostError(ExecutorError):
    """All workers are gone at once: no task can be done any more."""


class UnfitWorkerError(ValueError):
    """A worker lacks what the work needs, or has another version of it: the whole work stops."""


# --- executors ---


class Pool(AbstractContextManager["Pool"]):
    """Workers behind an executor; the end of a ``with`` block shuts down what was started for it.

    Args:
        executor: any :class:`concurrent.futures.Executor`.
        workers: the number of tasks that it does at once.
        remote: whether its workers are other processes than this one.
        own: whether it was started for this pool, and ends with it.

    Attributes:
        queued: the number of tasks that each worker is given at once, the one it does included.
        about: what to tell the user about the workers; empty if there is nothing to tell.
        lost: what to say when all of them are gone.
        died: the errors of tasks whose worker died; none of a user's executor, which cannot be mended from here.
    """

    queued = 2
    about = ""
    lost = "the executor is gone"
    died: tuple[type[Exception], ...] = ()

    def __init__(self, executor: Any, workers: int, *, remote: bool, own: bool = False) -> None:
        self.remote = remote
        self._executor, self._workers, self._own = executor, workers, own

    @property
    def workers(self) -> int:
        """The number of tasks that can be done at the same time at present; 0 if no worker is there yet."""
        return self._workers

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Have a function called by a worker."""
        try:
            task: Future[Any] = self._executor.submit(function, *arguments)
        except RuntimeError as error:  # it is shut down, or broken
            raise ExecutorLostError(f"the executor takes no more work ({error}); give another one") from error
        return task

    def look(self) -> None:
        """Look after the workers; called while nothing arrives."""

    def close(self, at_once: bool) -> None:
        """Shut down what was started for this pool.

        Args:
            at_once: whether nobody waits for tasks under way.
        """
        if self._own:
            self._executor.shutdown(wait=not at_once, cancel_futures=True)

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        self.close(at_once=error is not None)


class ProcessPool(Pool):
    """Processes of this machine, started by loky; all of them are replaced when one of them dies.

    Args:
        workers: the number of processes.
    """

    died = (BrokenExecutor,)

    def __init__(self, workers: int) -> None:
        try:
            import loky  # type: ignore[import-untyped]
        except ImportError:
            raise ImportError("processes need loky: pip install 'ns-mab-gym[experiments]'") from None
        super().__init__(None, workers, remote=True, own=True)
        begin = {"initializer": _begin_worker, "initargs": (os.getpid(),)}
        self._start = partial(loky.ProcessPoolExecutor, workers, **begin)
        self._seen_dead = False

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Have a function called by a process; starts them if need be."""
        try:
            if self._executor is not None:
                with suppress(BrokenExecutor):  # a process has died, and loky has ended the others
                    return self._executor.submit(function, *arguments)  # type: ignore[no-any-return]
                self.close(at_once=True)
            self._executor = self._start()
            return self._executor.submit(function, *arguments)  # type: ignore[no-any-return]
        except (OSError, NotImplementedError) as error:  # the system grants no processes, or no semaphores
            raise ExecutorError(f"no process could be started ({error}); use executor='threads'") from error

    def look(self) -> None:
        """End all processes if one died while it sent a result: loky would wait for the rest of it, for ever.

        One that loky replaces is dead for a moment too; so this takes two looks.
        """
        dead = not all(process.is_alive() for process in self._processes())
        if dead and self._seen_dead:
            self._kill()
        self._seen_dead = dead

    def _processes(self) -> list[Any]:
        return list((getattr(self._executor, "_processes", None) or {}).values())

    def _kill(self) -> None:
        from loky.backend.utils import kill_process_tree  # type: ignore[import-untyped]

        for process in self._processes():
            kill_process_tree(process)
        with suppress(OSError, AttributeError):  # loky has closed it already
            self._executor._result_queue._writer.close()  # the last end from which a result might come

    def close(self, at_once: bool) -> None:
        """End the processes; also those that are stopped, and those in which a user's code left threads behind."""
        if self._executor is not None:
            if at_once:
                self._kill()
            self._executor.shutdown(wait=True, kill_workers=True)


def _begin_worker(parent: int) -> None:
    """Make this a process that leaves Ctrl-C to its parent and ends with it, even if that is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    if os.name == "posix":  # elsewhere a process does not learn that its parent is gone
        threading.Thread(target=watch, daemon=True).start()


class DaskPool(Pool):
    """The workers of a Dask cluster, as many as are there at any time.

    Args:
        client: a ``distributed.Client``, which stays the user's to close unless it is in ``resources``.
        resources: what is closed with the pool: the client, and the cluster that was started for it.
    """

    def __init__(self, client: Any, resources: ExitStack | None = None) -> None:
        from distributed.scheduler import KilledWorker

        super().__init__(None, 0, remote=True)
        self.client, self._resources, self.died = client, resources or ExitStack(), (KilledWorker,)
        address = client.scheduler.address if client.scheduler else "?"
        dashboard = f", dashboard at {client.dashboard_link}" if client.dashboard_link else ""
        self.about = f"scheduler at {address}{dashboard}"
        self.lost = f"the scheduler at {address} is gone"
        self._looked = -LOOK_AT_CLUSTER

    @property
    def workers(self) -> int:
        """The number of threads of all workers, as it was a moment ago."""
        if time.monotonic() - self._looked >= LOOK_AT_CLUSTER:
            self._workers = sum(self._asked(self.client.nthreads).values())
            self._looked = time.monotonic()
        return self._workers

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Have a function called by a worker of the cluster."""
        there = self._asked(self.client.submit, function, *arguments, pure=False)
        task: Future[Any] = Future()

        def cancel(task: Future[Any]) -> None:
            if task.cancelled() and self.client.status == "running":
                with suppress(OSError, TimeoutError):  # the scheduler went a moment ago
                    there.cancel()

        async def hand_on() -> None:
            """As ``Client.get_executor`` does, which waits for ever if workers die at the wrong moment."""
            result, error = None, None
            try:
                result = await self.client.gather(there, asynchronous=True)
            except (Exception, asyncio.CancelledError) as raised:
                # Unless it is the task that failed, nobody answers any more.
                error = raised if there.status == "error" else ExecutorLostError(self.lost)
            if not task.set_running_or_notify_cancel():  # nobody waits for it any more
                return
            if error is None:
                task.set_result(result)
            else:
                task.set_exception(error)

        task.add_done_callback(cancel)
        self.client.loop.add_callback(hand_on)
        return task

    def _asked(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        if self.client.status not in ("running", "connecting"):
            raise ExecutorLostError(self.lost)
        try:
            return function(*arguments, **options)
        except (OSError, TimeoutError) as error:
            raise ExecutorLostError(self.lost) from error

    def close(self, at_once: bool) -> None:
        """Leave the cluster, and close it if it was started for this pool."""
        with suppress(OSError, TimeoutError):  # the other side is gone already
            self._resources.close()


def executor(executor: Any = "threads", n_jobs: int | None = None, scheduler: str | None = None) -> Pool:
    """Return the workers that a user names, for a ``with`` block.

    Args:
        executor: "threads", "processes" or "dask"; or any :class:`concurrent.futures.Executor`, or a Dask client, which
            stay open.
        n_jobs: the number of workers; as many as there are cores for None or -1. A running cluster and an executor of
            the user's have as many as they have.
        scheduler: the address of a running Dask cluster, such as ``tcp://10.0.0.1:8786``; without one, "dask" starts a
            cluster on this machine.
    """
    if scheduler is not None and executor != "dask":
        raise ValueError(f"a scheduler is for executor='dask', got executor={executor!r}")
    if isinstance(executor, Pool):
        return executor
    if isinstance(executor, str):
        choice("executor", executor, EXECUTORS)
        workers = job_count(n_jobs)
        if executor == "threads":
            return Pool(ThreadPoolExecutor(workers), workers, remote=False, own=True)
        if executor == "processes":
            return ProcessPool(workers)
        needed = ("distributed", "cryptography") if scheduler is None else ("distributed",)
        if missing := [name for name in needed if find_spec(name) is None]:
            raise ImportError(f"a cluster needs {missing[0]}: pip install 'ns-mab-gym[cluster]'")
        return _local_cluster(workers) if scheduler is None else _connected(scheduler)
    if type(executor).__module__.partition(".")[0] == "distributed":
        return DaskPool(getattr(executor, "_client", executor))  # of client.get_executor(), or the client
    if not isinstance(executor, Executor):
        raise TypeError(f"executor must be one of {', '.join(EXECUTORS)}, or an Executor or a Dask client of yours")
    size = getattr(executor, "_max_workers", None) if n_jobs is None else job_count(n_jobs)
    return Pool(executor, size or usable_cores(), remote=not isinstance(executor, ThreadPoolExecutor))


def _connected(scheduler: str) -> DaskPool:
    """Return the workers of a cluster that is running."""
    distributed: Any = import_module("distributed")  # whose functions have no types
    with _silenced() as resources:
        try:
            security = distributed.Security().get_connection_args("client")
        except OSError as error:
            raise ExecutorError(
                f"the certificates for {scheduler!r} cannot be read ({error}); {CERTIFICATES}"
            ) from error
        if scheduler.startswith("tls://") and security["ssl_context"] is None:
            raise ExecutorError(f"{scheduler!r} asks for certificates, and there are none; {CERTIFICATES}")

        async def greet() -> None:
            connecting = distributed.comm.connect(scheduler, timeout=CONNECTING, **security)
            (await asyncio.wait_for(connecting, 1.5 * CONNECTING)).abort()

        runner = distributed.utils.LoopRunner()
        runner.start()
        try:
            runner.run_sync(greet)  # a client would wait for ever for a stranger that takes connections
            client = distributed.Client(scheduler, timeout=CONNECTING, set_as_default=False)
        except Exception as error:  # whatever it is that answers there, or does not
            reason = next(iter(str(error).splitlines()), "it does not answer")
            raise ExecutorError(
                f"there is no Dask scheduler at {scheduler!r} ({reason}); start one with 'dask scheduler', or give "
                f"the address that it prints, such as tcp://10.0.0.1:8786"
            ) from error
        finally:
            runner.stop()
        resources.callback(client.close, timeout=CLOSING)
        return DaskPool(client, resources.pop_all())


def _local_cluster(workers: int) -> DaskPool:
    """Return the workers of a cluster that is started on this machine."""
    import dask

    distributed: Any = import_module("distributed")
    # A task whose worker died comes back at once: it is counted here, and tried again.
    at_once = {"distributed.scheduler.allowed-failures": 0}
    with _silenced() as resources, dask.config.set(at_once | KEPT_MEMORY):
        cluster = distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
            preload=__name__,
            security=True,  # certificates made for this cluster: others on this machine reach its ports too
        )
        resources.callback(cluster.close, timeout=CLOSING)
        client = distributed.Client(cluster, set_as_default=False)
        resources.callback(client.close, timeout=CLOSING)
        return DaskPool(client, resources.pop_all())


def dask_setup(worker: Any) -> None:
    """Leave Ctrl-C to the process that started the cluster; Dask calls this in each of its workers."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _silenced() -> ExitStack:
    """Return a stack until whose end Dask logs nothing: that the scheduler is gone, for instance, is said in errors."""
    resources = ExitStack()
    for name in logging.root.manager.loggerDict:
        if name.partition(".")[0] in ("distributed", "tornado"):
            logger = logging.getLogger(name)
            resources.callback(logger.setLevel, logger.level)
            logger.setLevel(logging.CRITICAL)
    return resources


# --- tasks ---


class Error(NamedTuple):
    """The reason why an item has no result.

    Attributes:
        text: in one line.
        traceback: in full.
        worker: the name of the worker; empty if it is a thread of this process.
        died: whether the worker died.
    """

    text: str
    traceback: str
    worker: str = ""
    died: bool = False


@dataclass(frozen=True)
class Done(Generic[T]):
    """Items of a task, and their results in the same order."""

    items: list[T]
    results: list[Any]


@dataclass(frozen=True)
class Failed(Generic[T]):
    """An item that has no result after some attempts."""

    item: T
    attempts: int
    error: Error


def map_unordered(
    pool: Pool,
    function: Callable[[T], Any],
    items: Sequence[T],
    *,
    needs: Needs | None = None,
    retries: int = RETRIES,
    most: int | None = None,
    say: Callable[[str], None] = print,
) -> Iterator[Done[T] | Failed[T]]:
    """Call a function with all items on the workers; yields what is done and what has failed as it arrives.

    Args:
        pool: the workers.
        function: called with an item.
        items: the items.
        needs: what a worker must have that is another process.
        retries: further attempts at an item that raised an error.
        most: the most items that share a task; `MOST_ITEMS` if None.
        say: called with a line for the user while no worker is there.
    """
    waiting = deque(range(len(items)))  # numbers of items that share tasks
    single: deque[int] = deque()  # of those that raised an error
    suspects: deque[int] = deque()  # of those that were under way when a worker died
    suspected: set[int] = set()
    attempts: Counter[int] = Counter()
    under_way: dict[Future[Any], list[int]] = {}
    arrived: SimpleQueue[Future[Any]] = SimpleQueue()
    issued: set[Caught] = set()
    left, size, said = len(items), 1, False

    def next_task() -> list[int]:
        if single:
            return [single.popleft()]
        if waiting:
            share = -(-len(waiting) // (2 * max(1, pool.workers)))  # a cluster may have lost its last one just now
            return [waiting.popleft() for _ in range(min(size, share, most or MOST_ITEMS))]
        return [suspects.popleft()] if suspects and not under_way else []

    try:
        while left:
            while len(under_way) < pool.workers * pool.queued and (numbers := next_task()):
                seconds = TASK_SECONDS * max(1.0, pool.workers / MANY_WORKERS)
                future = pool.submit(_task, function, [items[each] for each in numbers], needs, seconds, pool.remote)
                under_way[future] = numbers
                future.add_done_callback(arrived.put)
            try:
                future = arrived.get(timeout=LOOK)
            except Empty:
                pool.look()
                if not pool.workers and not said:
                    say("no worker is there; the work goes on when one comes")
                said = not pool.workers
                continue
            numbers = under_way.pop(future)
            error = ExecutorLostError(pool.lost) if future.cancelled() else future.exception()
            if isinstance(error, pool.died):
                for number in numbers:  # Dask tries a task again before it gives it up
                    attempts[number] += 1 + getattr(error, "allowed_failures", 0)
                    if number in suspected and attempts[number] > retries:
                        left -= 1
                        text = f"the worker died {attempts[number]} times with it: {WHY_WORKERS_DIE}"
                        death = Error(text, str(error), "a worker that died", died=True)
                        yield Failed(items[number], attempts[number], death)
                    else:
                        suspects.append(number)
                suspected.update(numbers)
                continue
            if isinstance(error, BrokenExecutor):
                raise ExecutorLostError(f"{pool.lost} ({error})") from error
            if pool.remote and isinstance(error, ImportError | AttributeError):  # it could not even be read there
                raise UnfitWorkerError(_refusal("that took a task", [_said(error)])) from error
            if error is not None:
                raise error
            outcomes, caught = future.result()
            issue(caught, issued)
            begun = len(outcomes)
            size = begun if begun < len(numbers) else max(size, 2 * begun)
            waiting.extendleft(reversed(numbers[begun:]))
            found = list(zip(numbers, outcomes, strict=False))
            if done := [(number, outcome) for number, outcome in found if not isinstance(outcome, Error)]:
                left -= len(done)
                yield Done([items[number] for number, _ in done], [result for _, result in done])
            for number, outcome in found:
                if isinstance(outcome, Error):
                    attempts[number] += 1
                    if attempts[number] > retries:
                        left -= 1
                        yield Failed(items[number], attempts[number], outcome)
                    else:
                        single.append(number)
    finally:
        for future in under_way:
            future.cancel()


def _task(
    function: Callable[[Any], Any], items: Sequence[Any], needs: Needs | None, seconds: float, remote: bool
) -> tuple[list[Any], list[Caught]]:
    """Return results or errors of the first items of a task, those that begin within some seconds, and the warnings."""
    ends, outcomes = time.perf_counter() + seconds, list[Any]()
    # The warnings of threads are issued at once.
    recording: AbstractContextManager[list[Caught]] = recorded_warnings() if remote else nullcontext([])
    with recording as caught:
        if needs is not None and remote:
            check_worker(needs)
        for item in items:
            try:
                outcomes.append(function(item))
            except (UnfitWorkerError, ChangedFileError):  # which concern the whole work
                raise
            except BaseException as error:  # whatever the code of a user raises
                if isinstance(error, KeyboardInterrupt) and not remote:  # other processes leave Ctrl-C to this one
                    raise
                frame, line = list(traceback.walk_tb(error.__traceback__))[-1]
                ours = str(frame.f_globals.get("__name__")).partition(".")[0] == __name__.partition(".")[0]
                place = "" if ours else f" ({Path(frame.f_code.co_filename).name}, line {line})"
                full = "".join(traceback.format_exception(error))
                outcomes.append(Error(_said(error) + place, full, _worker() if remote else ""))
            if time.perf_counter() >= ends:
                break
    return outcomes, caught


def _said(error: BaseException) -> str:
    """Return the class and the text of an error in one line."""
    try:
        text = str(error)
    except Exception:  # of the class of a user
        text = "(its text cannot be shown)"
    return " ".join(f"{type(error).__name__}: {text}".split()).removesuffix(":")


def _worker() -> str:
    """Return the name of this worker: its address in a cluster, or else its process."""
    if (distributed := sys.modules.get("distributed")) is not None:
        with suppress(ValueError):  # not in a task of a cluster
            return str(distributed.get_worker().address)
    return f"process {os.getpid()}"


@contextmanager
def recorded_warnings() -> Iterator[list[Caught]]:
    """Record the warnings of a block, once for every line of code that issues one; the list is full at its end."""
    found: list[Caught] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        yield found
    for each in caught:
        kinds = (kind for kind in each.category.__mro__ if issubclass(kind, Warning) and kind.__module__ != "__main__")
        known = (kind for kind in kinds if getattr(sys.modules.get(kind.__module__), kind.__name__, None) is kind)
        found.append((str(each.message), next(known), each.filename, each.lineno))  # the nearest that can be sent


def issue(caught: Iterable[Caught], issued: set[Caught]) -> None:
    """Issue warnings of a worker here, unless they were issued before."""
    for warning in caught:
        if warning not in issued:
            issued.add(warning)
            warnings.warn_explicit(*warning)


# --- what workers need ---


class Needs(NamedTuple):
    """Requirements on a worker, so that it computes what this process would.

    Attributes:
        versions: of Python and of the packages.
        code: modules, and the hash of their code and of all that they depend on.
        files: paths of files that are read, and the hashes of their content.
    """

    versions: tuple[tuple[str, str], ...]
    code: tuple[tuple[Modules, str], ...] = ()
    files: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, modules: Iterable[Modules], files: Iterable[KeptFile] = ()) -> Self:
        """Return the needs of work that depends on these modules, as far as they can be read, and on these files."""
        digests = [(each, code_digest(each)) for each in dict.fromkeys(modules)]
        code = tuple((each, digest) for each, digest in digests if digest is not None)
        return cls(tuple(versions().items()), code, tuple({str(file): file.digest for file in files}.items()))

    def lacking(self) -> list[str]:
        """Return what this process lacks or has in another form, in words."""
        mine = versions()
        others = ((name, each) for name, each in self.versions if mine.get(name) != each)
        found = [f"{name} {mine.get(name)} instead of {each}" for name, each in others]
        for modules, wanted in self.code:
            if missing := unreadable(modules):
                found.append(f"no module {', '.join(missing)} (install it there, or put it on PYTHONPATH)")
            elif edited := edited_while_running(modules):
                found.append(f"{', '.join(edited)} as it was before an edit (start the worker anew)")
            elif code_digest(modules) != wanted:
                own = [name for name in modules if not name.startswith("ns_mab_gym.")] or modules
                found.append(f"another version of the code of {' or '.join(own)}")
        for path, digest in self.files:
            try:
                if sha256_of(path) != digest:
                    found.append(f"another file at {path!r}")
            except (OSError, ValueError) as error:
                found.append(f"no file that can be read at {path!r} in {os.getcwd()!r} ({error})")
        return list(dict.fromkeys(found))


@lru_cache(maxsize=8)  # a worker is asked with every task, and answers with the first
def check_worker(needs: Needs) -> None:
    """Raise an :class:`UnfitWorkerError` if this process would not compute what the one does that asks."""
    try:
        with current_folder_importable():
            found = needs.lacking()
    except Exception as error:  # whatever the code of a user raises when it is imported
        found = [_said(error)]
    if found:
        raise UnfitWorkerError(_refusal(_worker(), found))


def _refusal(worker: str, found: Iterable[str]) -> str:
    return (
        f"the worker {worker} would not compute what this machine does: {'; '.join(found)}; give all workers the same "
        f"packages, code and files, and start again"
    )
