"""What a file says of itself is read if it can be, and else refused before anything is made of it."""

import base64
import json
import zlib

import numpy as np
import pytest

from ns_mab_gym.experiments.footers import (
    DETAILS,
    INDEX,
    LARGEST_DETAILS,
    BrokenFileError,
    Footer,
    key_of,
    packed,
    unpacked,
)

UNIT, OTHER = "0123456789abcdef", "f" * 16
GOOD = {"format": 2, "units": UNIT + OTHER, "rows": [100, 1], "digest": "d"}


def read(index):
    return Footer.of({INDEX: json.dumps(index).encode(), DETAILS: b"packed"})


def test_a_footer_is_read_as_it_was_written():
    footer = read(GOOD)
    assert footer.keys.tolist() == [key_of(UNIT * 4), key_of(OTHER * 4)] == [0x0123456789ABCDEF, 2**64 - 1]
    assert (footer.rows, footer.details, footer.digest) == ([100, 1], b"packed", "d")
    again = Footer.of(footer.metadata())
    assert np.array_equal(again.keys, footer.keys)
    assert again.metadata() == footer.metadata()


BAD = {
    "another form": {"format": 1},
    "truth for the form": {"format": None},
    "a unit twice": {"units": UNIT + UNIT},
    "a unit and blanks": {"units": UNIT + " " * 16, "rows": [100]},
    "a unit too few": {"units": UNIT},
    "half a unit": {"units": UNIT + OTHER[:8]},
    "no units": {"units": "", "rows": []},
    "units as a list": {"units": [UNIT, OTHER]},
    "other digits": {"units": UNIT + "g" * 16},
    "rows as truth": {"rows": [100, True]},
    "rows as fractions": {"rows": [100, 1.0]},
    "rows as text": {"rows": ["100", "1"]},
    "no rows": {"rows": [100, 0]},
    "rows below zero": {"rows": [102, -1]},
    "rows of more": {"rows": [100, 1, 1]},
    "rows as a record": {"rows": {"0": 100, "1": 1}},
    "a digest that is no text": {"digest": None},
    "one piece more": {"more": 1},
}


@pytest.mark.parametrize("change", BAD.values(), ids=BAD)
def test_other_footers_are_refused(change):
    with pytest.raises(ValueError, match=r"its index|another version|hexadecimal"):
        read(GOOD | change)


@pytest.mark.parametrize("metadata", [None, {}, {b"pandas": b"{}"}])
def test_files_of_others_are_told(metadata):
    with pytest.raises(BrokenFileError, match="was not written by ns_mab_gym"):
        Footer.of(metadata)


def as_text(content):
    return base64.b64encode(content)


PACKED = {
    "no text": b"\xff",
    "half a text": packed({})[:-1],
    "nothing packed": as_text(b""),
    "something else packed": as_text(b"{}"),
    "half of it": as_text(zlib.compress(b"{}")[:-1]),
    "more behind it": as_text(zlib.compress(b"{}") + b"more"),
    "far too much": as_text(zlib.compress(b" " * (LARGEST_DETAILS + 100))),
}


@pytest.mark.parametrize("details", PACKED.values(), ids=PACKED)
def test_details_that_cannot_be_unpacked_are_refused(details):
    with pytest.raises(ValueError, match="its details"):
        unpacked(details)
