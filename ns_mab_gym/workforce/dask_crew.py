"""A Dask cluster: one that runs somewhere, or one that is started on this machine for the work."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from ..play.child_processes import ctrl_c_ignored
from .crew import Crew, WorkforceError, WorkforceLostError

__all__ = ["DaskCrew", "connected", "started_here"]

CONNECTING = 10  # seconds
LOOK = 2.0  # seconds between two looks at who is there
ASKING = 15  # seconds that workers are given to say what they lack
CLOSING = 5  # seconds that workers are given to end
ENVIRON = "distributed.nanny.pre-spawn-environ"
# Dask has workers give freed memory back at once. An instance takes megabytes, and then half as long again to draw.
KEPT_MEMORY = {f"{ENVIRON}.MALLOC_TRIM_THRESHOLD_": 64 << 20, f"{ENVIRON}.MALLOC_MMAP_THRESHOLD_": 32 << 20}
CERTIFICATES = "name the files in DASK_DISTRIBUTED__COMM__TLS__CA_FILE, …__CLIENT__CERT and …__CLIENT__KEY"


class DaskCrew(Crew):
    """The workers of a Dask cluster, as many as are there at any time.

    Args:
        client: a ``distributed.Client``, which stays the user's to close unless it is one's own.
        own: what is to be left in the end, besides: the client, and the cluster that was started for the work.
    """

    name = "dask"
    queued = 2
    shared = True

    def __init__(self, client: Any, own: ExitStack | None = None) -> None:
        from distributed.scheduler import KilledWorker

        self.client, self._own, self._killed = client, own, KilledWorker
        self.address = str(client.scheduler.address) if client.scheduler else "?"
        self._slots, self._looked = 0, -LOOK

    @property
    def slots(self) -> int:
        """The number of threads of all workers, as it was a moment ago."""
        if time.monotonic() - self._looked >= LOOK:
            self._slots = sum(self._asked(self.client.nthreads).values())
            self._looked = time.monotonic()
        return self._slots

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Have a function called by a worker of the cluster."""
        there = self._asked(self.client.submit, function, *arguments, pure=False)
        task: Future[Any] = Future()
        task.add_done_callback(lambda task: self._cancel(there) if task.cancelled() else None)
        self.client.loop.add_callback(_hand_on, self.client, there, task, self.gone)
        return task

    def _cancel(self, there: Any) -> None:
        if self.client.status == "running":  # else nobody is there who could be told
            with suppress(OSError, TimeoutError):  # it went a moment ago
                there.cancel()

    def everywhere(self, function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
        """Have a function called by every worker that is there; who does not answer is given an OSError as answer."""
        workers = list(self._asked(self.client.nthreads))
        return dict(self._asked(self.client.sync, _answers, self.client, workers, function, arguments))

    def _asked(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """What the scheduler answers; a :class:`WorkforceLostError` if it does not."""
        if self.client.status not in ("running", "connecting"):
            raise WorkforceLostError(self.gone)
        try:
            return function(*arguments, **options)
        except (OSError, TimeoutError) as error:
            raise WorkforceLostError(self.gone) from error

    def deaths(self, error: BaseException | None) -> int:
        """How many workers died, one after another, before the scheduler gave the task up."""
        return 1 + getattr(error, "allowed_failures", 0) if isinstance(error, self._killed) else 0

    @property
    def about(self) -> str:
        """The address of the scheduler, and that of its page."""
        page = self.client.dashboard_link
        return f"scheduler at {self.address}" + (f", dashboard at {page}" if page else "")

    @property
    def gone(self) -> str:
        """What to say if the scheduler is gone."""
        return f"the scheduler at {self.address} is gone"

    def close(self, at_once: bool) -> None:
        """Leave the cluster, and close it if it was started for the work."""
        if self._own is not None:
            with suppress(OSError, TimeoutError):  # the other side is gone already
                self._own.close()


async def _answers(client: Any, workers: list[str], function: Callable[..., Any], arguments: Any) -> dict[str, Any]:
    """Ask all workers at once, and wait for none of them for ever: one may stand still."""

    async def answer_of(worker: str) -> Any:
        asked = client.run(function, *arguments, workers=[worker], on_error="return", asynchronous=True)
        try:
            return (await asyncio.wait_for(asked, ASKING))[worker]
        except (OSError, TimeoutError, KeyError) as error:
            return OSError(f"no answer from {worker} ({_reason(error)})")

    return dict(zip(workers, await asyncio.gather(*map(answer_of, workers)), strict=True))


async def _hand_on(client: Any, there: Any, task: Future[Any], gone: str) -> None:
    """Wait for a task of the cluster, and give its outcome to the future that stands for it here.

    (``Client.get_executor`` does the same, but leaves the future waiting for ever if workers die at the wrong moment.)
    """
    result, error = None, None
    try:
        result = await client.gather(there, asynchronous=True)
    except (Exception, asyncio.CancelledError) as raised:
        # Unless it is the task that failed, nobody answers any more.
        error = raised if there.status == "error" else WorkforceLostError(gone)
    if not task.set_running_or_notify_cancel():  # nobody waits for it any more
        return
    if error is None:
        task.set_result(result)
    else:
        task.set_exception(error)


def connected(scheduler: str) -> DaskCrew:
    """The workers of a cluster that is running.

    Args:
        scheduler: its address, such as ``tcp://10.0.0.1:8786``.
    """
    distributed = _distributed()
    own = ExitStack()
    with _closed_if_it_fails(own):
        security = distributed.Security()
        _check_certificates(scheduler, security)
        try:
            _knock(distributed, scheduler, security.get_connection_args("client"))
            client = distributed.Client(scheduler, timeout=CONNECTING, set_as_default=False)
        except Exception as error:  # whatever it is that answers there, or does not
            raise WorkforceError(
                f"there is no Dask scheduler at {scheduler!r} ({_reason(error)}); start one with 'dask scheduler', or "
                f"give the address that it prints, such as tcp://10.0.0.1:8786"
            ) from error
        own.callback(client.close, timeout=CLOSING)
    return DaskCrew(client, own)


def _knock(distributed: Any, scheduler: str, options: dict[str, Any]) -> None:
    """Raise an error unless somebody at this address answers as Dask does; a client would wait for that for ever."""
    runner = distributed.utils.LoopRunner()
    runner.start()
    try:
        runner.run_sync(_greeted, distributed.comm.connect, scheduler, options)
    finally:
        runner.stop()


async def _greeted(connect: Callable[..., Any], scheduler: str, options: dict[str, Any]) -> None:
    try:
        comm = await asyncio.wait_for(connect(scheduler, timeout=CONNECTING, **options), 1.5 * CONNECTING)
    except TimeoutError:
        raise TimeoutError("it takes connections, and does not answer") from None
    comm.abort()


def _check_certificates(scheduler: str, security: Any) -> None:
    """Raise a :class:`WorkforceError` if the address asks for certificates that this process does not have."""
    try:
        found = security.get_connection_args("client")["ssl_context"] is not None
    except OSError as error:
        raise WorkforceError(f"the certificates for {scheduler!r} cannot be read ({error}); {CERTIFICATES}") from error
    if scheduler.startswith("tls://") and not found:
        raise WorkforceError(f"{scheduler!r} asks for certificates, and there are none; {CERTIFICATES}")


def started_here(workers: int) -> DaskCrew:
    """So many worker processes of a cluster that is started on this machine, for this work alone."""
    distributed = _distributed()
    import dask

    own = ExitStack()
    # A task whose worker died comes back at once: the dispatcher counts, and gives it to others.
    config = dask.config.set({"distributed.scheduler.allowed-failures": 0} | KEPT_MEMORY)
    with _closed_if_it_fails(own), ctrl_c_ignored(), config:
        cluster = distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
            preload="ns_mab_gym.workforce.dask_preload",
        )
        own.callback(cluster.close, timeout=CLOSING)
        client = distributed.Client(cluster, set_as_default=False)
        own.callback(client.close, timeout=CLOSING)
    return DaskCrew(client, own)


@contextmanager
def _closed_if_it_fails(own: ExitStack) -> Iterator[None]:
    """Quietly collect what must be left in the end; all of it is left at once after an error."""
    own.enter_context(_quiet())
    try:
        yield
    except BaseException:
        own.close()
        raise


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise ImportError("a cluster needs dask: pip install 'ns-mab-gym[cluster]'") from None
    return distributed


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask from logging what this package tells in words of its own, such as that the scheduler is gone."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in ("distributed", "tornado")]
    levels = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


def _reason(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
