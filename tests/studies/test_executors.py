"""Whoever computes, threads, processes or a cluster: the same results, and none is lost when others die."""

import os
import signal
from contextlib import nullcontext

import pyarrow.parquet as pq
import pytest
from clusters import Cluster
from interpreted_runs import assert_same_runs
from quiet_progress import Quiet

import ns_mab_gym as nsb
from ns_mab_gym.cli import studies
from ns_mab_gym.code_version import CodeVersions
from ns_mab_gym.parallel import ExecutorLostError, UnfitWorkerError, executor
from ns_mab_gym.specs import AgentSpec, WorldSpec
from ns_mab_gym.studies.runner import run
from ns_mab_gym.studies.store import Store
from ns_mab_gym.studies.study import Experiment, Study, units_of

from .conftest import own_agent

pytest.importorskip("distributed")
pytest.importorskip("cryptography")
AGENTS = ("beta-swts", "sw-ucb", "glr-ts")


def study_of(*agents, runs=60, horizon=300):
    worlds = (
        WorldSpec.of("NSBandit-Abrupt-v0", horizon=horizon),
        WorldSpec.of("piecewise", horizon=horizon, n_arms=3, changes=2),
    )
    return Study("test", (Experiment(worlds=worlds, agents=tuple(map(AgentSpec.of, agents)), runs=runs),))


def results_in(folder, study):
    """The runs of every unit of a study in a folder, all of which must be there."""
    with Store(folder, CodeVersions(print)) as store:
        units = units_of(study)
        assert store.missing(units) == []
        return {(unit.world, unit.agent, unit.first_run): store.load(unit) for unit in units}


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for unit, runs in expected.items():
        assert_same_runs(found[unit], runs)
        assert found[unit].parameters == runs.parameters


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """What one thread of this process computes."""
    folder, study = tmp_path_factory.mktemp("expected") / "out", study_of(*AGENTS)
    with Store(folder, CodeVersions(print)) as store:
        run(study, store, nsb.simulate, Quiet(), n_jobs=1)
    return results_in(folder, study)


class Acting(Quiet):
    """A progress that calls a function, once, when so many units are there."""

    def __init__(self, after, then):
        super().__init__()
        self.after, self.then = after, then

    def advance(self, units, steps):
        before = self.done
        super().advance(units, steps)
        if before < self.after <= self.done:
            self.then()


@pytest.mark.parametrize("name", ["threads", "processes", "dask"])
def test_the_results_are_those_of_one_thread_also_if_a_worker_is_killed(name, expected, tmp_path, request):
    """A user's process is killed from outside, in the middle of the work."""
    study = study_of(*AGENTS)
    pool = request.getfixturevalue("dask_pool") if name == "dask" else executor(name, 2)

    def kill():
        if name == "dask":
            os.kill(next(iter(pool.client.run(os.getpid).values())), signal.SIGKILL)
        elif name == "processes":
            os.kill(next(iter(pool._executor._processes)), signal.SIGKILL)

    with Store(tmp_path / "out", CodeVersions(print)) as store, nullcontext() if name == "dask" else pool:
        progress = Acting(4, kill)
        outcome = run(study, store, nsb.simulate, progress, pool=pool)
        assert (len(outcome.computed), outcome.failures, progress.done) == (len(expected), (), len(expected))
        assert outcome.computed_steps == sum(runs.steps for runs in expected.values())
        assert run(study, store, nsb.simulate, Quiet(), pool=pool).computed == ()
    assert_same(results_in(tmp_path / "out", study), expected)


@pytest.mark.slow
def test_a_scheduler_that_is_killed_loses_nothing_and_the_same_command_goes_on(dask_pool, expected, tmp_path):
    study = study_of(*AGENTS)
    cluster = Cluster(tmp_path / "cluster")
    cluster.add_worker()
    try:
        with Store(tmp_path / "out", CodeVersions(print)) as store:
            with (
                executor("dask", scheduler=cluster.address) as pool,
                pytest.raises(ExecutorLostError, match="is gone; what is computed is stored: the same command goes on"),
            ):
                run(study, store, nsb.simulate, Acting(4, cluster.scheduler.kill), pool=pool)
            left = len(store.missing(units_of(study)))
            assert 0 < left <= len(expected) - 4
            assert len(run(study, store, nsb.simulate, Quiet(), pool=dask_pool).computed) == left
    finally:
        cluster.close()
    assert_same(results_in(tmp_path / "out", study), expected)


@pytest.fixture
def own_module(tmp_path, monkeypatch):
    """The name of a module with an agent of a user's, here; and a folder with another version of it."""
    name = f"mine_{abs(hash(tmp_path))}"
    other = tmp_path / "other"
    other.mkdir()
    (tmp_path / f"{name}.py").write_text(own_agent("return 0"))
    (other / f"{name}.py").write_text(own_agent("return 1"))
    monkeypatch.syspath_prepend(tmp_path)
    return name, other


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*no compiled form")
def test_workers_that_lack_the_users_code_or_have_another_are_refused(own_module, tmp_path):
    """One that has none, one that has another version; and one that comes later, when others have begun."""
    name, other = own_module
    study = study_of(f"{name}:Mine", runs=400, horizon=2_000)
    cluster = Cluster(tmp_path / "cluster")

    def refusal(path, progress):
        cluster.add_worker(path)
        with executor("dask", scheduler=cluster.address) as pool, pytest.raises(UnfitWorkerError) as caught:
            run(study, store, nsb.simulate, progress, pool=pool)
        assert "the worker tcp://" in str(caught.value)
        cluster.workers[0].kill()
        return str(caught.value)

    try:
        with Store(tmp_path / "out", CodeVersions(print)) as store:
            assert f"no module {name} " in refusal(None, Quiet())
            assert store.missing(units_of(study)) == units_of(study)
        cluster.close()
        cluster = Cluster(tmp_path / "second")
        with Store(tmp_path / "out", CodeVersions(print)) as store:
            late = Acting(1, lambda: cluster.add_worker(other))
            assert f"another version of the code of {name}" in refusal(tmp_path, late)
            stored = [store.load(unit) for unit in units_of(study) if store.has(unit)]
            assert stored
            assert all((runs.pulls[:, 1] == 0).all() for runs in stored)  # none of the other version
    finally:
        cluster.close()


def test_a_command_gives_the_same_table_with_every_executor(tmp_path, capsys):
    """The runs are compared above; this is about the options of the command."""
    command = ["--env", "piecewise:horizon=200,n_arms=3", "--agents", "ts", "random", "--runs", "30", "--jobs", "2"]
    tables = []
    for name in ("threads", "dask"):
        assert studies.evaluate([*command, "--executor", name, "--out", str(tmp_path / name)]) == 0
        tables.append(pq.read_table(tmp_path / name / "table.parquet"))
    assert tables[0].equals(tables[1])
    assert "dashboard at http://127.0.0.1:" in capsys.readouterr().err
