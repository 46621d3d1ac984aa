"""The dispatcher: every item arrives once or fails, whatever workers do, and little is under way at a time."""

import threading
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ns_mab_gym.kept_files import ChangedFileError
from ns_mab_gym.workforce import (
    Arrived,
    Crew,
    Failed,
    UnfitWorkerError,
    WorkforceLostError,
    dispatch,
    hired,
)
from ns_mab_gym.workforce import dispatching as rules


class Doubling:
    """Doubles numbers; ``errors`` says how often each of them raises an error first."""

    def __init__(self, errors=None):
        self.errors, self.tried, self.tasks = errors or {}, Counter(), []

    def begin(self, items):
        self.tasks.append(list(items))

    def one(self, item):
        self.tried[item] += 1
        if self.tried[item] <= self.errors.get(item, 0):
            raise ValueError(f"{item} is odd")
        return 2 * item

    def weight(self, result):
        return 8

    def packed(self, items, results):
        return list(results)


class DeadWorkerError(Exception):
    """What a crew of :class:`Scripted` raises when a worker dies."""


class Scripted(Crew):
    """Workers who do tasks at once, unless the script says what becomes of the task instead.

    Args:
        script: a function from the items of a task to what happens: None, or an error, or "silence".
        slots: how many there are.
    """

    name = "scripted"
    queued = 1

    def __init__(self, script=lambda items: None, slots=2):
        self.script, self._slots, self.most, self.under_way, self.abandoned = script, slots, 0, 0, []

    @property
    def slots(self):
        return self._slots

    def submit(self, function, job, items, seconds, elsewhere):
        future = Future()
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        future.add_done_callback(self._done)
        what = self.script(list(items))
        if what is None:
            future.set_result(function(job, items, seconds, False))
        elif what == "cancelled":
            future.cancel()
        elif what != "silence":
            future.set_exception(what)
        return future

    def _done(self, future):
        self.under_way -= 1

    def deaths(self, error):
        return int(isinstance(error, DeadWorkerError))

    def abandon(self, task):
        self.abandoned.append(task)
        task.cancel()

    def close(self, at_once):
        pass


def played(crew, job, items, **options):
    """What arrived, as a dictionary, and what failed."""
    found, failures = {}, []
    for each in dispatch(crew, job, items, **options):
        if isinstance(each, Failed):
            failures.append(each)
        else:
            assert isinstance(each, Arrived)
            assert not found.keys() & set(each.items)  # nothing arrives twice
            found |= dict(zip(each.items, each.content, strict=True))
    return found, failures


@pytest.mark.parametrize("number", [0, 1, 2, 7, 1_000, 3_001])
@pytest.mark.parametrize("threads", [1, 3])
def test_every_item_arrives_once(number, threads):
    with hired("threads", threads) as crew:
        found, failures = played(crew, Doubling(), range(number))
    assert found == {item: 2 * item for item in range(number)}
    assert failures == []


@given(
    errors=st.dictionaries(st.integers(0, 40), st.integers(1, 4)),
    deaths=st.dictionaries(st.integers(0, 40), st.integers(1, 6)),
    slots=st.integers(1, 4),
    retries=st.integers(0, 3),
)
@settings(max_examples=60)
def test_whatever_fails_and_dies_every_item_is_accounted_for(errors, deaths, slots, retries):
    """An item fails if it raises more errors than retries, or if more workers die with it than may."""
    left = Counter(deaths)

    def script(items):
        guilty = [item for item in items if left[item] > 0]
        left.subtract(guilty)
        return DeadWorkerError() if guilty else None

    job = Doubling(errors)
    found, failures = played(Scripted(script, slots), job, range(41), retries=retries)
    failed = {each.item for each in failures}
    assert found.keys() | failed == set(range(41))
    assert not found.keys() & failed
    lethal = {item for item, number in deaths.items() if number > rules.DEATHS}
    wrong = {item for item, number in errors.items() if number > retries}
    assert lethal <= failed
    assert wrong <= failed
    assert failed <= lethal | wrong  # no innocent is blamed for the deeds of those beside it
    assert all(job.tried[item] <= retries + 1 for item in range(41) if item not in deaths)


def test_an_error_is_told_with_its_traceback_after_the_stated_number_of_attempts():
    job = Doubling({3: 99})
    with hired("threads", 2) as crew:
        found, [failure] = played(crew, job, range(6), retries=4)
    assert sorted(found) == [0, 1, 2, 4, 5]
    assert (failure.item, failure.attempts, failure.trouble.worker) == (3, 5, "")
    assert failure.trouble.error.startswith("ValueError: 3 is odd (test_dispatching.py, line ")
    assert "in one" in failure.trouble.traceback
    assert job.tried[3] == 5


def test_an_item_that_goes_well_after_an_error_has_not_failed():
    job = Doubling({3: 2})
    with hired("threads", 2) as crew:
        found, failures = played(crew, job, range(6), retries=2)
    assert (found[3], failures) == (6, [])


@pytest.mark.parametrize("error", [UnfitWorkerError("other code"), ChangedFileError("other file"), KeyboardInterrupt()])
def test_what_concerns_the_whole_work_ends_it(error):
    class Refusing(Doubling):
        def one(self, item):
            if item == 20:
                raise error
            return super().one(item)

    with pytest.raises(type(error)), hired("threads", 2) as crew:
        played(crew, Refusing(), range(100))


def test_a_system_exit_of_somebodys_code_is_an_error_like_any_other():
    class Leaving(Doubling):
        def one(self, item):
            raise SystemExit("enough")

    with hired("threads", 1) as crew:
        _, [failure] = played(crew, Leaving(), range(1), retries=0)
    assert failure.trouble.error.startswith("SystemExit: enough (test_dispatching.py, line ")


def test_small_items_share_tasks_and_no_task_is_larger_than_its_share():
    job = Doubling()
    with hired("threads", 2) as crew:
        played(crew, job, range(4_000))
    sizes = [len(task) for task in job.tasks]
    assert sizes[0] == 1  # nobody knows yet how long an item takes
    assert len(sizes) < 200
    assert max(sizes) <= rules.MOST_ITEMS
    assert sizes[-1] == 1  # the last are shared by all workers


def test_a_task_whose_time_is_over_leaves_the_rest_to_others(monkeypatch):
    monkeypatch.setattr(rules, "TASK_SECONDS", 0.0)
    job = Doubling()
    with hired("threads", 2) as crew:
        found, _ = played(crew, job, range(50))
    assert len(found) == 50
    assert set(job.tried.values()) == {1}
    assert {len(task) for task in job.tasks} <= {1, 2}


@pytest.mark.parametrize(("slots", "seconds"), [(1, 1.0), (50, 1.0), (100, 2.0), (1_000, 20.0)])
def test_of_very_many_workers_no_more_than_fifty_tasks_arrive_in_a_second(slots, seconds):
    given = set()

    class Timed(Scripted):
        def submit(self, function, job, items, seconds, elsewhere):
            given.add(seconds)
            return super().submit(function, job, items, seconds, elsewhere)

    played(Timed(slots=slots), Doubling(), range(30))
    assert given == {seconds}
    assert slots / seconds <= 50


def test_a_full_parcel_leaves_the_rest_to_others():
    class Heavy(Doubling):
        def weight(self, result):
            return 1_500_000

    job, sizes = Heavy(), []
    with hired("threads", 1) as crew:
        sizes = [len(each.items) for each in dispatch(crew, job, range(60))]
    assert sum(sizes) == 60
    assert max(sizes) == 3  # the third of 1.5 MB fills a parcel of 4 MB
    assert set(job.tried.values()) == {1}


def test_few_tasks_are_under_way_at_once():
    crew = Scripted(slots=3)
    crew.queued = 2
    played(crew, Doubling(), range(500))
    assert crew.most <= 6
    with ThreadPoolExecutor(2) as pool:
        waiting = threading.Semaphore(0)

        class Slow(Doubling):
            def one(self, item):
                assert waiting.acquire(timeout=30)
                return item

        work = dispatch(hired(pool), Slow(), range(10_000))
        waiting.release(1)
        next(work)
        assert pool._work_queue.qsize() <= 4  # not ten thousand
        waiting.release(100_000)
        work.close()


def test_a_worker_that_stands_still_holds_nobody_up(monkeypatch):
    monkeypatch.setattr(rules, "PATIENCE", 0.0)
    monkeypatch.setattr(rules, "SLOWNESS", 0.0)
    monkeypatch.setattr(rules, "LOOK", 0.01)
    stood = []

    def script(items):
        if 17 in items and not stood:
            stood.append(items)
            return "silence"
        return None

    crew = Scripted(script)
    found, failures = played(crew, Doubling(), range(100))
    assert found == {item: 2 * item for item in range(100)}
    assert failures == []
    assert len(crew.abandoned) == 1


def test_a_second_copy_is_not_made_before_its_time(monkeypatch):
    monkeypatch.setattr(rules, "LOOK", 0.01)
    release = threading.Event()
    job = Doubling()

    class Slow(Doubling):
        def one(self, item):
            if item == 0:
                assert release.wait(30)
            return job.one(item)

    with hired("threads", 3) as crew:
        work = dispatch(crew, Slow(), range(2))
        next(work)
        threading.Timer(0.2, release.set).start()
        assert [each.items for each in work] == [(0,)]
    assert job.tried == {0: 1, 1: 1}


def test_workers_who_are_gone_all_at_once_are_an_error_that_says_so():
    crew = Scripted(lambda items: "cancelled" if 5 in items else None)
    with pytest.raises(WorkforceLostError, match="those who did the work are gone: scripted"):
        played(crew, Doubling(), range(50))


def test_an_error_of_the_crew_itself_is_raised_as_it_is():
    with pytest.raises(ZeroDivisionError):
        played(Scripted(lambda items: ZeroDivisionError()), Doubling(), range(5))


def test_while_nobody_is_there_the_caller_is_told(monkeypatch):
    monkeypatch.setattr(rules, "LOOK", 0.01)
    crew, told = Scripted(slots=0), []

    def waiting():
        told.append(time.monotonic())
        crew._slots = 2 if len(told) == 3 else 0

    found, _ = played(crew, Doubling(), range(5), waiting=waiting)
    assert (len(found), len(told)) == (5, 3)


def test_whoever_stops_listening_leaves_nothing_under_way():
    crew = Scripted(lambda items: "silence" if 3 in items else None)
    work = dispatch(crew, Doubling(), range(10))
    next(work)
    work.close()
    assert crew.under_way == 0
