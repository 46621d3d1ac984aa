"""A folder of results from somebody else: links, pipes and folders in the place of files lead nowhere."""

import hashlib
import os
import signal

import pandas as pd
import pytest
from single_version import v1

from ns_mab_gym.choosing import reports
from ns_mab_gym.experiments import Store, StoreError, run
from ns_mab_gym.experiments.leaderboard.board_files import write_snapshot
from ns_mab_gym.experiments.parquet import to_parquet
from ns_mab_gym.experiments.pipeline import Pipeline
from ns_mab_gym.experiments.unit_jobs import compute
from ns_mab_gym.experiments.units import units_of

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs links, pipes and signals")


def state_of(folder):
    """Everything about a folder that somebody could notice to have changed."""
    found = {}
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path)] = (about.st_mode, about.st_size, about.st_mtime_ns, content)
    return found


@pytest.fixture
def elsewhere(tmp_path):
    """Somebody's folder, with work in it that looks like results."""
    folder = tmp_path / "elsewhere"
    (folder / "home").mkdir(parents=True)
    for name in ("thesis.tex", "home/regret.png", "home/a--b--0-24--0123456789abcdef.parquet", "home/.x.1.part"):
        (folder / name).write_text("years of work")
    return folder


@pytest.fixture(autouse=True)
def no_waiting():
    """A pipe that is waited for is waited for in vain: end the test instead."""
    signal.signal(signal.SIGALRM, lambda *_: pytest.fail("hangs"))
    signal.alarm(60)
    yield
    signal.alarm(0)


def put(kind, path, elsewhere):
    """Put something hostile in the place of whatever is there."""
    if path.is_dir() and not path.is_symlink():
        path.rename(path.with_name("was-here"))
    path.unlink(missing_ok=True)
    {
        "link to a file": lambda: path.symlink_to(elsewhere / "thesis.tex"),
        "link to a folder": lambda: path.symlink_to(elsewhere / "home"),
        "link to nothing": lambda: path.symlink_to(elsewhere / "absent"),
        "link to itself": lambda: path.symlink_to(path.name),
        "link upwards": lambda: path.symlink_to("../elsewhere/home"),
        "hard link": lambda: path.hardlink_to(elsewhere / "thesis.tex"),
        "pipe": lambda: os.mkfifo(path),
        "folder": lambda: (path / "within").mkdir(parents=True),
    }[kind]()


KINDS = (
    "link to a file", "link to a folder", "link to nothing", "link to itself", "link upwards", "hard link", "pipe",
    "folder",
)  # fmt: skip
PLACES = (".lock", "README.txt", "units", "aside", "figures", "units/FIRST", "aside/FIRST", "units/other", ".x.1.part")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("together", [False, True], ids=["alone", "shared"])
def test_nothing_elsewhere_changes_and_every_number_is_right(
    tmp_path, small_study, engine, elsewhere, kind, place, together
):
    folder, units = tmp_path / "out", units_of(small_study)
    results = [(unit, "v1", compute(unit, engine, None)) for unit in units]
    with Store(folder, v1) as store:
        for some in [results] if together else [[result] for result in results]:
            store.take([unit for unit, _, _ in some], to_parquet(some))
        store.aside.mkdir()
        path = folder / place.replace("FIRST", store.path(units[0]).name)
    put(kind, path, elsewhere)
    before, refused = state_of(elsewhere), ""
    try:
        with Store(folder, v1, lambda line: None) as store:
            store.tidy(units)
            for unit, _, block in results:
                if store.load(unit) is None:
                    store.save(unit, block)
            again = {unit: store.load(unit) for unit in units}
            table = pd.read_parquet(store.units)
    except StoreError as error:
        refused = str(error)
    assert state_of(elsewhere) == before
    if refused:
        assert "\n" not in refused
        assert "remove" in refused or "choose" in refused
        assert place.count("/") == 0  # for what is not a result there is always another way
    else:
        assert len(table) == 2 * 5 * 20
        assert all((again[unit].regret == block.regret).all() for unit, _, block in results)


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_that_was_set_aside_is_not_lost_to_what_lies_in_its_place(
    tmp_path, small_study, engine, elsewhere, kind
):
    """Something is put where the result was, before it comes back."""
    unit = units_of(small_study)[0]
    with Store(tmp_path / "out", v1, lambda line: None) as store:
        store.save(unit, compute(unit, engine, None))
        path = store.path(unit)
        store.tidy([])
    put(kind, path, elsewhere)
    before = state_of(elsewhere)
    with Store(tmp_path / "out", v1, lambda line: None) as store:
        store.tidy([unit])
        store.load(unit)  # a hard link to another file is found out here
        assert store.load(unit) is not None
    assert state_of(elsewhere) == before


@pytest.mark.parametrize("kind", ["link to a folder", "link upwards"])
@pytest.mark.parametrize("place", ["units", "aside", "figures"])
def test_a_link_that_is_put_there_during_a_run_leads_nowhere_either(
    tmp_path, small_study, engine, elsewhere, kind, place
):
    before = state_of(elsewhere)

    def simulate(*arguments, **options):
        if not (tmp_path / "out" / place).is_symlink():
            put(kind, tmp_path / "out" / place, elsewhere)
        return engine(*arguments, **options)

    said = "is a link to another place; remove the link, or choose another folder|cannot write the report"
    if place == "aside":  # to which results are moved by any store that is open
        with Store(tmp_path / "out", v1, lambda line: None) as store:
            first, _ = units_of(small_study)
            store.save(first, compute(first, simulate, None))
            with pytest.raises(ValueError, match=said):
                store.reject(first, "is broken")
    else:
        with pytest.raises(ValueError, match=said):
            Pipeline(small_study, tmp_path / "out", simulate, 1).run()
    assert state_of(elsewhere) == before


@pytest.mark.parametrize("kind", ["link to a folder", "link upwards"])
@pytest.mark.parametrize("place", ["units", "aside"])
def test_nothing_comes_back_through_such_a_link(tmp_path, small_study, engine, elsewhere, kind, place):
    """Neither is a result moved to elsewhere, nor a file of the same name from there."""
    unit, _ = units_of(small_study)
    with Store(tmp_path / "out", v1, lambda line: None) as store:
        store.save(unit, compute(unit, engine, None))
        (elsewhere / "home" / store.path(unit).name).write_text("years of work")
        store.tidy([])
        put(kind, tmp_path / "out" / place, elsewhere)
        before = state_of(elsewhere)
        with pytest.raises(ValueError, match=r"is a link to another place; remove the link, or choose another folder"):
            store.tidy([unit])
    assert state_of(elsewhere) == before


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("together", [False, True], ids=["alone", "shared"])
def test_what_takes_the_place_of_a_result_while_the_store_is_open_is_not_read(
    tmp_path, small_study, engine, elsewhere, kind, together
):
    """It is neither followed nor waited for: the result is computed again."""
    told, units = [], units_of(small_study)
    results = [(unit, "v1", compute(unit, engine, None)) for unit in units]
    with Store(tmp_path / "out", v1, told.append) as store:
        for some in [results] if together else [[result] for result in results]:
            store.take([unit for unit, _, _ in some], to_parquet(some))
        put(kind, store.path(units[0]), elsewhere)
        before = state_of(elsewhere)
        assert store.load(units[0]) is None
        assert len(told) == 1
        store.save(units[0], results[0][2])
        assert (store.load(units[0]).regret == results[0][2].regret).all()
    assert state_of(elsewhere) == before


@pytest.mark.parametrize("kind", ["link to a folder", "link upwards"])
def test_the_folder_itself_may_be_a_link_to_another_disk(tmp_path, study, engine, progress, kind):
    (tmp_path / "disk").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "disk" if kind == "link to a folder" else "../" + tmp_path.name + "/disk")
    with Store(tmp_path / "out", v1) as store:
        assert len(run(study, store, engine, progress).computed) == 18
        assert all(path.resolve().parent == tmp_path / "disk" / "units" for path in map(store.path, units_of(study)))


WRITTEN = ("report.html", "summary.csv", "table.parquet", "detections.csv", "claims.json", "claims.md", "failures.txt")


def test_reports_are_written_through_no_link(tmp_path, small_study, engine, elsewhere):
    folder = tmp_path / "out"
    pipeline = Pipeline(small_study, folder, engine, 1)
    Store(folder, v1).close()
    (folder / "figures").mkdir()
    for number, name in enumerate((*WRITTEN, "figures/abrupt-means.png", "figures/abrupt-regret.svg")):
        put(("link to a file", "hard link")[number % 2], folder / name, elsewhere)
    before = state_of(elsewhere)
    pipeline.run()
    assert state_of(elsewhere) == before
    assert not any(path.is_symlink() for path in folder.rglob("*"))
    assert (folder / "summary.csv").read_text().startswith("world,agent")


@pytest.mark.parametrize("place", ["figures", ".lock", "README.txt"])
def test_nor_is_the_report_of_a_comparison(tmp_path, elsewhere, place, monkeypatch):
    monkeypatch.setattr(reports, "Board", lambda comparison: None)
    monkeypatch.setattr(reports, "_write_folder", lambda board, folder: reports._clear(folder))
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "README.txt").write_text(reports.OWNER)
    put("link to a folder", folder / place, elsewhere)
    before = state_of(elsewhere)
    with pytest.raises(StoreError, match=r"remove|choose"):
        reports.write_report(None, folder)
    assert state_of(elsewhere) == before


def test_nor_is_the_snapshot_of_a_leaderboard(tmp_path, elsewhere, monkeypatch):
    module = write_snapshot.__globals__
    for name in ("board_csv", "board_json"):
        monkeypatch.setitem(module, name, lambda *_: b"{}")
    monkeypatch.setitem(module, "snapshot_markdown", lambda board: "")

    class Found:
        standings = ()

    (tmp_path / "rates.png").write_bytes(b"picture")
    folder = tmp_path / "snapshot"
    folder.mkdir()
    names = ("rates.png", "leaderboard.csv", "leaderboard.json", "README.md")
    for name in names:
        put("link to a file", folder / name, elsewhere)
    before = state_of(elsewhere)
    write_snapshot(Found(), {}, [tmp_path / "rates.svg"], folder)
    assert state_of(elsewhere) == before
    assert not any((folder / name).is_symlink() for name in names)
