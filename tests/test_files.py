"""Files exist in full or not at all, under names that file systems and readers take, and nothing else is touched."""

import ast
import errno
import os
import stat
import threading
from pathlib import Path

import pytest

import ns_mab_gym
from ns_mab_gym.files import is_temporary, refuse_links, remove_leftovers, write_atomically

LONGEST = 255  # bytes of a name, on nearly every file system


@pytest.mark.parametrize("character", ["a", "é", "店", "🎲"])
@pytest.mark.parametrize("suffix", [".png", ".csv", ""])
def test_any_name_that_the_file_system_takes_can_be_written(tmp_path, character, suffix):
    longest = character * ((LONGEST - len(suffix)) // len(character.encode())) + suffix
    write_atomically(tmp_path / longest, b"whole")
    assert [path.name for path in tmp_path.iterdir()] == [longest]


@pytest.mark.parametrize("moment", ["write", "fsync", "replace"])
@pytest.mark.parametrize("fault", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt(), MemoryError()])
def test_whatever_stops_a_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, moment, fault):
    def stop(*_, **__):
        raise fault

    path = tmp_path / "report.html"
    path.write_bytes(b"old")
    content = b"new"
    if moment == "write":
        content = 7  # which no file takes
    else:
        monkeypatch.setattr(os, moment, stop)
        monkeypatch.setattr(type(path), "replace", stop) if moment == "replace" else None
    with pytest.raises((type(fault), TypeError)):
        write_atomically(path, content)
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == {"report.html": b"old"}


def test_a_link_is_replaced_and_not_written_through(tmp_path):
    victim, folder = tmp_path / "victim", tmp_path / "folder"
    victim.write_text("of somebody else")
    folder.mkdir()
    for number, link in enumerate((folder / "soft", folder / "hard")):
        (link.symlink_to if number == 0 else link.hardlink_to)(victim)
        write_atomically(link, b"ours")
        assert link.read_bytes() == b"ours"
        assert not link.is_symlink()
        assert victim.read_text() == "of somebody else"


def test_temporary_names_are_never_taken_from_what_lies_there(tmp_path, monkeypatch):
    """Whoever guesses the name puts a link there; nothing is written through it."""
    (tmp_path / "victim").write_text("of somebody else")
    monkeypatch.setattr(os, "urandom", lambda count: bytes(count))
    (tmp_path / f".ns-mab-gym-{'00' * 8}.part").symlink_to(tmp_path / "victim")
    with pytest.raises(FileExistsError):
        write_atomically(tmp_path / "file", b"ours")
    assert (tmp_path / "victim").read_text() == "of somebody else"


def test_files_have_the_rights_that_the_user_wants(tmp_path):
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "file", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


def test_threads_that_write_one_file_leave_one_of_their_contents(tmp_path):
    contents = [bytes([number]) * 100_000 for number in range(8)]
    threads = [threading.Thread(target=write_atomically, args=(tmp_path / "file", each)) for each in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_bytes() in contents


def test_leftovers_are_removed_and_nothing_else_is(tmp_path):
    ours = [".ns-mab-gym-0123456789abcdef.part", ".ts--0-24--0123456789abcdef.parquet.4711.part", ".summary.csv.1.part"]
    kept = ["thesis.part", ".part", ".bashrc", "..part", ".x.part", ".ns-mab-gym-0123.partial", "ns-mab-gym-0.1.part"]
    for name in [*ours, *kept]:
        (tmp_path / name).write_text("half")
    (tmp_path / ".folder.1.part").mkdir()
    (tmp_path / ".link.1.part").symlink_to(tmp_path / "thesis.part")
    remove_leftovers(tmp_path, tmp_path / "absent")
    assert {path.name for path in tmp_path.iterdir()} == {*kept, ".folder.1.part", ".link.1.part"}


def test_what_is_being_written_would_be_known_as_a_leftover(tmp_path, monkeypatch):
    seen = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda number: (seen.extend(os.listdir(tmp_path)), real(number)))
    write_atomically(tmp_path / ("店" * 80), b"")
    assert [is_temporary(name) for name in seen] == [True]
    assert len(seen[0].encode()) < 50


def test_links_are_refused_in_words(tmp_path):
    (tmp_path / "model.zip").symlink_to(tmp_path / "absent")
    refuse_links(tmp_path / "numbers.json")
    with pytest.raises(ValueError, match=r"model\.zip' is a link to another place; remove the link, or choose another"):
        refuse_links(tmp_path / "numbers.json", tmp_path / "model.zip")


HOUSE = Path(ns_mab_gym.__file__).parent
# Who opens files to write by himself, and why nothing is cut off or written through a link there.
WRITERS = {
    ("files", "temporary.open('xb')"): "the one place: a new name, which is renamed when the file is complete",
    ("folder_lock", "open(path, 'a', opener=_without_following)"): "never written to; no link is followed",
    ("policy_export", "np.savez(written"): "into memory",
}
METHODS = ("write_text", "write_bytes", "tofile", "to_csv", "to_parquet", "to_json", "to_html", "to_pickle")
FUNCTIONS = ("np.save", "np.savez", "np.savez_compressed", "np.savetxt", "pq.write_table", "shutil.copy", "shutil.move")


def written_by(call):
    """How a call would write a file in place; None if it writes none."""
    words, name = ast.unparse(call), getattr(call.func, "attr", getattr(call.func, "id", ""))
    modes = [
        each.value for each in [*call.args, *(key.value for key in call.keywords)] if isinstance(each, ast.Constant)
    ]
    opens = name == "open" and any(isinstance(mode, str) and set(mode) <= set("wax+bt") and mode for mode in modes)
    method = isinstance(call.func, ast.Attribute) and name in METHODS
    return words.split(", **")[0] if opens or method or ast.unparse(call.func) in FUNCTIONS else None


def test_files_are_written_in_one_place():
    """So what holds for that place, above, holds for reports, tables, figures, models and whatever comes next."""
    files = [*HOUSE.rglob("*.py"), *(HOUSE / "agents").rglob("*.py")]
    assert {"files", "tables", "style", "sb3_agent", "board_files", "kernel"} <= {file.stem for file in files}
    found = {
        (file.stem, words)
        for file in files
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and (words := written_by(call)) is not None
    }
    assert found == WRITERS.keys(), "use write_atomically, or say in WRITERS why this is safe"


@pytest.mark.parametrize(
    ("line", "writes"),
    [
        ("open(path, 'w')", True), ("open(path, mode='ab')", True), ("path.open('xb')", True), ("open(path)", False),
        ("open(path, 'rb')", False), ("path.open('rb')", False), ("path.open()", False), ("archive.open(name)", False),
        ("path.write_text('x')", True), ("(folder / 'a').write_bytes(b'')", True), ("path.read_text()", False),
        ("Path.write_bytes(path, b'')", True), ("frame.to_csv(path)", True), ("np.savez(path, a=1)", True),
    ],
)  # fmt: skip
def test_writing_is_recognised(line, writes):
    assert (written_by(ast.parse(line, mode="eval").body) is not None) is writes
