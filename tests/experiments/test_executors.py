"""Whoever computes, threads, processes or a cluster: the same results, and none is lost when others die."""

import os
import signal

import numpy as np
import pytest
from clusters import Cluster
from quiet_progress import Quiet

import ns_mab_gym as nsb
from ns_mab_gym.cli import evaluate_command
from ns_mab_gym.experiments import AgentEntry, Experiment, Store, Study, WorldEntry, run
from ns_mab_gym.experiments.identity import code_versions
from ns_mab_gym.experiments.units import units_of
from ns_mab_gym.workforce import UnfitWorkerError, WorkforceLostError, hired

pytest.importorskip("distributed")
AGENTS = ("beta-swts", "sw-ucb", "glr-ts")
OWN = """
class Mine:
    def __init__(self, n_arms):
        self.n_arms = n_arms
    def reset(self, seed=None):
        pass
    def act(self, observation=None):
        return CHOICE
    def observe(self, arm, reward):
        pass
"""


def study_of(*agents, runs=60, horizon=300):
    worlds = (
        WorldEntry.of("NSBandit-Abrupt-v0", horizon=horizon),
        WorldEntry.of("piecewise", horizon=horizon, n_arms=3, changes=2),
    )
    return Study("test", (Experiment(worlds=worlds, agents=tuple(map(AgentEntry.of, agents)), runs=runs),))


def results_in(folder, study):
    """The runs of every unit of a study in a folder, all of which must be there."""
    with Store(folder, code_versions(print)) as store:
        units = units_of(study)
        assert store.missing(units) == []
        return {(unit.world, unit.agent, unit.first_run): store.load(unit) for unit in units}


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for unit, runs in expected.items():
        assert np.array_equal(found[unit].regret, runs.regret), unit
        assert np.array_equal(found[unit].pulls, runs.pulls)
        assert found[unit].seeds == runs.seeds
        assert found[unit].parameters == runs.parameters
        assert (found[unit].alarms is None) == (runs.alarms is None)
        if runs.alarms is not None:
            assert all(map(np.array_equal, found[unit].alarms, runs.alarms))


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """What one thread of this process computes."""
    folder, study = tmp_path_factory.mktemp("expected") / "out", study_of(*AGENTS)
    with Store(folder, code_versions(print)) as store:
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


@pytest.fixture
def cluster(tmp_path):
    found = Cluster(tmp_path / "cluster")
    yield found
    found.close()


@pytest.mark.parametrize(
    ("executor", "workers"), [("threads", 3), ("processes", 1), ("processes", 2), ("dask", 1), ("dask", 2)]
)
def test_the_results_are_those_of_one_thread(executor, workers, expected, tmp_path):
    study = study_of(*AGENTS)
    with Store(tmp_path / "out", code_versions(print)) as store, hired(executor, workers) as crew:
        outcome = run(study, store, nsb.simulate, Quiet(), crew=crew)
        assert (len(outcome.computed), outcome.failures) == (len(expected), ())
        assert outcome.computed_steps == sum(runs.steps for runs in expected.values())
        assert run(study, store, nsb.simulate, Quiet(), crew=crew).computed == ()
    assert_same(results_in(tmp_path / "out", study), expected)


@pytest.mark.parametrize("executor", ["processes", "dask"])
@pytest.mark.parametrize("victims", [1, 2], ids=["one", "both"])
def test_workers_that_are_killed_cost_nothing(executor, victims, expected, tmp_path):
    study = study_of(*AGENTS)
    with Store(tmp_path / "out", code_versions(print)) as store, hired(executor, 2) as crew:
        progress = Acting(4, lambda: [os.kill(pid, signal.SIGKILL) for pid in pids_of(crew)[:victims]])
        assert run(study, store, nsb.simulate, progress, crew=crew).failures == ()
        assert progress.done == len(expected)
    assert_same(results_in(tmp_path / "out", study), expected)


def pids_of(crew):
    """The processes of a crew."""
    if crew.name == "dask":
        return list(crew.client.run(os.getpid).values())
    return [pid for pool in crew._pools if pool is not None for pid in pool._processes]


def test_a_scheduler_that_is_killed_loses_nothing_and_the_same_command_goes_on(expected, tmp_path):
    study = study_of(*AGENTS)
    first = Cluster(tmp_path / "first")
    first.add_worker()
    try:
        with Store(tmp_path / "out", code_versions(print)) as store:
            progress = Acting(4, first.scheduler.kill)
            with (
                hired("dask", scheduler=first.address) as crew,
                pytest.raises(
                    WorkforceLostError, match="is gone; what is computed is stored: the same command goes on"
                ),
            ):
                run(study, store, nsb.simulate, progress, crew=crew)
            left = len(store.missing(units_of(study)))
        assert 0 < left <= len(expected) - 4
    finally:
        first.close()
    second = Cluster(tmp_path / "second")
    second.add_worker()
    try:
        with Store(tmp_path / "out", code_versions(print)) as store, hired("dask", scheduler=second.address) as crew:
            assert len(run(study, store, nsb.simulate, Quiet(), crew=crew).computed) == left
    finally:
        second.close()
    assert_same(results_in(tmp_path / "out", study), expected)


@pytest.fixture
def own_agent(tmp_path, monkeypatch):
    """The name of a module with an agent of a user's, here; and a folder with another version of it."""
    name = f"mine_{abs(hash(tmp_path))}"
    other = tmp_path / "other"
    other.mkdir()
    (tmp_path / f"{name}.py").write_text(OWN.replace("CHOICE", "0"))
    (other / f"{name}.py").write_text(OWN.replace("CHOICE", "1"))
    monkeypatch.syspath_prepend(tmp_path)
    return name, other


@pytest.mark.filterwarnings("ignore:.*no compiled form")
@pytest.mark.parametrize("late", [False, True], ids=["from the beginning", "later"])
def test_a_worker_with_other_code_is_refused(late, own_agent, cluster, tmp_path):
    name, other = own_agent
    study = study_of(f"{name}:Mine", "ts", runs=400)
    add = {False: (other,), True: (tmp_path, other)}[late]
    with Store(tmp_path / "out", code_versions(print)) as store, hired("dask", scheduler=cluster.address) as crew:
        cluster.add_worker(add[0])
        crew.client.wait_for_workers(1, timeout=60)
        progress = Acting(1, lambda: [cluster.add_worker(path) for path in add[1:]])
        slow = Slowly() if late else nsb.simulate
        with pytest.raises(UnfitWorkerError) as caught:
            run(study, store, slow, progress, crew=crew)
        assert f"another version of the code of {name}" in str(caught.value)
        assert "the worker tcp://" in str(caught.value)
        assert (progress.done > 0) == late
        stored = [unit for unit in units_of(study) if store.has(unit) and "mine" in unit.agent.name]
        assert all((store.load(unit).pulls[:, 1] == 0).all() for unit in stored)  # none of the other version


class Slowly:
    """The engine, with time for others to come."""

    def __call__(self, *arguments, **options):
        import time

        time.sleep(0.2)
        return nsb.simulate(*arguments, **options)


def test_a_worker_that_lacks_the_users_code_or_file_is_refused_before_the_run(own_agent, cluster, tmp_path):
    name, _ = own_agent
    (tmp_path / "means.csv").write_text("a,b\n" + "0.1,0.9\n" * 50)
    cluster.add_worker()
    worlds = (WorldEntry.of(str(tmp_path / "means.csv")),)
    study = Study("test", (Experiment(worlds=worlds, agents=(AgentEntry.of(f"{name}:Mine"),), runs=2),))
    with Store(tmp_path / "out", code_versions(print)) as store, hired("dask", scheduler=cluster.address) as crew:
        crew.client.wait_for_workers(1, timeout=60)
        with pytest.raises(UnfitWorkerError, match=f"no module {name} "):
            run(study, store, nsb.simulate, Quiet(), crew=crew)
        assert not any(store.units.iterdir())


def test_a_command_gives_the_same_table_with_every_executor(tmp_path, capsys):
    import pyarrow.parquet as pq

    command = ["--env", "piecewise:horizon=200,n_arms=3", "--agents", "ts", "random", "--runs", "30"]
    tables = {}
    for executor in ("threads", "processes", "dask"):
        out = tmp_path / executor
        assert evaluate_command.main([*command, "--executor", executor, "--jobs", "2", "--out", str(out)]) == 0
        tables[executor] = pq.read_table(out / "table.parquet")
    assert tables["threads"].equals(tables["processes"])
    assert tables["threads"].equals(tables["dask"])
    assert "dashboard at http://127.0.0.1:" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore:.*no compiled form")
def test_a_unit_that_fails_is_named_and_the_rest_is_done(own_agent, tmp_path, capsys):
    name, _ = own_agent
    (tmp_path / f"{name}.py").write_text(OWN.replace("return CHOICE", "raise LookupError('no idea')"))
    out = tmp_path / "out"
    command = ["--env", "piecewise:horizon=200,n_arms=3", "--agents", f"{name}:Mine", "ts", "--runs", "30"]
    assert evaluate_command.main([*command, "--out", str(out), "--retries", "1"]) == 1
    said = capsys.readouterr()
    last = said.err.splitlines()[-1]
    assert last.startswith("evaluate: error: 2 of the units failed, such as ")
    assert f"{name}:Mine on piecewise:horizon=200,n_arms=3, runs " in last
    assert f"LookupError: no idea ({name}.py, line " in last
    assert "(2 attempts)" in last
    assert "failures.txt" in last
    assert "Traceback" in (out / "failures.txt").read_text()
    assert (out / "report.html").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--executor", "clouds"], "invalid choice: 'clouds'"),
        (["--executor", "threads", "--scheduler", "tcp://127.0.0.1:1"], "--scheduler is for --executor dask"),
        (["--retries", "-1"], "must be an integer of at least 0"),
    ],
)
def test_options_that_make_no_sense_are_refused_before_anything_is_computed(options, words, tmp_path, capsys):
    command = ["--env", "stationary:horizon=200", "--agents", "ts", "--runs", "3", "--out", str(tmp_path / "out")]
    assert evaluate_command.main([*command, *options]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
