"""Names of files from words: whatever the words, a file of that name can be written, found and told apart."""

import unicodedata

import pytest

from ns_mab_gym.file_names import file_name, told_apart

DEVICES = (
    "con",
    "PRN",
    "aux",
    "nul",
    "com1",
    "COM9",
    "lpt0",
    "com¹",
    "lpt³",
)  # of Windows
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


@pytest.mark.parametrize("options", [{}, {"keep": ".=,-", "gap": "_"}, {"keep": ".=,-"}])
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


def test_names_are_told_apart_where_neither_case_nor_forms_of_letters_count():
    names = told_apart(map(shape, HOSTILE))
    assert len(names) == len(HOSTILE)
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        for fold in (str.casefold, str.upper, str.lower):
            seen = {unicodedata.normalize(form, fold(unicodedata.normalize(form, name))) for name in names}
            assert len(seen) == len(names), (form, fold)


def test_what_needs_no_change_is_not_changed():
    plain = ["smooth-sigma-0.0001", "piecewise", "天気", "été", "means.2024", "a_b"]
    assert [shape(words, keep=".-") for words in plain] == plain == told_apart(plain)
    assert shape("beta-swts:window=5,xi=0.1", keep=".=,-", gap="_") == "beta-swts_window=5,xi=0.1"


@pytest.mark.parametrize(
    "text", ["../../etc/passwd", "_", "", "...", "-rf", "a*b?[c]", "k=v,w=x", "\0\n", "\udcff", "é" * 99]
)
def test_names_of_units_mean_nothing_but_themselves(text):
    part = file_name(text, instead="unnamed", keep=".-", gap="_")
    assert part[0].isalnum()
    assert len(part.encode()) <= 60
    assert not set(part) & set("/\\*?[]{}=,:;'\"$&|<>~ \0\n")
