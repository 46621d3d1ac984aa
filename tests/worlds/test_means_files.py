"""Files of means: what is recognised, what is refused and why, and what a file may claim before memory is asked for."""

import datetime
import decimal
import re
import zipfile
from itertools import count

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hostile_files import npy, npy_claiming, parquet, parquet_claiming, refusal, with_directory_claiming, zipped

from ns_mab_gym.agents.core import memory_limits
from ns_mab_gym.experiments.arm_headers import header_of
from ns_mab_gym.worlds import Table, read_means

MEANS = np.random.default_rng(0).random((5, 3))
FRAME = pd.DataFrame(MEANS, columns=["a", "b", "c"])
LETTERS = pa.table({"a": [0.1, 0.2], "b": [0.3, 0.4]})


INDEX = "line 1: the first column has no name, as the index that pandas writes; leave it out with index=False, or give"
NUMBERED = "line 1: 0, 1, … may be the numbers of the columns, .* or means; give the columns names .* means as 0"
CLOCK = r"column 1: .* leave the column out \(pandas: index=False\)"
COMMAS = "is not a number; put commas between columns, and write decimal points"
NOT_A_NUMBER = "line {}, column {}: {} is not a number"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (pd.DataFrame(MEANS).to_csv(index=False), NUMBERED),
        ("0,1\n1,0\n", NUMBERED),  # perhaps the identity
        (" 0, 1\n0.5,0.5\n", NUMBERED),
        ("1,2,3\n0.5,0.5,0.5\n", "line 1: 1, 2, … may be the numbers of the columns"),
        (pd.DataFrame(MEANS).to_csv(), INDEX),
        (FRAME.to_csv(), INDEX),
        (FRAME[:1].to_csv(), INDEX),
        (FRAME.set_axis([0.5, 0.1, 0.4, 0.2, 0.3]).to_csv(), INDEX),
        (FRAME.to_csv(index_label="round"), CLOCK),
        (FRAME.to_csv(index_label="whatever"), CLOCK),
        (FRAME[:1].to_csv(index_label="Round "), CLOCK),
        (FRAME.set_axis([0.1, 0.2, 0.4, 0.7, 0.9]).to_csv(index_label="time"), CLOCK),
        (FRAME.set_axis([3, 1, 2, 5, 4]).to_csv(index_label="id"), CLOCK),
        (FRAME.to_csv(header=False), CLOCK),
        (FRAME.set_axis(range(60, 360, 60)).to_csv(header=False), CLOCK),
        (FRAME.assign(t=[1.0, 2, 3, 4, 5]).to_csv(index=False), CLOCK.replace("column 1", "column 4")),
        (
            FRAME.set_axis(pd.date_range("2024", periods=5)).to_csv(index_label="x"),
            "line 2, column 1: '2024-01-01'",
        ),
        (FRAME.to_csv(sep=";", index=False), COMMAS),
        (FRAME.to_csv(sep="\t", index=False), COMMAS),
        (FRAME.to_csv(sep=" ", index=False, header=False), COMMAS),
        (FRAME.to_csv(sep=";", decimal=",", index=False), "put commas|columns where"),
        (FRAME.to_csv(decimal=",", index=False, header=False), NOT_A_NUMBER.format(1, 1, "'0,63.*'")),
        ("0,05,0,5\n", NOT_A_NUMBER.format(1, 2, "'05'")),  # 0,05 and 0,5
        ('"1,000","2,000"\n0.5,0.5\n', NOT_A_NUMBER.format(1, 1, "'1,000'")),
        ("1_000,2_000\n0.5,0.5\n", NOT_A_NUMBER.format(1, 1, "'1_000'")),
        ("0.5,0.5\n0.1,1_0\n", NOT_A_NUMBER.format(2, 2, "'1_0'")),
        ("٣,٤\n0.5,0.5\n", NOT_A_NUMBER.format(1, 1, "'٣'")),
        ("½,½\n0.5,0.5\n", NOT_A_NUMBER.format(1, 1, "'½'")),
        ("10%,20%\n0.5,0.5\n", NOT_A_NUMBER.format(1, 1, "'10%'")),
        ("1+2j,3-1j\n0.5,0.5\n", NOT_A_NUMBER.format(1, 1, r"'1\+2j'")),
        ("1.0D-3,2.0D-1\n0.5,0.5\n", NOT_A_NUMBER.format(1, 1, "'1.0D-3'")),
        ("0x1F,0x2\n0.5,0.5\n", NOT_A_NUMBER.format(1, 1, "'0x1F'")),
        ("a,0.5\n0.5,0.5\n", NOT_A_NUMBER.format(1, 1, "'a'")),
        ("NA,NA\n0.5,0.5\n", NOT_A_NUMBER.format(1, 1, "'NA'")),
        (",\n0.5,0.5\n", NOT_A_NUMBER.format(1, 1, "''")),
        ("nan,nan\n0.5,0.5\n", "NaN or infinite at round 1, arm 1"),
        ("0.5,Infinity\n", "NaN or infinite at round 1, arm 2"),
        ("0.5,1e400\n", "NaN or infinite at round 1, arm 2"),
        ("0.5,True\n", NOT_A_NUMBER.format(1, 2, "'True'")),
        ("a,b,\n0.1,0.2,\n", NOT_A_NUMBER.format(2, 3, "''") + "; every round needs one mean for each arm"),
        ("# made by me\na,b\n0.1,0.2\n", "line 2: 2 columns where the first row has 1; leave comments out"),
        ("0.1,0.2\n# end\n", "line 2: 1 columns where the first row has 2; leave comments out"),
        ("0.1,0.2\n" + "9" * 70 + "x,0.2\n", f"line 2, column 1: '{'9' * 60}'… is not a number"),
        ('a,"b\n0.1,0.2\n', "cannot be read as CSV: line 2: unexpected end of data"),
        ('"0.1"x,0.2\n', "cannot be read as CSV: line 1: ',' expected after '\"'"),
        ("é,b\n0.1,0.2\n".encode("latin-1"), "is no UTF-8 text; save it as CSV in UTF-8"),
        ("a,b\n0.1,0.2\n".encode("utf-16"), "is no UTF-8 text"),
        ("a,b\n0.1,0.2\n".encode("utf-16-le"), "is no UTF-8 text"),
        ("x" * 200_000 + ",b\n0.1,0.2\n", "cannot be read as CSV: line 1: field larger than field limit"),
        ("1" * 100_000 + "!a,b\n0.1,0.2\n0.1\n", "line 3: 1 columns"),
    ],
    ids=count(),
)
def test_csv_that_would_be_read_wrongly_is_refused(tmp_path, content, words):
    said = refusal(tmp_path / "t.csv", content)
    assert re.search(words, said), said


@pytest.mark.parametrize(
    ("content", "means", "names"),
    [
        (FRAME.to_csv(index=False), MEANS, ["a", "b", "c"]),
        (pd.DataFrame(MEANS).add_prefix("arm ").to_csv(index=False), MEANS, ["arm 0", "arm 1", "arm 2"]),
        (FRAME.to_csv(index=False, header=False), MEANS, None),
        (FRAME.to_csv(index=False, quoting=1, lineterminator="\r\n"), MEANS, ["a", "b", "c"]),
        (FRAME.to_csv(index=False, lineterminator="\r"), MEANS, ["a", "b", "c"]),
        ("\ufeffé,7up\n0.1,0.2\n", [[0.1, 0.2]], ["é", "7up"]),
        ("# a,b\n.1,5e-1\n", [[0.1, 0.5]], ["a", "b"]),  # as numpy.savetxt writes a header
        ("yes,none,\n+1.,-2E+1, 3 \n", [[1, -20, 3]], ["yes", "none", ""]),
        ("0.0,1.0\n1.0,0.0\n", [[0, 1], [1, 0]], None),
        ("a,b\n0,1\n1,0\n", [[0, 1], [1, 0]], ["a", "b"]),
        ("2,0\n1,0\n0,0\n", [[2, 0], [1, 0], [0, 0]], None),
        ("a,second\n0.1,0.3\n0.2,0.3\n", [[0.1, 0.3], [0.2, 0.3]], ["a", "second"]),
        ("1,0\n2,0\n4,0\n", [[1, 0], [2, 0], [4, 0]], None),
        ("0.5,0\n1.5,0\n2.5,0\n", [[0.5, 0], [1.5, 0], [2.5, 0]], None),
        ("a,b\n1e308,0\n-1e308,0\n1e308,1\n", [[1e308, 0], [-1e308, 0], [1e308, 1]], ["a", "b"]),
    ],
    ids=count(),
)
def test_csv_that_is_sure_is_read(tmp_path, content, means, names):
    path = tmp_path / "t.csv"
    path.write_text(content, encoding="utf-8", newline="")
    np.testing.assert_array_equal(read_means(path), means)
    assert header_of(path) == names
    assert Table(path=path).arm_names == (None if names is None else tuple(names))


@pytest.mark.parametrize(
    "index",
    [
        range(5),
        [0.1, 0.2, 0.3, 0.4, 0.5],
        [3, 1, 2, 5, 4],
        pd.Index([0, 1, 2, 3, 4], name="when"),
        pd.date_range("2024", periods=5),
        pd.MultiIndex.from_product([[0.5], range(5)]),
        list("vwxyz"),
    ],
)
def test_the_index_of_pandas_in_a_parquet_file_is_no_arm(tmp_path, index):
    FRAME.set_axis(index).to_parquet(tmp_path / "t.parquet")
    np.testing.assert_array_equal(read_means(tmp_path / "t.parquet"), MEANS)
    assert header_of(tmp_path / "t.parquet") == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("table", "means"),
    [
        ({"0": [0.1, 0.2], "1": [0.3, 0.4]}, [[0.1, 0.3], [0.2, 0.4]]),
        ({"a": [decimal.Decimal("0.1"), decimal.Decimal("0.7")], "b": [1, 0]}, [[0.1, 1], [0.7, 0]]),
        ({"a": pa.array(np.array([0.5, 0.25], "f2")), "b": pa.array([1, 2], pa.uint8())}, [[0.5, 1], [0.25, 2]]),
        (pa.table([[0.1], [0.2]], names=["a", "a"]), [[0.1, 0.2]]),
    ],
)
def test_numbers_in_parquet_of_every_kind(tmp_path, table, means):
    (tmp_path / "t.parquet").write_bytes(parquet(table if isinstance(table, pa.Table) else pa.table(table)))
    assert read_means(tmp_path / "t.parquet").tolist() == means


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"a": [{"x": 1.0}], "b": [1.0]}, "column 'a': struct<x: double> is not a number; leave the column out"),
        ({"a": [[1.0]], "b": [1.0]}, "column 'a': list<element: double> is not a number"),
        ({"a": [1.0], "b": [datetime.date(2024, 1, 1)]}, "column 'b': date32.* is not a number"),
        ({"a": pa.array([1], pa.duration("s")), "b": [1]}, "column 'a': duration.* is not a number"),
        ({"a": pa.nulls(2), "b": [1, 2]}, "column 'a': null is not a number"),
        ({"a": [None, 1], "b": [1, 2]}, "NaN or infinite at round 1, arm 1"),
        ({"a": [decimal.Decimal("0.1"), None], "b": [1, 2]}, "NaN or infinite at round 2, arm 1"),
        ({"a": [1], "b": [2**53 + 1]}, r"whole numbers beyond 2\*\*53"),
        ({"a": pa.array([], pa.float64()), "b": pa.array([], pa.float64())}, "is empty; give one row per round"),
        ({"round": [0.1, 0.2], "a": [0.3, 0.4], "b": [0.1, 0.1]}, CLOCK),
        ({"a": [0.3] * 3, "b": [0.1] * 3, "c": [7, 8, 9]}, "column 3: 7, 8, 9, … counts rounds and is no arm"),
        ({"__index_level_0__": [0.2, 0.1], "a": [0.3, 0.4], "b": [0.1, 0.1]}, "an index of pandas; leave it out"),
        (LETTERS.replace_schema_metadata({"pandas": "{"}), "does not tell which column is the index of pandas"),
        (LETTERS.replace_schema_metadata({"pandas": "[" * 100_000}), "does not tell which column is"),
        (
            LETTERS.replace_schema_metadata({"pandas": '{"index_columns": 3}'}),
            "does not tell which column is",
        ),
    ],
)
def test_parquet_that_would_be_read_wrongly_is_refused(tmp_path, table, words):
    content = parquet(table if isinstance(table, pa.Table) else pa.table(table))
    said = refusal(tmp_path / "t.parquet", content)
    assert re.search(words, said), said


@pytest.mark.parametrize("kind", [">f8", "<f4", ">i2", "f2", "longdouble", "u8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_numbers_in_npz_of_every_kind(tmp_path, kind, order):
    array = np.array(10 * MEANS, dtype=kind, order=order)
    np.savez_compressed(tmp_path / "t.npz", means=array)
    np.testing.assert_array_equal(read_means(tmp_path / "t.npz"), array.astype(float))


def saved(array):
    return zipped([("means.npy", npy(array))])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (zipped([("means.npy", npy_claiming((2, 2), descr="'|O'"))]), "holds Python objects, which are not loaded"),
        (saved(np.float64(1)), r"must be a table of T rounds by K arms, got shape \(\)"),
        (saved(MEANS[0]), r"got shape \(3,\)"),
        (saved(MEANS[None]), r"got shape \(1, 5, 3\)"),
        (saved(MEANS + 1j), "not a number \\(complex128\\)"),
        (saved(MEANS > 0.5), "not a number \\(bool\\)"),
        (saved(np.zeros((2, 2), dtype="M8[s]")), "not a number \\(datetime64"),
        (saved(np.zeros((2, 2), dtype=[("a", "f8")])), "not a number \\(void64\\)"),
        (saved(np.zeros((0, 3))), "is empty"),
        (saved(np.array([[2**63, 1]], dtype="u8")), r"whole numbers beyond 2\*\*53"),
        (saved(np.array([[-(2**60), 1]])), r"whole numbers beyond 2\*\*53"),
        (saved(np.full((2, 2), np.longdouble("1e400"))), "NaN or infinite at round 1, arm 1"),
        (npy(MEANS), "is not a zip archive; save it with numpy.savez"),
        (zipped([]), r"holds \[\]; save one array"),
        (zipped([("means.npy", npy(MEANS)), ("means.npy", npy(1 - MEANS))]), r"holds \['means', 'means'\]"),
        (zipped([(f"{n}.npy", b"") for n in range(99)]), "'9', …]; save one array, or call"),
        (zipped([("inner.npz", saved(MEANS))]), "cannot be read as npz: the magic string is not correct"),
        (zipped([("means.npy", b"")]), "cannot be read as npz: EOF"),
        (zipped([("means.npy", npy_claiming("(" * 3_000))]), "cannot be read as npz: "),
        (zipped([("means.npy", npy_claiming((2, 3), data=b"\0" * 40))]), "has not as many bytes"),
        (zipped([("means.npy", npy_claiming((2, 3), data=b"\0" * 56))]), "has not as many bytes"),
        (zipped([("means.npy", npy_claiming((-2, -3)))]), "cannot be read as npz: "),
        (zipped([("means.npy", npy(MEANS))], zipfile.ZIP_BZIP2), "compressed as numpy.savez never does it"),
        (zipped([("means.npy", npy(MEANS))], zipfile.ZIP_LZMA), "compressed as numpy.savez never does it"),
        (saved(MEANS).replace(MEANS.tobytes(), (1 - MEANS).tobytes()), "cannot be read as npz: Bad CRC-32"),
        (
            saved(MEANS).replace(b"PK\x01\x02\x14\x03\x14\x00\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01\x00"),
            "encrypted",
        ),
    ],
)
def test_npz_that_would_be_read_wrongly_is_refused(tmp_path, content, words):
    said = refusal(tmp_path / "t.npz", content)
    assert re.search(words, said), said


def zeros(claimed=None):
    """16 MB of zeros, which deflate to 16 kB; the directory may say that they are fewer."""
    content = zipped([("m.npy", npy(np.zeros((10**6, 2))))], zipfile.ZIP_DEFLATED)
    return content if claimed is None else with_directory_claiming(content, claimed)


def claiming(shape, size):
    """An array that claims a shape, in an archive whose directory claims as much."""
    return with_directory_claiming(zipped([("m.npy", npy_claiming(shape))]), size)


@pytest.mark.parametrize(
    ("name", "content", "free", "words"),
    [
        ("t.npz", lambda: zipped([("m.npy", npy_claiming((10**12, 3)))]), 1e15, "has not as many bytes"),
        ("t.npz", lambda: claiming((10**8, 5), 4_000_000_128), 1e9, "would take 8 GB of memory, 1 GB are free"),
        ("t.npz", lambda: claiming((10**8, 5), 4_000_000_128), 9e9, "cannot be read as npz"),
        ("t.npz", zeros, 10e6, "would take 32 MB of memory, 10 MB are free"),
        ("t.npz", lambda: zeros(claimed=1_000), 1e9, "cannot be read as npz|has not as many bytes"),
        (
            "t.parquet",
            lambda: parquet_claiming(10**12),
            1e12,
            "1,000,000,000,000 rounds of 2 columns, would take 32",
        ),
        ("t.parquet", lambda: parquet_claiming(88_888), 1e9, "cannot be read as Parquet|has another number"),
        ("t.parquet", lambda: parquet(pa.table({"a": np.zeros(10**6), "b": np.ones(10**6)})), 10e6, "would take 32 MB"),
        ("t.csv", lambda: b"0,1\n" * 10**6, 10e6, "would take 32 MB of memory, 10 MB are free"),
        ("t.csv", lambda: b"0.25,0.75\n" * 2 * 10**6, 19e6, "reading .* would take 20 MB of memory, 19 MB are free"),
        ("t.csv", lambda: b"0," * 10**6, 20e6, "would take 80 MB of memory"),
    ],
    ids=count(),
)
def test_claims_are_checked_before_memory_is_asked_for(tmp_path, monkeypatch, name, content, free, words):
    monkeypatch.setattr(memory_limits, "available_memory", lambda: free)
    said = refusal(tmp_path / name, content())
    assert re.search(words, said), said
