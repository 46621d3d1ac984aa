"""Files exist in full or not at all, under names that file systems and readers take, and nothing else is touched."""

import ast
import errno
import os
import stat
import threading
import unicodedata
from pathlib import Path

import pytest

import ns_mab_gym
from ns_mab_gym.files import distinct_names, file_name, is_temporary, remove_leftovers, write_atomically

LONGEST = 255  # bytes of a name, on nearly every file system


@pytest.mark.parametrize(("character", "suffix"), [("a", ".png"), ("店", ""), ("🎲", ".csv")])
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


def test_an_error_names_the_file_that_was_to_be_written(tmp_path):
    path = tmp_path / "nowhere" / "report.html"
    with pytest.raises(FileNotFoundError) as caught:
        write_atomically(path, b"new")
    assert caught.value.filename == str(path)


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
    ours = [".ns-mab-gym-0123456789abcdef.part", ".ns-mab-gym-0000000000000000.part"]
    kept = ["thesis.part", ".part", ".bashrc", "..part", ".x.part", ".ns-mab-gym-0123.partial", "ns-mab-gym-0.1.part"]
    for name in [*ours, *kept]:
        (tmp_path / name).write_text("half")
    folder, link = (f".ns-mab-gym-{digit * 16}.part" for digit in "ab")
    (tmp_path / folder).mkdir()
    (tmp_path / link).symlink_to(tmp_path / "thesis.part")
    remove_leftovers(tmp_path, tmp_path / "absent")
    assert {path.name for path in tmp_path.iterdir()} == {*kept, folder}


def test_what_is_being_written_would_be_known_as_a_leftover(tmp_path, monkeypatch):
    seen = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda number: (seen.extend(os.listdir(tmp_path)), real(number)))
    write_atomically(tmp_path / ("店" * 80), b"")
    assert [is_temporary(name) for name in seen] == [True]
    assert len(seen[0].encode()) < 50


DEVICES = ("con", "PRN", "aux", "nul", "com1", "COM9", "lpt0", "com¹", "lpt³")  # of Windows
HOSTILE = [
    "", " ", ".", "..", "...", "-", "--rf", "_", "__init__", ".hidden", "_skipped", "~", "?!", "!?", "a.", "a ", "a..",
    "a/b", "a\\b", "a:b", "a|b", "a*b", "a\0b", "a\nb", "a\tb", 'a"b', "../../etc/passwd", "/etc/passwd", "C:\\x",
    "Shop", "shop", "SHOP", "ﬁ", "fi", "ß", "ss", "SS", "é", "e\u0301", "É", "Å", "\u212b", "K", "\u212a", "ı", "İ",
    "i", "店", "магазин", "МАГАЗИН", "\ud800", "\u202egnp", "a\u200bb", "ab", "x" * 59, "x" * 60, "x" * 61, "x" * 5_000,
    "店" * 100, "店" * 101, "é" * 31, "a-2", "a-2-2", "a", "A", "world", "world-2",
    *DEVICES, *(f"{device}.txt" for device in DEVICES), *(f" {device} " for device in DEVICES),
]  # fmt: skip


def shape(words, **options):
    return file_name(words, instead="world", **options)


@pytest.mark.parametrize("options", [{}, {"keep": ".=,-"}])
def test_a_name_is_safe_on_every_file_system(options, tmp_path):
    for words in HOSTILE:
        name = shape(words, **options)
        assert 0 < len(name.encode()) <= 60 + len("world-")
        assert name[0].isalnum(), words  # what begins with . or _ is hidden from some readers, with - is an option
        assert name[-1].isalnum(), words  # Windows drops dots and spaces at the end
        assert not set(name) & set('<>:"/\\|?*\0\n\t\u202e\u200b')
        assert name.partition(".")[0].casefold() not in {device.casefold() for device in DEVICES}
        assert unicodedata.normalize("NFC", name) == name
        (tmp_path / name).write_bytes(b"")


def test_names_differ_where_neither_case_nor_forms_of_letters_count():
    names = distinct_names(map(shape, HOSTILE))
    assert len(names) == len(HOSTILE)
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        for fold in (str.casefold, str.upper, str.lower):
            seen = {unicodedata.normalize(form, fold(unicodedata.normalize(form, name))) for name in names}
            assert len(seen) == len(names), (form, fold)


def test_what_needs_no_change_is_not_changed():
    plain = ["smooth-sigma-0.0001", "piecewise", "天気", "été", "means.2024", "a_b"]
    assert [shape(words, keep=".-") for words in plain] == plain == distinct_names(plain)
    assert shape("beta-swts:window=5,xi=0.1", keep=".=,-") == "beta-swts-window=5,xi=0.1"


HOUSE = Path(ns_mab_gym.__file__).parent
# Where files are opened to be written otherwise, and why nothing is cut off there.
WRITERS = {
    ("files", "temporary.open('xb')"): "the one place: a new name, which is renamed when the file is complete",
    ("store", "np.savez_compressed(packed"): "into memory",
    ("file", "np.savez_compressed(packed"): "into memory",
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
    assert {"files", "tables", "style", "store", "kernel"} <= {file.stem for file in files}
    found = {
        (file.stem, words)
        for file in files
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and (words := written_by(call)) is not None
    }
    assert found == WRITERS.keys(), "use write_atomically, or say in WRITERS why this is safe"
