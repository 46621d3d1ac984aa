"""The dispatcher against workers that follow a random script: they die, freeze, go and come back, and finish too late.

Nothing here takes time: the crew's clock ticks whenever the dispatcher asks how many workers there are.
"""

import random
from collections import Counter
from concurrent.futures import Future

import pytest
from shared_jobs import Squares

from ns_mab_gym.workforce import Crew, Failed, WorkforceLostError, dispatch
from ns_mab_gym.workforce import dispatching as rules

ALWAYS = 10**6
ITEMS = 40
MOST_TICKS = 20_000  # of a script; a few hundred are usual


class DeadWorkerError(Exception):
    """A worker died with the task."""


class Faulty(Squares):
    """Doubles numbers; ``errors`` says how often each of them raises an error first."""

    def __init__(self, errors):
        self.errors = Counter(errors)

    def one(self, item):
        if self.errors[item] > 0:
            self.errors[item] -= 1
            raise ValueError(f"{item} is odd")
        return 2 * item


class Fate(Crew):
    """Workers with queues, to whom things happen at random.

    Args:
        luck: a generator of random numbers.
        kills: how often each item ends the worker that begins it.
        shared: whether a worker that dies takes the tasks along that wait in its queue.
        lost_after: the number of tasks after which no further one is taken.
    """

    name = "fate"

    def __init__(self, luck, kills, shared, lost_after=ALWAYS):
        self.luck, self.kills, self.shared, self.lost_after = luck, Counter(kills), shared, lost_after
        self.queued = luck.choice([2, 3]) if shared else 1
        self.workers = [[] for _ in range(luck.randint(1, 4))]
        self.frozen = Counter()
        self.away = 0  # ticks for which nobody is there
        self.died_with = Counter()
        self.ticks = self.submitted = 0
        self.futures = []

    @property
    def slots(self):
        self.tick()
        return 0 if self.away else len(self.workers)

    def submit(self, function, job, items, seconds, elsewhere):
        self.submitted += 1
        if self.submitted > self.lost_after:
            raise WorkforceLostError(self.gone)
        future = Future()
        self.futures.append(future)
        queue = min(self.workers, key=len)
        seconds = self.luck.choice([0.0, 1e9])  # without time it begins the first item only
        queue.append((future, items, len(items) if seconds else 1, lambda: function(job, items, seconds, False)))
        return future

    def tick(self):
        self.ticks += 1
        assert self.ticks < MOST_TICKS, "the work does not end"
        if self.away:
            self.away -= 1
        elif self.luck.random() < 0.01:
            self.away = self.luck.randint(1, 5)
        for number, queue in enumerate(self.workers):
            chance = self.luck.random()
            if self.frozen[number]:
                self.frozen[number] -= 1
            elif chance < 0.02:
                self.frozen[number] = self.luck.randint(1, 60)
            elif chance < 0.04:
                self.accident(queue)
            elif chance < 0.6 and queue:
                self.work(queue)

    def work(self, queue):
        future, items, begun, carry_out = queue[0]
        if guilty := [item for item in items[:begun] if self.kills[item] > 0]:
            self.kills[guilty[0]] -= 1
            self.die(queue)
            return
        queue.pop(0)
        if future.set_running_or_notify_cancel():
            future.set_result(carry_out())

    def accident(self, queue):
        """A worker dies for no fault of its items; not again with the same item, which would be blamed rightly."""
        if not any(self.died_with[item] for _, items, _, _ in queue for item in items):
            self.die(queue)

    def die(self, queue):
        for future, items, _, _ in queue:
            self.died_with.update(items)
            if future.set_running_or_notify_cancel():
                future.set_exception(DeadWorkerError())
        queue.clear()

    def deaths(self, error):
        return int(isinstance(error, DeadWorkerError))

    def abandon(self, task):
        """Let go of a task, which sometimes arrives at that moment, and sometimes is done all the same."""
        for queue in self.workers:
            if queue and queue[0][0] is task and self.luck.random() < 0.5:
                self.work(queue)
        task.cancel()
        if not self.shared:  # it is ended with its worker
            self.workers = [[each for each in queue if each[0] is not task] for queue in self.workers]

    def close(self, at_once):
        pass


def chosen(luck, numbers):
    """Some items, with how often each of them does something."""
    return {item: luck.choice(numbers) for item in luck.sample(range(ITEMS), luck.randint(0, 8))}


@pytest.fixture
def no_time(monkeypatch):
    monkeypatch.setattr(rules, "LOOK", 0.0)
    monkeypatch.setattr(rules, "PATIENCE", 0.0)  # every task is late at once,
    monkeypatch.setattr(rules, "SLOWNESS", 0.0)  # so that copies are made whenever a worker is free


@pytest.mark.parametrize("shared", [False, True], ids=["own worker", "shared worker"])
@pytest.mark.usefixtures("no_time")
def test_whatever_happens_every_item_arrives_once_or_fails_once_and_no_innocent_fails(shared):
    for seed in range(100):
        luck = random.Random(seed)
        errors, kills = chosen(luck, [1, 2, 3, ALWAYS]), chosen(luck, [1, 2, 5, ALWAYS])
        arrived, failed = Counter(), Counter()
        for each in dispatch(Fate(luck, kills, shared), Faulty(errors), range(ITEMS), retries=2):
            if isinstance(each, Failed):
                failed[each.item] += 1
            else:
                assert each.content == [2 * item for item in each.items]
                arrived.update(each.items)
        assert arrived + failed == Counter(range(ITEMS)), seed
        hopeless = {item for some in (errors, kills) for item, times in some.items() if times == ALWAYS}
        suspicious = {item for item, times in errors.items() if times > 2}
        suspicious |= {item for item, times in kills.items() if times > 1}
        assert hopeless <= failed.keys() <= suspicious, seed


@pytest.mark.usefixtures("no_time")
def test_if_no_more_tasks_are_taken_in_mid_work_all_that_are_under_way_are_let_go():
    for seed in range(50):
        luck = random.Random(seed)
        crew = Fate(luck, {}, shared=True, lost_after=luck.randint(0, 6))
        with pytest.raises(WorkforceLostError, match="gone"):
            list(dispatch(crew, Faulty({}), range(ITEMS)))
        assert all(future.done() for future in crew.futures)


@pytest.mark.usefixtures("no_time")
def test_an_item_beside_many_that_kill_is_not_blamed():
    """Every second item ends its worker, which takes along those that wait behind it."""
    for seed in range(20):
        kills = dict.fromkeys(range(0, ITEMS, 2), ALWAYS)
        done = list(dispatch(Fate(random.Random(seed), kills, shared=True), Faulty({}), range(ITEMS)))
        assert {each.item for each in done if isinstance(each, Failed)} == set(kills)
