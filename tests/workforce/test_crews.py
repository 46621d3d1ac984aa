"""Threads, processes and clusters do the same work, and lose none of it when workers are killed or stand still."""

import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import get_context

import numpy as np
import pytest
from shared_jobs import Deadly, Squares, TornOff

from ns_mab_gym.workforce import Failed, WorkforceError, WorkforceLostError, dispatch, hired
from ns_mab_gym.workforce import dispatching as rules

NUMBER = 120
SQUARES = {item: item * item for item in range(NUMBER)}
ELSEWHERE = ["processes", "dask"]


@pytest.fixture
def crew(request):
    if request.param == "dask":
        pytest.importorskip("distributed")
    with hired(request.param, 2) as found:
        yield found


def done(crew, job, items=range(NUMBER), **options):
    arrived = list(dispatch(crew, job, items, **options))
    failures = [each for each in arrived if isinstance(each, Failed)]
    pairs = [zip(each.items, each.content, strict=True) for each in arrived if not isinstance(each, Failed)]
    found = [pair for each in pairs for pair in each]
    assert len(found) == len(dict(found))  # nothing arrives twice
    return dict(found), failures


@pytest.mark.parametrize("crew", ["threads", *ELSEWHERE], indirect=True)
def test_all_kinds_do_the_same(crew, tmp_path):
    assert done(crew, Squares(tmp_path)) == (SQUARES, [])


@pytest.mark.parametrize("crew", ELSEWHERE, indirect=True)
@pytest.mark.parametrize("victims", [(30,), (30, 31, 60)], ids=["one", "both"])
def test_a_killed_worker_costs_nothing(crew, victims, tmp_path):
    job = Squares(tmp_path, dict.fromkeys(victims, signal.SIGKILL))
    assert done(crew, job) == (SQUARES, [])
    assert len(list(tmp_path.glob("accident-*"))) == len(victims)


@pytest.mark.parametrize("crew", ELSEWHERE, indirect=True)
def test_an_item_that_kills_every_worker_fails_alone(crew, tmp_path):
    found, [failure] = done(crew, Deadly(tmp_path))
    assert found.keys() == SQUARES.keys() - {30}
    assert failure.item == 30
    assert failure.attempts > rules.DEATHS
    assert "the worker died 4 times with it" in failure.trouble.error


@pytest.mark.parametrize("number", [1, 2])
def test_a_worker_that_dies_while_it_sends_a_result_costs_nothing(number, tmp_path):
    with hired("processes", number) as crew:
        assert done(crew, TornOff(tmp_path)) == (SQUARES, [])
    assert list(tmp_path.glob("accident-*"))


@pytest.mark.parametrize("crew", ELSEWHERE, indirect=True)
def test_a_stopped_worker_holds_nobody_up(crew, tmp_path, monkeypatch):
    monkeypatch.setattr(rules, "PATIENCE", 1.0)
    assert done(crew, Squares(tmp_path, {30: signal.SIGSTOP})) == (SQUARES, [])


@pytest.mark.parametrize("crew", ELSEWHERE, indirect=True)
def test_warnings_of_workers_are_issued_here_once(crew, tmp_path):
    with pytest.warns(UserWarning, match="below zero") as issued:
        found, _ = done(crew, Squares(tmp_path), [-1, 2, -2, 3])
    assert found == {-1: 1, 2: 4, -2: 4, 3: 9}
    assert len(issued) == 1


def pages_taken_anew():
    """How many pages the system had to provide for twenty arrays of 4 MB, one after another."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        np.ones(500_000).sum()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@pytest.mark.skipif(sys.platform != "linux", reason="the settings are those of Linux's C library")
@pytest.mark.parametrize("crew", ["dask"], indirect=True)
def test_workers_keep_the_memory_of_one_instance_for_the_next(crew):
    needed = 500_000 * 8 // resource.getpagesize()  # by one array
    crew.everywhere(pages_taken_anew)
    assert all(pages < 2 * needed for pages in crew.everywhere(pages_taken_anew).values())


def pressed_in_vain(crew, job):
    for _ in dispatch(crew, job, range(NUMBER)):
        with suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_is_heard_also_if_its_error_is_dropped(tmp_path):
    """As Python drops it while it deletes an object."""
    with hired("threads", 2) as crew, pytest.raises(KeyboardInterrupt):
        pressed_in_vain(crew, Squares(tmp_path))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_executor_of_the_users_stays_open(tmp_path):
    with ThreadPoolExecutor(2) as pool:
        with hired(pool) as crew:
            assert (crew.slots, crew.elsewhere) == (2, False)
            assert done(crew, Squares(tmp_path)) == (SQUARES, [])
        assert pool.submit(int, 3).result() == 3
    with pytest.raises(WorkforceLostError, match=r"takes no more work .* give another one"), hired(pool) as crew:
        done(crew, Squares(tmp_path))


def test_a_pool_of_the_users_that_breaks_is_an_error_that_says_so(tmp_path):
    with ProcessPoolExecutor(2, get_context("spawn")) as pool, hired(pool) as crew:
        assert crew.elsewhere
        with pytest.raises(WorkforceLostError, match="terminated abruptly"):
            done(crew, Squares(tmp_path, {30: signal.SIGKILL}))


def test_a_dask_client_of_the_users_stays_open(cluster, tmp_path):
    import distributed

    cluster.add_worker()
    with distributed.Client(cluster.address, set_as_default=False) as client:
        for given in (client, client.get_executor()):
            with hired(given) as crew:
                client.wait_for_workers(1, timeout=60)
                assert done(crew, Squares(tmp_path)) == (SQUARES, [])
        assert client.submit(int, 3).result() == 3


def test_a_worker_that_stands_still_is_not_waited_for_when_all_are_asked(cluster, tmp_path, monkeypatch):
    from ns_mab_gym.workforce import dask_crew

    monkeypatch.setattr(dask_crew, "ASKING", 2)
    monkeypatch.setattr(rules, "PATIENCE", 1.0)
    workers = [cluster.add_worker(), cluster.add_worker()]
    with hired("dask", scheduler=cluster.address) as crew:
        crew.client.wait_for_workers(2, timeout=60)
        workers[0].send_signal(signal.SIGSTOP)
        answers = list(crew.everywhere(os.getpid).values())
        assert workers[1].pid in answers
        [other] = [answer for answer in answers if answer != workers[1].pid]
        assert isinstance(other, OSError)
        assert "no answer from tcp://" in str(other)
        assert done(crew, Squares(tmp_path)) == (SQUARES, [])


def test_workers_come_and_go_while_the_work_is_done(cluster, tmp_path):
    """There is none at first; one comes, is killed in mid-work, and another one takes over."""
    told = []

    def waiting():
        if not told:
            cluster.add_worker()
        told.append(len(cluster.workers))

    found = {}
    with hired("dask", scheduler=cluster.address) as crew:
        assert cluster.address in crew.about
        for each in dispatch(crew, Squares(tmp_path), range(NUMBER), waiting=waiting):
            found |= dict(zip(each.items, each.content, strict=True))
            if len(found) > 10 and len(cluster.workers) == 1:
                cluster.add_worker()
                cluster.workers[0].kill()
    assert told
    assert found == SQUARES


def test_a_scheduler_that_is_killed_ends_the_work_with_a_line(cluster, tmp_path):
    cluster.add_worker()
    with hired("dask", scheduler=cluster.address) as crew:
        work = dispatch(crew, Squares(tmp_path), range(100_000))
        next(work)
        cluster.scheduler.kill()
        with pytest.raises(WorkforceLostError, match=f"^the scheduler at {cluster.address} is gone$"):
            list(work)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("dask", None, "tcp://127.0.0.1:1"), "there is no Dask scheduler at 'tcp://127.0.0.1:1'"),
        (("dask", None, "nonsense://"), "there is no Dask scheduler at 'nonsense://'"),
        (("threads", None, "tcp://127.0.0.1:1"), "a scheduler is for executor='dask', got executor='threads'"),
        (("treads",), "unknown executor 'treads'; did you mean 'threads'"),
        ((7,), "executor must be one of threads, processes, dask, or an Executor or a Dask client of yours"),
        (("threads", 0), "n_jobs must be a positive integer, got 0"),
        (("processes", -2), "n_jobs must be a positive integer, got -2"),
    ],
)
def test_workers_that_cannot_be_had(arguments, words, monkeypatch):
    from ns_mab_gym.workforce import dask_crew

    monkeypatch.setattr(dask_crew, "CONNECTING", 1)
    with pytest.raises((WorkforceError, ValueError, TypeError)) as caught:
        hired(*arguments)
    assert words in str(caught.value)


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"], ids=["silence", "HTTP"])
def test_whoever_takes_connections_and_is_no_scheduler_is_not_waited_for(answer, monkeypatch):
    pytest.importorskip("distributed")
    from ns_mab_gym.workforce import dask_crew

    monkeypatch.setattr(dask_crew, "CONNECTING", 1)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answers():
            with suppress(OSError):  # the server is closed
                while True:
                    taken.append(server.accept()[0])
                    taken[-1].sendall(answer)

        taken = []
        threading.Thread(target=answers, daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(WorkforceError, match=f"there is no Dask scheduler at '{address}'"):
            hired("dask", scheduler=address)
        server.shutdown(socket.SHUT_RDWR)
        for connection in taken:
            connection.close()


PROGRAM = """
import signal, sys
from shared_jobs import Squares
from ns_mab_gym.workforce import dispatch, hired
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also if the tests run where Ctrl-C is ignored
    with hired(sys.argv[1], 2) as crew:
        for each in dispatch(crew, Squares(sys.argv[2]), range(1_000_000)):
            print("arrived", flush=True)
"""


@pytest.mark.parametrize("executor", ELSEWHERE)
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL], ids=["ctrl-c", "kill"])
def test_no_worker_outlives_the_process_that_hired_it(executor, end, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "program.py", executor, str(tmp_path)]
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
