"""The model of what a study costs: exact where the answer is plain, and true to the pool in its tasks."""

import pytest

from ns_mab_gym import parallel


@pytest.fixture
def cost(script):
    return script("benchmarks.workers")


@pytest.fixture
def none(cost):
    nothing = cost.Cost(0, 0, 0)
    return cost.Overhead(nothing, nothing, nothing, queued=2)


def test_without_overhead_the_workers_share_the_work(cost, none):
    units = cost.Units(10_000, 0.5, 100)
    assert cost.wall_seconds(units, 10, none) == pytest.approx(10_000 * 0.5 / 10 + 0.5)
    assert cost.coordinator_share(units, 10, none) == 0


@pytest.mark.parametrize("part", ["processor", "writer"])
def test_one_coordinator_can_hold_a_thousand_workers_up(cost, none, part):
    slow = none._replace(**{part: cost.Cost(task=1.0, unit=0.3, byte=0.002)})
    units = cost.Units(5_000, 100.0, 100)  # longer than a task may take: each is a task of its own
    each = 1.0 + 0.3 + 100 * 0.002
    assert cost.units_per_task(units, 1_000) == 1
    assert cost.wall_seconds(units, 1_000, slow) == pytest.approx(5_000 * each + 100)
    assert cost.coordinator_share(units, 1_000, slow) == pytest.approx(1_000 * each / 100)


def test_workers_on_one_machine_share_its_cores(cost, none):
    busy, units = none._replace(worker=cost.Cost(0, 0.3, 0)), cost.Units(10_000, 0.1, 0)
    assert cost.wall_seconds(units, 100, busy, cores=2) == pytest.approx(10_000 * 0.3 / 2 + 0.1)


@pytest.mark.parametrize("number", [300, 3_000, 30_000])
def test_it_counts_the_tasks_of_the_pool(cost, none, number, monkeypatch):
    monkeypatch.setattr(parallel, "MOST_ITEMS", 10)
    with parallel.executor("threads", 20) as pool:
        tasks = sum(1 for _ in parallel.map_unordered(pool, abs, range(number)))
    units = cost.Units(number, 1e-3, 100)
    assert cost.units_per_task(units, 20) == 10
    one_each = none._replace(writer=cost.Cost(1, 0, 0), queued=1)
    assert cost.wall_seconds(units, 20, one_each) == pytest.approx(tasks, rel=0.15)
