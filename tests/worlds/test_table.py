"""A user's own world, a table of means: arrays and files that are read, those that are refused, and damaged ones."""

import datetime
import decimal
import hashlib
import io
import json
import os
import pickle
import re
import struct
import warnings
import zipfile
from itertools import count

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fuzzing import is_own

from ns_mab_gym import worlds
from ns_mab_gym.studies.study import header_of
from ns_mab_gym.worlds import Table, read_means, table

MEANS = np.random.default_rng(0).random((5, 3))
FRAME = pd.DataFrame(MEANS, columns=["a", "b", "c"])
LETTERS = pa.table({"a": [0.1, 0.2], "b": [0.3, 0.4]})

SNIPPETS = (b",", b"\n", b'"', b"\0", b".", b"e9", b"-", b"\xff\xfe", b"PK\x05\x06", b"PAR1")


def refusal(path, content):
    """What is said about a file with this content: in one line of our own, which names it."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(ValueError, match=re.escape(repr(str(path)))) as caught:
        read_means(path)
    words = str(caught.value)
    assert is_own(caught.value)
    assert "\n" not in words
    return words


def npy(array):
    """The bytes that numpy.save writes."""
    content = io.BytesIO()
    np.save(content, array)
    return content.getvalue()


def npy_claiming(shape, data=b"\0" * 48, descr="'<f8'"):
    """An array whose header says what it likes."""
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def zipped(members, compression=zipfile.ZIP_STORED):
    """An archive of the members, which may have one name twice."""
    content = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there twice
        with zipfile.ZipFile(content, "w", compression) as archive:
            for name, data in members:
                archive.writestr(name, data)
    return content.getvalue()


def parquet(table, **options):
    """The bytes of a Parquet file of a table of Arrow, or of a frame of pandas."""
    content = io.BytesIO()
    if isinstance(table, pd.DataFrame):
        table.to_parquet(content, **options)
    else:
        pq.write_table(table, content, **options)
    return content.getvalue()


def parquet_claiming_too_much():
    """A Parquet file of 77,777 rows whose footer says 10^12; Thrift's zigzag doubles the numbers."""
    content = parquet(pa.table({"a": np.full(77_777, 0.5), "b": np.full(77_777, 0.25)}))
    length = struct.unpack("<I", content[-8:-4])[0]
    footer = content[-8 - length : -8].replace(b"\xa2\xbf\t", b"\x80\xc0\xa8\xca\x9a:")
    return content[: -8 - length] + footer + struct.pack("<I", len(footer)) + content[-4:]


def damaged(content, rng):
    """The content with some bytes changed, cut out, doubled or put in."""
    changed = bytearray(content)
    for _ in range(rng.integers(1, 6)):
        start, stop = sorted(rng.integers(0, len(changed) + 1, size=2).tolist())
        near = slice(start, min(stop, start + int(rng.choice([1, 2, 4, 8, 200]))))
        deed = rng.integers(0, 5)
        if deed == 0:
            changed[near] = rng.bytes(near.stop - near.start)
        elif deed == 1:
            del changed[near]
        elif deed == 2:
            changed[near] = changed[near] * 2
        elif deed == 3:
            changed[near] = bytes([int(rng.choice([0, 1, 127, 128, 255]))]) * (near.stop - near.start)
        else:
            changed[start:start] = SNIPPETS[rng.integers(len(SNIPPETS))]
    return bytes(changed)


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
        ("date,banner,clicks\n2026-03-01 08:00:32,summer,0\n", r"\(--trials\), is read with: ns-mab-gym log"),
        ("1,2,3\n0.5,0.5,0.5\n", "line 1: 1, 2, … may be the numbers of the columns"),
        (FRAME.to_csv(), INDEX),
        (FRAME.to_csv(index_label="round"), CLOCK),
        (FRAME.set_axis([0.1, 0.2, 0.4, 0.7, 0.9]).to_csv(index_label="time"), CLOCK),
        (FRAME.set_axis([3, 1, 2, 5, 4]).to_csv(index_label="id"), CLOCK),
        (FRAME.to_csv(header=False), CLOCK),
        (FRAME.assign(t=[1.0, 2, 3, 4, 5]).to_csv(index=False), CLOCK.replace("column 1", "column 4")),
        (
            FRAME.set_axis(pd.date_range("2024", periods=5)).to_csv(index_label="x"),
            "line 2, column 1: '2024-01-01'",
        ),
        (FRAME.to_csv(sep=";", index=False), COMMAS),
        (FRAME.to_csv(sep="\t", index=False), COMMAS),
        (FRAME.to_csv(sep=";", decimal=",", index=False), "put commas|columns where"),
        (FRAME.to_csv(decimal=",", index=False, header=False), NOT_A_NUMBER.format(1, 1, "'0,63.*'")),
        ("0,05,0,5\n", NOT_A_NUMBER.format(1, 2, "'05'")),  # 0,05 and 0,5
        ("1_000,2_000\n0.5,0.5\n", NOT_A_NUMBER.format(1, 1, "'1_000'")),
        ("٣,٤\n0.5,0.5\n", NOT_A_NUMBER.format(1, 1, "'٣'")),
        ("a,0.5\n0.5,0.5\n", NOT_A_NUMBER.format(1, 1, "'a'")),
        ("NA,NA\n0.5,0.5\n", NOT_A_NUMBER.format(1, 1, "'NA'")),
        (",\n0.5,0.5\n", NOT_A_NUMBER.format(1, 1, "''")),
        (
            "9.99,14.99\n3.5,4.5\n3.6,4.4\n",
            r"line 1: 9.99, 14.99, … may be names .* \('price 9.99'\) or quote them alone",
        ),
        ("0.99,1.99\n0.021,0.012\n0.022,0.013\n", "line 1: 0.99, 1.99, … may be names"),  # far from all others
        ("9.99,9.99\n0.021,0.012\n0.022,0.013\n", "line 1: 9.99, 9.99, … may be names"),  # no two arms have one name
        ('"9.99","9.99"\n9.021,7.012\n8.022,6.013\n', "line 1: 9.99, 9.99, … may be names"),
        ("9.99,14.95\n8.12,15.31\n10.47,12.99\n11.20,9.05\n", "line 1: 9.99, 14.95, … may be names"),  # by the cents
        ('"9.99","14.99"\n"8.12","15.31"\n"10.47","12.06"\n', "line 1: 9.99, 14.99, … may be names"),
        ("5,7,9\n4.123,5.345,6.999\n6.111,7.001,9.212\n", "line 1: 5, 7, … may be names"),  # rounded
        (  # a jump, although the prices lie within the range of the means
            "4.5,5.5\n" + "".join(f"{3 + 0.25 * t},{7 - 0.25 * t}\n" for t in (0, 0.5, 1, 1.5, 2, 1, 2, 3, 4, 5, 6, 7)),
            "line 1: 4.5, 5.5, … may be names",
        ),
        ("0.5,1e400\n", "NaN or infinite at round 1, arm 2"),
        ("a,b,\n0.1,0.2,\n", NOT_A_NUMBER.format(2, 3, "''") + "; every round needs one mean for each arm"),
        ("# made by me\na,b\n0.1,0.2\n", "line 2: 2 columns where the first row has 1; leave comments out"),
        ("0.1,0.2\n# end\n", "line 2: 1 columns where the first row has 2; leave comments out"),
        ("0.1,0.2\n" + "9" * 70 + "x,0.2\n", f"line 2, column 1: '{'9' * 60}'… is not a number"),
        ('a,"b\n0.1,0.2\n', "cannot be read as CSV: line 2: unexpected end of data"),
        ('"0.1"x,0.2\n', "cannot be read as CSV: line 1: ',' expected after '\"'"),
        ("é,b\n0.1,0.2\n".encode("latin-1"), "is no UTF-8 text; save it as CSV in UTF-8"),
        ("a,b\n0.1,0.2\n".encode("utf-16"), "is no UTF-8 text"),
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
        (FRAME.to_csv(index=False, header=False), MEANS, None),
        (FRAME.to_csv(index=False, quoting=1, lineterminator="\r\n"), MEANS, ["a", "b", "c"]),
        ("\ufeffé,7up\n0.1,0.2\n", [[0.1, 0.2]], ["é", "7up"]),
        ("# a,b\n.1,5e-1\n", [[0.1, 0.5]], ["a", "b"]),  # as numpy.savetxt writes a header
        ("yes,none,\n+1.,-2E+1, 3 \n", [[1, -20, 3]], ["yes", "none", ""]),
        ("0.0,1.0\n1.0,0.0\n", [[0, 1], [1, 0]], None),
        ("9.99,14.99\n0.031,0.022\n0.03,0.02\n", [[0.031, 0.022], [0.03, 0.02]], ["9.99", "14.99"]),  # above rates
        ('"9.99","14.99"\n3.5,4.5\n9.99,14.99\n', [[3.5, 4.5], [9.99, 14.99]], ["9.99", "14.99"]),  # alone quoted
        ('"3.25","4.25"\n"3.5","4.5"\n', [[3.25, 4.25], [3.5, 4.5]], None),  # as all are
        ("0.0,0.0\n0.123,0.211\n0.198,0.333\n", [[0, 0], [0.123, 0.211], [0.198, 0.333]], None),  # no two names
        ("0.9,0.8\n0.5,0.45\n0.3,0.28\n0.2,0.21\n", [[0.9, 0.8], [0.5, 0.45], [0.3, 0.28], [0.2, 0.21]], None),  # rots
        ("0.9,0.95\n0.5,0.95\n", [[0.9, 0.95], [0.5, 0.95]], None),  # below 1
        ("1.9,2.95\n3.49,4.99\n", [[1.9, 2.95], [3.49, 4.99]], None),  # as all end
        ("2,0\n1,0\n0,0\n", [[2, 0], [1, 0], [0, 0]], None),
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
        pd.Index([0, 1, 2, 3, 4], name="when"),
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
        ({"a": [1.0], "b": [datetime.date(2024, 1, 1)]}, "column 'b': date32.* is not a number"),
        ({"a": pa.nulls(2), "b": [1, 2]}, "column 'a': null is not a number"),
        ({"a": [None, 1], "b": [1, 2]}, "NaN or infinite at round 1, arm 1"),
        ({"a": [1], "b": [2**53 + 1]}, r"whole numbers beyond 2\*\*53"),
        ({"a": pa.array([], pa.float64()), "b": pa.array([], pa.float64())}, "is empty; give one row per round"),
        ({"round": [0.1, 0.2], "a": [0.3, 0.4], "b": [0.1, 0.1]}, CLOCK),
        ({"a": [0.3] * 3, "b": [0.1] * 3, "c": [7, 8, 9]}, "column 3: 7, 8, 9, … counts rounds and is no arm"),
        ({"__index_level_0__": [0.2, 0.1], "a": [0.3, 0.4], "b": [0.1, 0.1]}, "an index of pandas; leave it out"),
        (LETTERS.replace_schema_metadata({"pandas": "{"}), "cannot be read as Parquet: .*; save it again"),
    ],
)
def test_parquet_that_would_be_read_wrongly_is_refused(tmp_path, table, words):
    content = parquet(table if isinstance(table, pa.Table) else pa.table(table))
    said = refusal(tmp_path / "t.parquet", content)
    assert re.search(words, said), said


def test_numbers_in_npz_of_every_kind(tmp_path):
    for kind in (">f8", "<f4", ">i2", "f2", "longdouble", "u8"):
        array = np.array(10 * MEANS, dtype=kind, order="F")
        np.savez_compressed(tmp_path / "t.npz", means=array)
        np.testing.assert_array_equal(read_means(tmp_path / "t.npz"), array.astype(float))


def saved(array):
    return zipped([("means.npy", npy(array))])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            zipped([("means.npy", npy_claiming((2, 2), descr="'|O'"))]),
            "Object arrays cannot be loaded when allow_pickle",
        ),
        (saved(MEANS[0]), r"must be a table of T rounds by K arms, got shape \(3,\)"),
        (saved(MEANS + 1j), "holds something that is not a number"),
        (saved(np.zeros((2, 2), dtype=[("a", "f8")])), "holds something that is not a number"),
        (saved(np.array([[2**63, 1]], dtype="u8")), r"whole numbers beyond 2\*\*53"),
        (saved(np.full((2, 2), np.longdouble("1e400"))), "NaN or infinite at round 1, arm 1"),
        (zipped([]), r"holds \[\]; save one array"),
        (zipped([("means.npy", npy(MEANS)), ("means.npy", npy(1 - MEANS))]), r"holds \['means', 'means'\]"),
        (zipped([(f"{n}.npy", b"") for n in range(99)]), "'9', …]; save one array, or call the array of means 'means'"),
        (zipped([("inner.npz", saved(MEANS))]), "cannot be read as npz: 'inner.npz' is no array"),
        (zipped([("means.npy", npy_claiming((2, 3), data=b"\0" * 40))]), "cannot be read as npz: EOF"),
        (zipped([("means.npy", npy_claiming((10**12, 3)))]), "cannot be read as npz: "),
        (saved(MEANS).replace(MEANS.tobytes(), (1 - MEANS).tobytes()), "cannot be read as npz: Bad CRC-32"),
    ],
)
def test_npz_that_would_be_read_wrongly_is_refused(tmp_path, content, words):
    said = refusal(tmp_path / "t.npz", content)
    assert re.search(words, said), said


def test_a_parquet_file_that_claims_more_rounds_than_it_has_is_refused(tmp_path):
    said = refusal(tmp_path / "t.parquet", parquet_claiming_too_much())
    assert "has 77,777 rounds but says 1,000,000,000,000; save it again" in said


@pytest.mark.parametrize("suffix", [".csv", ".npz", ".parquet"])
def test_a_damaged_file_is_read_or_refused_by_an_error_of_our_own(tmp_path, suffix):
    path, rng = tmp_path / f"t{suffix}", np.random.default_rng(0)
    whole = {".csv": FRAME.to_csv(index=False).encode(), ".npz": saved(MEANS), ".parquet": parquet(FRAME)}[suffix]
    errors = []
    for _ in range(60):
        path.write_bytes(damaged(whole, rng))
        try:
            assert read_means(path).shape[1] >= 2
        except ValueError as error:
            errors.append(error)
    assert len(errors) > 10
    assert all(map(is_own, errors))


def test_pandas_writes_csv_and_we_read_what_was_meant_or_refuse(tmp_path):
    path, read = tmp_path / "t.csv", 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        rounds, n_arms = rng.integers(1, 7), rng.integers(1, 5)
        means = rng.random((rounds, n_arms)) if seed % 3 else rng.integers(0, 3, size=(rounds, n_arms)).astype(float)
        names = [list(range(n_arms)), [f"arm {k}" for k in range(n_arms)], ["none", "7up", "é", "t"][:n_arms]][seed % 3]
        frame = pd.DataFrame(means, columns=names, index=np.arange(rounds) * int(rng.choice([1, 60])))
        header, index = bool(rng.random() < 0.7), bool(rng.random() < 0.4)
        separator, decimal_point = str(rng.choice([*",,,;\t "])), str(rng.choice([*"...,"]))
        text = frame.to_csv(
            header=header,
            index=index,
            index_label=[None, "round", "Time"][rng.integers(3)],
            sep=separator,
            decimal=decimal_point,
            quoting=int(rng.integers(0, 3)),
            lineterminator=str(rng.choice(["\n", "\r\n", "\r"])),
        )
        path.write_bytes(text.encode(str(rng.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16"]))))
        # Without a header, nothing tells an index of 0 and 1 from means, nor the commas in 0,5 from each other.
        commas = decimal_point == "," and (separator == "," or n_arms == 1)
        if not header and ((index and rounds < 3) or commas):
            continue
        try:
            found = read_means(path)
        except ValueError:
            continue
        read += 1
        np.testing.assert_array_equal(found, means)
    assert read > 15


def test_what_is_no_file_is_refused_without_waiting(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "zeros.csv").symlink_to("/dev/zero")
    (tmp_path / "gone.csv").symlink_to(tmp_path / "nowhere")
    for name in ("folder", "pipe", "zeros"):
        with pytest.raises(ValueError, match="is a folder or a device; give a file of means"):
            read_means(tmp_path / f"{name}.csv")
    for name in ("gone", "folder.csv/inside", "nul\0", "é" * 300):
        with pytest.raises(FileNotFoundError, match="no file of means at"):
            read_means(f"{tmp_path}/{name}.csv")
        assert header_of(f"{tmp_path}/{name}.csv") is None


def test_a_file_that_does_not_open(tmp_path, monkeypatch):
    def refuse(_):
        raise PermissionError(13, "Permission denied")

    (tmp_path / "t.csv").write_text("0.1,0.2\n")
    monkeypatch.setattr(table, "content_of", refuse)
    with pytest.raises(ValueError, match=r"t\.csv' cannot be opened: Permission denied; ask its owner"):
        read_means(tmp_path / "t.csv")


@pytest.mark.parametrize("path", [5, b"t.csv", ["t.csv"], True])
def test_a_path_is_text(path):
    for read in (read_means, lambda path: Table(path=path)):
        with pytest.raises(TypeError, match="the path of a file of means must be text, got "):
            read(path)


@pytest.mark.parametrize("error", [MemoryError(), RecursionError("deep"), KeyError("x"), SystemError("a\nb")])
def test_errors_of_libraries_come_out_as_our_own(tmp_path, monkeypatch, error):
    def raises(*_):
        raise error

    monkeypatch.setitem(table.READERS, ".csv", ("CSV", raises))
    assert "cannot be read as CSV: " in refusal(tmp_path / "t.csv", "0.1,0.2\n")


class Sulking:
    """An array-like that does not give its numbers."""

    def __array__(self, *_, **__):
        raise RuntimeError("on another device")


def write(path, means):
    """Save the means in the format of the path's suffix."""
    if path.suffix == ".npz":
        np.savez(path, means=means)
    else:
        frame = pd.DataFrame(means, columns=["a", "b", "c"])
        frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz", ".CSV"])
def test_a_file_is_read_to_the_last_bit(tmp_path, suffix):
    path = write(tmp_path / f"means{suffix}", MEANS)
    np.testing.assert_array_equal(read_means(path), MEANS)
    world = Table(path=path)
    assert (world.horizon, world.n_arms) == MEANS.shape
    np.testing.assert_array_equal(world.means(), MEANS)
    assert worlds.make(json.loads(json.dumps(world.to_dict()))) == world
    assert eval(repr(world), vars(worlds)) == world


@pytest.mark.parametrize("rows", [MEANS, MEANS.tolist(), pd.DataFrame(MEANS), np.asfortranarray(MEANS)])
def test_rows_may_be_any_array_like(rows):
    world = Table(rows=rows)
    np.testing.assert_array_equal(world.means(), MEANS)
    assert world == Table(rows=MEANS, horizon=5, n_arms=3)


def test_the_world_keeps_its_own_copy():
    rows = MEANS.copy()
    world = Table(rows=rows)
    rows[:] = 0
    np.testing.assert_array_equal(world.means(), MEANS)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
def test_a_file_is_read_once_and_its_hash_is_of_what_was_read(tmp_path, suffix):
    path = write(tmp_path / f"means{suffix}", MEANS)
    read = hashlib.sha256(path.read_bytes()).hexdigest()
    world = Table(path=path)
    write(path, 1 - MEANS)
    for kept in (world, pickle.loads(pickle.dumps(world))):
        np.testing.assert_array_equal(kept.means(), MEANS)
        assert kept.digest == read
    assert Table(path=path).digest == hashlib.sha256(path.read_bytes()).hexdigest() != read
    assert Table(rows=MEANS).digest is None


def test_npz_holds_one_array_or_one_called_means(tmp_path):
    path = tmp_path / "t.npz"
    for arrays in ({"whatever": MEANS}, {"means": MEANS, "other": MEANS[:2]}):
        np.savez(path, **arrays)
        np.testing.assert_array_equal(read_means(path), MEANS)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([[0.1, 0.2], [0.3]], "the rows of rows differ in length; every round needs one mean for each arm"),
        ([], "rows is empty; give one row per round and one column per arm"),
        ([[0.1, "high"]], "rows holds something that is not a number"),
        ([[0.1, None]], "rows is NaN or infinite at round 1, arm 2"),
        (np.array([[0.1, "0.2"]], dtype=object), "rows holds something that is not a number"),
        ([[0.1], [0.2]], "a bandit needs at least 2 arms, rows has 1 column"),
        ([0.1, 0.2], r"rows must be a table of T rounds by K arms, got shape \(2,\)"),
        ([[0.1, 0.2], [0.3, float("nan")]], "rows is NaN or infinite at round 2, arm 2"),
        ([[10**400, 0]], "rows is NaN or infinite|rows holds something that is not a number"),
        ([[2**53 + 1, 0]], r"rows holds whole numbers beyond 2\*\*53, which no float can tell apart"),
        (np.ma.array([[0.1, 0.2]], mask=[[False, True]]), "rows has masked entries; fill or drop such rounds"),
        (pd.DataFrame({"a": [0.1], "b": [True]}), "rows holds something that is not a number"),
        (pd.DataFrame({"a": [0.1], "b": pd.array([None], dtype="Float64")}), "rows holds|rows is NaN or infinite"),
        (np.full((1, 2), np.longdouble("1e400")), "rows is NaN or infinite at round 1, arm 1"),
        (Sulking(), "rows holds something that is not a number"),
    ],
)
def test_bad_rows_are_refused_with_the_reason(rows, words):
    with pytest.raises(ValueError, match=words):
        Table(rows=rows)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"horizon": 21}, "horizon is 21 but the table has 5; leave horizon out to take the table's"),
        ({"n_arms": 2}, "n_arms is 2 but the table has 3; leave n_arms out"),
        ({"horizon": 0}, "horizon must be a positive integer, got 0"),
        ({"path": "means.csv"}, "either rows= .* or path="),
        ({"rows": None}, "either rows= .* or path="),
    ],
)
def test_a_table_that_does_not_match(given, words):
    with pytest.raises(ValueError, match=words):
        Table(**({"rows": MEANS} | given))
