"""Threads, processes and a cluster do the same work; each item arrives once or fails, whatever workers do."""

import asyncio
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections import Counter
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import get_context

import pytest
from clusters import Cluster
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_jobs import Squares, TornOff

from ns_mab_gym import parallel
from ns_mab_gym.files import ChangedFileError, KeptFile
from ns_mab_gym.parallel import (
    ExecutorError,
    ExecutorLostError,
    Failed,
    Needs,
    Pool,
    UnfitWorkerError,
    executor,
    map_unordered,
)
from ns_mab_gym.sources import versions

NUMBER = 120
SQUARES = {item: item * item for item in range(NUMBER)}


def done(pool, function, items=range(NUMBER), **options):
    """What arrived, as a dictionary, and what failed."""
    found, failures = [], []
    for each in map_unordered(pool, function, items, **options):
        if isinstance(each, Failed):
            failures.append(each)
        else:
            found += zip(each.items, each.results, strict=True)
    assert len(found) == len(dict(found))  # nothing arrives twice
    return dict(found), failures


@pytest.fixture
def pool(request):
    if request.param == "dask":
        yield request.getfixturevalue("dask_pool")
    else:
        with executor(request.param, 2) as found:
            yield found


class Doubling:
    """Doubles numbers; ``errors`` says how often each of them raises an error first."""

    def __init__(self, errors=None):
        self.errors, self.tried = errors or {}, Counter()

    def __call__(self, item):
        self.tried[item] += 1
        if self.tried[item] <= self.errors.get(item, 0):
            raise ValueError(f"{item} is odd")
        return 2 * item


class Scripted(Pool):
    """Workers that do tasks at once, unless the script says what becomes of the task instead.

    Args:
        script: a function from the items of a task to what happens: None, or "death", or "silence".
        slots: the number of workers.
    """

    died = (ConnectionAbortedError,)

    def __init__(self, script=lambda items: None, slots=2):
        super().__init__(None, slots, remote=False)
        self.script, self.tasks, self.under_way, self.most = script, [], 0, 0

    def submit(self, function, job, items, *rest):
        future = Future()
        self.tasks.append((items, *rest))
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        future.add_done_callback(lambda future: setattr(self, "under_way", self.under_way - 1))
        what = self.script(items)
        if what is None:
            future.set_result(function(job, items, *rest))
        elif what == "death":
            future.set_exception(ConnectionAbortedError())
        return future


@pytest.mark.parametrize("number", [0, 1, 7, 3_001])
def test_every_item_arrives_once(number):
    with executor("threads", 3) as pool:
        assert done(pool, Doubling(), range(number)) == ({item: 2 * item for item in range(number)}, [])


@given(
    errors=st.dictionaries(st.integers(0, 40), st.integers(1, 4)),
    lethal=st.sets(st.integers(0, 40), max_size=3),
    accidents=st.sets(st.integers(0, 40)),
    slots=st.integers(1, 4),
    retries=st.integers(0, 3),
)
@settings(max_examples=60)
def test_whatever_fails_and_dies_every_item_is_accounted_for(errors, lethal, accidents, slots, retries):
    """An item fails if it kills every worker, or raises more errors than retries; none for what another one did."""
    left = accidents - lethal - errors.keys()

    def script(items):
        guilty = lethal.intersection(items) or left.intersection(items)
        left.difference_update(items)
        return "death" if guilty else None

    errors = {item: times for item, times in errors.items() if item not in lethal}
    transient = {item for item, times in errors.items() if times <= retries}
    found, failures = done(Scripted(script, slots), Doubling(errors), range(41), retries=retries)
    failed = {each.item for each in failures}
    assert found.keys() | failed == set(range(41))
    assert not found.keys() & failed
    assert failed >= lethal | (errors.keys() - transient)
    assert failed <= lethal | errors.keys()  # a death beside an item takes one of its attempts
    assert all(each.error.died == (each.item in lethal) for each in failures)


def test_an_error_is_told_with_its_traceback_after_the_stated_number_of_attempts():
    job = Doubling({2: 2, 3: 99})
    with executor("threads", 2) as pool:
        found, [failure] = done(pool, job, range(6), retries=2)
    assert sorted(found) == [0, 1, 2, 4, 5]
    assert (failure.item, failure.attempts, failure.error.worker, failure.error.died) == (3, 3, "", False)
    assert failure.error.text.startswith("ValueError: 3 is odd (test_parallel.py, line ")
    assert "in __call__" in failure.error.traceback
    assert (job.tried[2], job.tried[3]) == (3, 3)


@pytest.mark.parametrize("error", [UnfitWorkerError("other code"), ChangedFileError("other file"), KeyboardInterrupt()])
def test_what_concerns_the_whole_work_ends_it(error):
    def refusing(item):
        if item == 20:
            raise error

    with pytest.raises(type(error)), executor("threads", 2) as pool:
        done(pool, refusing)


class SpeechlessError(Exception):
    """An error that fails when it is asked what it says."""

    def __str__(self):
        raise RuntimeError("nothing to say")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (SpeechlessError(lambda: None), "SpeechlessError: (its text cannot be shown) (test_parallel.py, line "),
        (KeyboardInterrupt("mine"), "KeyboardInterrupt: mine (test_parallel.py, line "),
        (asyncio.CancelledError(), "CancelledError (test_parallel.py, line "),
        (SystemExit(3), "SystemExit: 3 (test_parallel.py, line "),
    ],
)
def test_whatever_is_raised_elsewhere_is_the_error_of_its_item_alone(error, words):
    def job(item):
        if item == 1:
            raise error
        return item

    sent = pickle.dumps(parallel._task(job, [0, 1, 2], None, 60.0, True))
    (first, failure, last), _ = pickle.loads(sent)
    assert (first, last, failure.worker) == (0, 2, f"process {os.getpid()}")
    assert failure.text.startswith(words)


def test_small_items_share_tasks_and_few_are_under_way():
    pool = Scripted(slots=2)
    done(pool, Doubling(), range(4_000))
    sizes = [len(items) for items, *_ in pool.tasks]
    assert sizes[0] == sizes[-1] == 1  # nobody knows yet how long an item takes; the last are shared by all workers
    assert len(sizes) < 200
    assert max(sizes) <= parallel.MOST_ITEMS
    assert pool.most <= 4
    done(alone := Scripted(slots=2), Doubling(), range(40), most=1)
    assert [items for items, *_ in alone.tasks] == [[item] for item in range(40)]


def test_a_task_whose_time_is_over_leaves_the_rest_to_others(monkeypatch):
    monkeypatch.setattr(parallel, "TASK_SECONDS", 0.0)
    job, pool = Doubling(), Scripted()
    assert len(done(pool, job, range(50))[0]) == 50
    assert set(job.tried.values()) == {1}
    assert {len(items) for items, *_ in pool.tasks} <= {1, 2}


@pytest.mark.parametrize(("slots", "seconds"), [(1, 1.0), (50, 1.0), (1_000, 20.0)])
def test_of_very_many_workers_no_more_than_fifty_tasks_arrive_in_a_second(slots, seconds):
    pool = Scripted(slots=slots)
    done(pool, Doubling(), range(30))
    assert {task[2] for task in pool.tasks} == {seconds}


def test_while_no_worker_is_there_the_user_is_told_once(monkeypatch):
    monkeypatch.setattr(parallel, "LOOK", 0.01)
    pool, said = Scripted(slots=0), []
    pool.look = lambda: setattr(pool, "_workers", 2 * (len(said) and time.monotonic() - began > 0.1))
    began = time.monotonic()
    assert len(done(pool, Doubling(), range(5), say=said.append)[0]) == 5
    assert said == ["no worker is there; the work goes on when one comes"]


def test_whoever_stops_listening_leaves_nothing_under_way():
    pool = Scripted(lambda items: "silence" if 3 in items else None)
    work = map_unordered(pool, Doubling(), range(10))
    next(work)
    work.close()
    assert pool.under_way == 0


@pytest.mark.parametrize("pool", ["threads", "processes", "dask"], indirect=True)
def test_all_executors_do_the_same_and_warn_once(pool, tmp_path):
    with pytest.warns(UserWarning, match="below zero") as issued:
        found, failures = done(pool, Squares(tmp_path), [-1, *range(NUMBER), -2])
    assert (found, failures) == (SQUARES | {-1: 1, -2: 4}, [])
    assert len(issued) == (1 if pool.remote else 2)  # under the filters of a test, which hide none


@pytest.mark.parametrize("pool", ["processes", "dask"], indirect=True)
def test_a_killed_worker_costs_nothing_and_an_item_that_kills_every_worker_fails_alone(pool, tmp_path):
    found, [failure] = done(pool, Squares(tmp_path, once={30: signal.SIGKILL}, always={60: signal.SIGKILL}))
    assert (tmp_path / "accident-30").exists()
    assert found.keys() == SQUARES.keys() - {60}
    assert (failure.item, failure.attempts, failure.error.died) == (60, 3, True)
    assert failure.error.text.startswith("the worker died 3 times with it: its memory may have run out")


@pytest.mark.slow
def test_a_process_that_dies_while_it_sends_a_result_costs_nothing(tmp_path):
    with executor("processes", 2) as pool:
        assert done(pool, TornOff(tmp_path)) == (SQUARES, [])
    assert list(tmp_path.glob("accident-*"))


def leave_a_thread(item):
    threading.Thread(target=time.sleep, args=(600,)).start()  # an interpreter that ends waits for it
    return os.getpid()


def test_a_thread_that_is_left_behind_does_not_keep_its_process():
    with executor("processes", 1) as pool:
        [each] = map_unordered(pool, leave_a_thread, [0])
    with pytest.raises(ProcessLookupError):
        os.kill(each.results[0], 0)


def test_a_warning_of_a_class_that_cannot_be_sent_arrives_as_one_of_the_nearest_that_can():
    class HouseWarning(Squares, DeprecationWarning):
        """Found under no name; the first that it is derived from is no warning."""

        def __init__(self, text):
            DeprecationWarning.__init__(self, text)

    _, [caught] = parallel._task(lambda item: warnings.warn("old", HouseWarning, stacklevel=1), [0], None, 60.0, True)
    assert caught[:2] == ("old", DeprecationWarning)


def test_workers_of_a_cluster_keep_the_memory_of_one_instance_for_the_next(dask_pool):
    dask_pool.client.wait_for_workers(2, timeout=60)
    found = dask_pool.client.run(os.environ.get, "MALLOC_TRIM_THRESHOLD_")
    assert set(found.values()) == {str(64 << 20)}
    assert "dashboard at http://127.0.0.1:" in dask_pool.about


def test_a_cluster_of_our_own_keeps_out_who_shows_no_certificate(dask_pool, monkeypatch):
    monkeypatch.setattr(parallel, "CONNECTING", 1)
    address = dask_pool.client.scheduler.address
    assert address.startswith("tls://127.0.0.1:")
    with pytest.raises(ExecutorError, match="asks for certificates, and there are none"):
        executor("dask", scheduler=address)
    with pytest.raises(ExecutorError, match="there is no Dask scheduler at"):
        executor("dask", scheduler=address.replace("tls", "tcp"))


def test_an_executor_of_the_users_stays_open(tmp_path):
    with ThreadPoolExecutor(2) as threads:
        with executor(threads) as pool:
            assert (pool.workers, pool.remote) == (2, False)
            assert done(pool, Squares(tmp_path)) == (SQUARES, [])
        assert threads.submit(int, 3).result() == 3
    with pytest.raises(ExecutorLostError, match=r"takes no more work .* give another one"), executor(threads) as pool:
        done(pool, Squares(tmp_path))
    with ProcessPoolExecutor(2, get_context("spawn")) as processes, executor(processes) as pool:
        assert pool.remote
        with pytest.raises(ExecutorLostError, match="terminated abruptly"):
            done(pool, Squares(tmp_path, always={30: signal.SIGKILL}))


def test_a_dask_client_of_the_users_stays_open(dask_pool, tmp_path):
    for mine in (dask_pool.client, dask_pool.client.get_executor()):
        with executor(mine) as pool:
            assert done(pool, Squares(tmp_path), range(9)) == ({item: item**2 for item in range(9)}, [])
    assert dask_pool.client.submit(int, 3).result() == 3


@pytest.mark.slow
def test_workers_come_and_go_while_the_work_is_done(tmp_path):
    """There is none at first; one comes, is killed in mid-work, and another one takes over."""
    pytest.importorskip("distributed")
    cluster, found = Cluster(tmp_path), {}
    try:
        with executor("dask", scheduler=cluster.address) as pool:
            come = lambda line: cluster.workers or cluster.add_worker()  # noqa: E731
            for each in map_unordered(pool, Squares(tmp_path), range(NUMBER), say=come):
                found |= dict(zip(each.items, each.results, strict=True))
                if len(found) > 10 and len(cluster.workers) == 1:
                    cluster.add_worker()
                    cluster.workers[0].kill()
    finally:
        cluster.close()
    assert (found, len(cluster.workers)) == (SQUARES, 2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("dask", None, "tcp://127.0.0.1:1"), "there is no Dask scheduler at 'tcp://127.0.0.1:1'"),
        (("dask", None, "nonsense://"), "there is no Dask scheduler at 'nonsense://'"),
        (("threads", None, "tcp://127.0.0.1:1"), "a scheduler is for executor='dask', got executor='threads'"),
        (("treads",), "unknown executor 'treads'; did you mean 'threads'"),
        ((7,), "executor must be one of threads, processes, dask, or an Executor or a Dask client of yours"),
        (("processes", -2), "n_jobs must be a positive integer, got -2"),
    ],
)
def test_workers_that_cannot_be_had(arguments, words, monkeypatch):
    monkeypatch.setattr(parallel, "CONNECTING", 1)
    with pytest.raises((ExecutorError, ValueError, TypeError)) as caught:
        executor(*arguments)
    assert words in str(caught.value)


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"], ids=["silence", "HTTP"])
def test_whoever_takes_connections_and_is_no_scheduler_is_not_waited_for(answer, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(parallel, "CONNECTING", 1)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answers():
            with suppress(OSError):  # the server is closed
                while True:
                    taken.append(server.accept()[0])
                    taken[-1].sendall(answer)

        taken = []
        threading.Thread(target=answers, daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(ExecutorError, match=f"there is no Dask scheduler at '{address}'"):
            executor("dask", scheduler=address)
        server.shutdown(socket.SHUT_RDWR)
        for connection in taken:
            connection.close()


PROGRAM = """
import signal, sys
from shared_jobs import Squares
from ns_mab_gym.parallel import executor, map_unordered
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also if the tests run where Ctrl-C is ignored
    with executor(sys.argv[1], 2) as pool:
        for each in map_unordered(pool, Squares(sys.argv[2]), range(1_000_000)):
            print("arrived", flush=True)
"""


@pytest.mark.parametrize("name", ["processes", "dask"])
@pytest.mark.parametrize("end", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)])
def test_no_worker_outlives_the_process_that_started_it(name, end, tmp_path):
    if name == "dask":
        pytest.importorskip("cryptography")
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "program.py", name, str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, sys.path))}
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout.readline() == b"arrived\n"
    if end == signal.SIGINT:
        os.killpg(process.pid, end)  # as a terminal does, to everybody
    else:
        process.send_signal(end)
    _, said = process.communicate(timeout=60)
    if end == signal.SIGINT:
        assert b"KeyboardInterrupt" in said
        assert said.count(b"Traceback") <= 2  # that of this process; none of its workers'
    deadline = time.monotonic() + 60
    while _alive(process.pid):
        assert time.monotonic() < deadline, "a worker has outlived its master"
        time.sleep(0.1)


def _alive(session):
    """The processes of a session that are not zombies."""
    found = subprocess.run(["ps", "-o", "stat=", "-s", str(session)], capture_output=True, text=True).stdout
    return [line for line in found.split() if not line.startswith("Z")]


@pytest.fixture
def own_module(tmp_path, monkeypatch):
    """A module of a user's, which nothing has imported yet."""
    name = f"own_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text("VALUE = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield name
    sys.modules.pop(name, None)


def test_this_process_has_what_it_needs(own_module, tmp_path):
    (tmp_path / "means.csv").write_text("a,b\n0.1,0.2\n")
    needs = Needs.of([("ns_mab_gym.play.simulate",), (own_module,)], [KeptFile(tmp_path / "means.csv")])
    assert (len(needs.code), len(needs.files), needs.lacking()) == (2, 1, [])
    parallel.check_worker(needs)


@pytest.mark.parametrize("package", ["python", "ns-mab-gym", "numpy", "numba", "gymnasium"])
def test_a_worker_with_other_versions_is_refused(package):
    wanted = versions() | {package: "0.0.1"}
    with pytest.raises(UnfitWorkerError, match=f"does: {package} {versions()[package]} instead of 0.0.1; give"):
        parallel.check_worker(Needs(tuple(wanted.items())))


def test_a_worker_with_other_code_is_refused(own_module, tmp_path):
    file, needs = tmp_path / f"{own_module}.py", Needs.of([(own_module,)])
    file.write_text("VALUE = 2\n")
    assert needs.lacking() == [f"another version of the code of {own_module}"]
    file.unlink()
    assert needs.lacking() == [f"no module {own_module} (install it there, or put it on PYTHONPATH)"]
    file.write_text("VALUE = 1\n")
    assert needs.lacking() == []
    __import__(own_module)
    file.write_text("VALUE = 3\n")  # what the file says now is asked for, but it is not what the worker would play
    [line] = Needs.of([(own_module,)]).lacking()
    assert line == f"{own_module} as it was before an edit (start the worker anew)"


def test_a_worker_with_other_files_is_refused(tmp_path):
    file = tmp_path / "means.csv"
    file.write_text("a,b\n0.1,0.2\n")
    needs = Needs.of([], [KeptFile(file)])
    file.write_text("a,b\n0.1,0.3\n")
    assert needs.lacking() == [f"another file at {str(file)!r}"]
    file.unlink()
    [line] = needs.lacking()
    assert line.startswith(f"no file that can be read at {str(file)!r}")
