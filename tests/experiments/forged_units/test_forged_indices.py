"""Indices of files from somebody else: which unit has which rows is believed in one form alone."""

import json

import pytest
from setting_aside import assert_set_aside
from unit_forging import opened_up, write

from ns_mab_gym.experiments.footers import packed

INDICES = {
    "another form": ("format", 1),
    "no form": ("format", None),
    "units as a list": ("units", ["0" * 16]),
    "units as a number": ("units", 16),
    "no units": ("units", ""),
    "half a unit": ("units", "0" * 15),
    "a unit in other digits": ("units", "g" * 16),
    "a unit with blanks": ("units", "0123 4567 89ab c"),
    "more units than can be": ("units", "0123456789abcdef" * 20_000),
    "rows as text": ("rows", "100"),
    "rows as a number": ("rows", 100),
    "rows as truth": ("rows", [True]),
    "rows as fractions": ("rows", [100.0]),
    "no rows": ("rows", []),
    "rows below zero": ("rows", [-100]),
    "rows beyond all numbers": ("rows", [10**400]),
    "rows of very many": ("rows", [1] * 50_000),
    "a digest that is no text": ("digest", 7),
    "one piece more": ("more", 1),
}


@pytest.mark.parametrize(("piece", "value"), INDICES.values(), ids=INDICES)
def test_an_index_of_another_form_is_set_aside(store, units, unit, told, piece, value):
    table, index, details = opened_up(store.path(unit))
    write(store.path(unit), table, json.dumps(index | {piece: value}).encode(), packed(details))
    assert_set_aside(store, units, unit, told)


@pytest.mark.parametrize("piece", ["format", "units", "rows", "digest"])
def test_every_piece_of_the_index_is_needed(store, units, unit, told, piece):
    table, index, details = opened_up(store.path(unit))
    del index[piece]
    write(store.path(unit), table, json.dumps(index).encode(), packed(details))
    assert_set_aside(store, units, unit, told)


@pytest.mark.parametrize(
    "index", [b"[" * 100_000, b'{"rows":' * 50_000, b"\xff\xfe", b"", b"NaN", b"[]", b"7", b"null"]
)
def test_an_index_that_is_none_is_set_aside(store, units, unit, told, index):
    table, _, details = opened_up(store.path(unit))
    write(store.path(unit), table, index, packed(details))
    assert_set_aside(store, units, unit, told)
