"""A file is read once: what was read is what is hashed, played and drawn, whatever becomes of it during the run."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import pickle
from concurrent.futures import Executor, Future
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from ns_mab_gym.cli.studies import evaluate as evaluate
from ns_mab_gym.code_version import CodeVersions
from ns_mab_gym.files import ChangedFileError, KeptFile, content_of
from ns_mab_gym.parallel import UnfitWorkerError, executor
from ns_mab_gym.runs import Runs, seed_pair
from ns_mab_gym.specs import AgentSpec, WorldSpec, as_env
from ns_mab_gym.studies.runner import load, run
from ns_mab_gym.studies.store import Store
from ns_mab_gym.studies.study import Experiment, Study, arm_names, pinned, units_of

OLD, NEW = np.full((20, 2), 0.25), np.full((20, 2), 0.75)


def write(path, means, names=("red", "blue")):
    """Write a file of means, whose time does not tell that it was changed."""
    table = pd.DataFrame(means, columns=list(names))
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        table.to_parquet(path, index=False)
    else:
        np.savez(path, means=means)
    os.utime(path, ns=(10**18, 10**18))


class Measuring:
    """An engine whose regret is the sum of the means that it was given; the file is edited before it looks.

    Args:
        edit: a function that edits the file; by default one that does nothing.
    """

    def __init__(self, edit=bool):
        self.edit = edit

    def __call__(self, env, agent, *, runs, env_kwargs, first_run, seed=0, **_):
        self.edit()
        means = as_env(env, env_kwargs).unwrapped.means
        horizon, n_arms = means.shape
        pulls = np.full((runs, n_arms), horizon // n_arms)
        seeds = [seed_pair(seed, run) for run in range(first_run, first_run + runs)]
        return Runs(np.array([horizon]), np.full((runs, 1), means.sum()), pulls, pulls, seeds, [{}] * runs, 0.1)


class Elsewhere(Executor):
    """Sends work as to another process, pickled, and does it here."""

    def submit(self, work, /, *arguments):
        future = Future()
        try:
            sent, given = pickle.loads(pickle.dumps((work, arguments)))
            future.set_result(sent(*given))
        except Exception as error:
            future.set_exception(error)
        return future


def study_of(path, **parameters):
    world = WorldSpec.of(str(path), label="mine", **parameters)
    return Study("", (Experiment(worlds=(world,), agents=(AgentSpec.of("random"),), runs=60),))


def played(study, folder, engine, progress, **options):
    """The units that were computed, and the regret of every run."""
    with Store(folder, CodeVersions(print)) as store:
        outcome = run(study, store, engine, progress, **options)
        return len(outcome.computed), {float(each) for unit in outcome.units for each in load(store, unit).final}


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
def test_an_edit_during_a_run_reaches_neither_the_numbers_nor_their_name(tmp_path, progress, suffix):
    path, folder = tmp_path / f"means{suffix}", tmp_path / "store"
    write(path, OLD)
    edited = Measuring(lambda: write(path, NEW))
    assert played(study_of(path), folder, edited, progress, n_jobs=2) == (3, {OLD.sum()})
    assert played(study_of(path), folder, Measuring(), progress) == (3, {NEW.sum()})
    write(path, OLD)
    assert played(study_of(path), folder, Measuring(), progress) == (0, {OLD.sum()})


def test_another_process_refuses_a_file_that_was_changed(tmp_path, progress):
    path, folder = tmp_path / "means.csv", tmp_path / "store"
    write(path, OLD)
    study = pinned(study_of(path))
    write(path, NEW)
    with pytest.raises(UnfitWorkerError, match="another file at "):
        played(study, folder, Measuring(), progress, pool=executor(Elsewhere(), 1))
    write(path, OLD)
    assert played(study_of(path), folder, Measuring(), progress, pool=executor(Elsewhere(), 1)) == (3, {OLD.sum()})


def test_the_report_shows_what_was_played(tmp_path, capsys):
    path, out = tmp_path / "means.csv", tmp_path / "out"
    write(path, OLD, ("crimson-arm", "azure-arm"))
    edited = Measuring(lambda: write(path, NEW, ("lemon-arm", "olive-arm")))
    assert evaluate(["--env", str(path), "--agents", "random", "--runs", "2", "--out", str(out)], simulate=edited) == 0
    page = (out / "report.html").read_text()
    assert "crimson-arm" in page
    assert "lemon-arm" not in page
    assert any("crimson-arm" in svg.read_text() for svg in (out / "figures").glob("*.svg"))
    assert pd.read_csv(out / "summary.csv")["final_regret"].item() == OLD.sum()
    capsys.readouterr()


OWN = """
from dataclasses import dataclass
from pathlib import Path
import numpy as np
from ns_mab_gym.worlds import World

@dataclass(frozen=True, kw_only=True)
class Level(World):
    horizon: int = 20
    source: str = ""

    @property
    def n_arms(self):
        return 2

    def _means(self, rng):
        return np.full((20, 2), float(Path(self.source).read_text()))
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A world of the user's own that opens a file by itself, under a parameter of its own."""
    (tmp_path / "own_level.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("ns_mab_gym.IMPORTED_AT", float("inf"))  # as if Python had been started after it was written
    (tmp_path / "level.txt").write_text("0.25")
    world = WorldSpec.of("own_level:Level", source=str(tmp_path / "level.txt"))
    return Study("", (Experiment(worlds=(world,), agents=(AgentSpec.of("random"),), runs=2),))


def test_a_file_that_own_code_opens_is_part_of_what_a_result_depends_on(tmp_path, progress, own):
    level, folder = tmp_path / "level.txt", tmp_path / "store"
    assert played(own, folder, Measuring(), progress) == (1, {10.0})
    level.write_text("0.5")
    assert played(own, folder, Measuring(), progress) == (1, {20.0})
    level.write_text("0.25")
    assert played(own, folder, Measuring(), progress) == (0, {10.0})


def test_nothing_is_stored_if_such_a_file_changes_under_the_hands_of_own_code(tmp_path, progress, own):
    level, folder = tmp_path / "level.txt", tmp_path / "store"
    with pytest.raises(ChangedFileError, match=r"level\.txt"):
        played(own, folder, Measuring(lambda: level.write_text("0.5")), progress)
    level.write_text("0.25")
    assert played(own, folder, Measuring(), progress) == (1, {10.0})


def test_a_pinned_study_equals_the_study_and_is_pinned_once(tmp_path):
    path = tmp_path / "means.csv"
    write(path, OLD)
    study = study_of(path)
    once = pinned(study)
    write(path, NEW)
    again = pinned(once)
    assert study == once == again
    assert hash(units_of(study)[0]) == hash(units_of(once)[0])
    assert units_of(again)[0].identity("v") == units_of(once)[0].identity("v") != units_of(study)[0].identity("v")
    (world,) = again.worlds
    assert world.label == "mine"
    assert world.text == study.worlds[0].text
    assert arm_names(world, 2) == ["red", "blue"]


def test_files_are_found_wherever_a_parameter_names_one(tmp_path):
    for name in ("a.csv", "b.csv", "model"):
        (tmp_path / name).write_text("1")
    at = {name: str(tmp_path / name) for name in ("a.csv", "b.csv", "model", "none.csv")}
    (tmp_path / "folder.d").mkdir()
    entry = WorldSpec.of(
        "abrupt",
        path=at["model"],
        other=at["model"],  # neither a path by its name nor with an ending
        reward={"name": "mine", "file": at["a.csv"]},
        near=at["b.csv"],
        gone=at["none.csv"],
        folder=str(tmp_path / "folder.d"),
        long="x" * 5_000 + ".csv",
    )
    assert entry.files == {"path": at["model"], "reward.file": at["a.csv"], "near": at["b.csv"]}


def test_a_kept_file_is_its_path_and_its_content(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"one")
    file = KeptFile(path, trusted=True)
    path.write_bytes(b"two")
    assert file == str(path) == json.loads(json.dumps({"path": file}))["path"]
    assert file.content == content_of(file) == b"one"
    assert file.digest == hashlib.sha256(b"one").hexdigest()
    for other in (copy.copy(file), copy.deepcopy(file)):
        assert other is file
    sent = pickle.loads(pickle.dumps(file))
    assert (sent.digest, sent.trusted) == (file.digest, True)
    with pytest.raises(ChangedFileError, match="start again"):
        _ = sent.content
    path.write_bytes(b"one")
    assert pickle.loads(pickle.dumps(file)).content == b"one"
    assert b"one" not in pickle.dumps(file)


def test_what_is_no_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    for place in (tmp_path / "pipe.csv", tmp_path, "/dev/zero", "\0", "x" * 5_000):
        with pytest.raises(FileNotFoundError, match="there is no file at"):
            KeptFile(place)
    entry = replace(study_of(tmp_path / "pipe.csv"))
    assert pinned(entry) == entry
