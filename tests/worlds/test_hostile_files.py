"""Files of means from strangers: each is read as it was meant, or refused in our words; ``--fuzz-long`` tries more."""

import io
import zipfile
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from fuzzing import guest
from hostile_files import (
    CELLS,
    damaged,
    npy,
    npy_claiming,
    parquet,
    parquet_claiming,
    with_directory_claiming,
    zipped,
)

import ns_mab_gym as nsb
from ns_mab_gym.experiments.arm_headers import header_of
from ns_mab_gym.worlds import Table

EXTREMES = (0.0, 1.0, -1.0, 1e308, 5e-324, 0.1, 2.0**53, 1 / 3)
INDEXES = (
    lambda rounds: range(rounds),
    lambda rounds: range(1, rounds + 1),
    lambda rounds: range(100, 100 + 60 * rounds, 60),
)
KINDS = ("f8", ">f8", "f4", "f2", "longdouble", "i8", "u8", "i1", "bool", "c16", "U3", "S3", "M8[s]", "O", "f8,f8")


def pick(rng, things):
    return things[rng.integers(len(things))]


def some_means(rng):
    """A small table of means; at times of whole or of extreme numbers."""
    shape = rng.integers(1, 7), rng.integers(1, 5)
    fashion = rng.integers(4)
    if fashion == 0:
        return rng.integers(0, 3, size=shape).astype(float)
    if fashion == 1:
        return rng.choice(EXTREMES, size=shape)
    return rng.random(shape)


def some_names(rng, n_arms):
    """Names of columns as pandas has them: letters, numbers, words that mean something else, or none at all."""
    numbers = list(range(n_arms))
    fashions = [numbers, [f"arm {k}" for k in numbers], ["red", "none", "7up", "é"][:n_arms], ["none"] * n_arms]
    return pick(rng, [*fashions, [*numbers[:-1], "last"]])


def ask_everybody(path, watched):
    """The table in this file, if it is let in; whoever reads such files lets nothing but our own errors out."""
    read = None
    with guest(watched=watched):
        read = Table(path=path)
    with guest(watched=watched):
        assert header_of(path) == (None if read is None or read.arm_names is None else list(read.arm_names))
    if read is None:
        with guest(watched=watched):
            nsb.simulate(path, "random", runs=1, env_kwargs={"reward": "gaussian"})
    return read


def by_hand(content, *, header):
    """The rows of a CSV file that has no quotes, read with nothing but ``split``."""
    text = content.decode().removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    rows = [line.split(",") for line in text.split("\n") if line]
    return [[float(Decimal(cell.strip(" \t\v\f"))) for cell in row] for row in rows[header:]]


def test_pandas_writes_csv_and_we_read_what_was_meant_or_refuse(tmp_path, guests, watched):
    path, let_in = tmp_path / "t.csv", 0
    for rng in guests:
        means = some_means(rng)
        rounds, n_arms = means.shape
        header, index = rng.random() < 0.7, rng.random() < 0.4
        frame = pd.DataFrame(means, columns=some_names(rng, n_arms), index=pick(rng, INDEXES)(rounds))
        separator, decimal = pick(rng, [",", ",", ",", ";", "\t", " "]), pick(rng, [".", ".", ".", ","])
        text = frame.to_csv(
            header=header,
            index=index,
            index_label=pick(rng, [None, "round", "Time", "t"]),
            sep=separator,
            decimal=decimal,
            quoting=int(rng.integers(0, 3)),
            lineterminator=pick(rng, ["\n", "\r\n", "\r"]),
        )
        path.write_bytes(text.encode(pick(rng, ["utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1"])))
        read = ask_everybody(path, watched)
        # Without a header, nothing tells an index of 0 and 1 from means, nor the commas in 0,5 from each other.
        commas = decimal == "," and (separator == "," or n_arms == 1)
        telling = header or not ((index and rounds < 3) or commas)
        if read is not None and telling:
            let_in += 1
            np.testing.assert_array_equal(read.means(), means)
    assert let_in > len(guests) / 20


def test_hostile_csv(tmp_path, guests, watched):
    path, let_in = tmp_path / "t.csv", 0
    for rng in guests:
        rows = [[repr(cell) for cell in row] for row in some_means(rng).tolist()]
        if rng.random() < 0.5:
            rows.insert(0, [str(name) for name in some_names(rng, len(rows[0]))])
        if rng.random() < 0.5:
            row = pick(rng, rows)
            row[rng.integers(len(row))] = pick(rng, CELLS)
        content = "\n".join(map(",".join, rows)).encode()
        path.write_bytes(damaged(content, rng) if rng.random() < 0.6 else content)
        read = ask_everybody(path, watched)
        if read is not None and b'"' not in path.read_bytes():
            let_in += 1
            assert read.means().tolist() == by_hand(path.read_bytes(), header=read.arm_names is not None)
    assert let_in > len(guests) / 20


def some_npz(rng):
    """An archive: honest, or one that lies about its array, its members or their sizes."""
    means = some_means(rng)
    fashion = rng.integers(12)
    if fashion < 6:
        member = npy(np.asarray(means, order=pick(rng, ["C", "F"])))
    elif fashion == 6:
        member = npy(np.clip(means, 0, 99).astype(pick(rng, KINDS)))
    elif fashion == 7:
        member = npy(pick(rng, [means[0], means[None], means[0, 0], means[:0]]))
    else:
        sides = (0, 1, 2, 3, 6, -1, 2**31, 2**63, 10**12, True, "x", 1.5)
        shape = tuple(pick(rng, sides) for _ in range(pick(rng, [2, 2, 2, 0, 1, 3])))
        kind = pick(rng, ["'<f8'", "'<f8'", "'|O'", "'<i4'", "3"])
        member = npy_claiming(shape, bytes(8 * int(rng.integers(0, 20))), kind)
    names = pick(rng, [["means.npy"]] * 4 + [["x.npy"], ["means.npy"] * 2, ["a.npy", "b.npy"], ["x"], ["../x.npy"]])
    compression = pick(rng, [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED] * 3 + [zipfile.ZIP_BZIP2])
    content = zipped([(name, member) for name in names], compression)
    return with_directory_claiming(content, int(pick(rng, [0, 1, 200, 2**31, 2**32 - 1]))) if fashion > 10 else content


def test_hostile_npz(tmp_path, guests, watched):
    path, let_in = tmp_path / "t.npz", 0
    for rng in guests:
        content = some_npz(rng)
        path.write_bytes(damaged(content, rng) if rng.random() < 0.4 else content)
        read = ask_everybody(path, watched)
        if read is not None:
            let_in += 1
            with np.load(path, allow_pickle=False) as archive:
                theirs = archive["means"] if "means" in archive.files else archive[archive.files[0]]
            np.testing.assert_array_equal(read.means(), theirs.astype(float))
    assert let_in > len(guests) / 20


def some_parquet(rng):
    """A Parquet file: pandas' with one of its indexes, or one with a strange column, or one that lies."""
    means = some_means(rng)
    rounds, n_arms = means.shape
    fashion = rng.integers(5)
    if fashion == 4:
        return parquet_claiming(
            int(pick(rng, [0, 1, 77_778, 2**31, 10**12, 2**62])), real=int(rng.integers(70_000, 80_000))
        )
    if fashion < 3:
        index = pick(
            rng, [*INDEXES, lambda rounds: np.arange(rounds) / 7, lambda rounds: pd.date_range("2024", periods=rounds)]
        )
        frame = pd.DataFrame(means, columns=list(map(str, some_names(rng, n_arms))), index=index(rounds))
        frame = frame.loc[:, ~frame.columns.duplicated()]
        return parquet(
            frame.rename_axis(pick(rng, [None, "when", "index"])), compression=pick(rng, ["snappy", "zstd", None])
        )
    strange = (
        pa.array([None] * rounds, pa.float64()),
        pa.array(means[:, 0].tolist(), pa.float64()).dictionary_encode(),
        pa.array([[1.0]] * rounds),
        pa.array([{"x": 1}] * rounds),
        pa.array([True] * rounds),
        pa.array(["0.5"] * rounds),
        pa.array([2**63] * rounds, pa.uint64()),
        pa.array([Decimal("0.1")] * rounds),
        pa.array([1] * rounds, pa.timestamp("s")),
        pa.array(range(rounds)),
    )
    table = pa.table({"a": means[:, 0], pick(rng, ["b", "a", "", "0", "__index_level_0__", "é\0"]): pick(rng, strange)})
    return parquet(
        table.replace_schema_metadata(pick(rng, [None, {"pandas": "{"}, {"pandas": '{"index_columns": ["a"]}'}]))
    )


def test_hostile_parquet(tmp_path, guests, watched):
    path, let_in = tmp_path / "t.parquet", 0
    for rng in guests:
        content = some_parquet(rng)
        whole = rng.random() < 0.5
        path.write_bytes(content if whole else damaged(content, rng))
        read = ask_everybody(path, watched)
        if read is not None and whole:
            let_in += 1
            theirs = pa.parquet.read_table(io.BytesIO(content))
            if b"pandas" in (theirs.schema.metadata or {}):
                theirs = theirs.to_pandas()
                np.testing.assert_array_equal(read.means(), theirs.to_numpy(dtype=float))
            else:
                np.testing.assert_array_equal(
                    read.means().T, [np.asarray(each, dtype=float) for each in theirs.columns]
                )
    assert let_in > len(guests) / 20


@pytest.mark.parametrize("suffix", [".csv", ".npz", ".parquet"])
def test_noise(tmp_path, guests, watched, suffix):
    for rng in guests[:: len(guests) // 20]:
        path = tmp_path / f"t{suffix}"
        path.write_bytes(pick(rng, [b"", b"PK\x03\x04", b"PAR1", b"\x93NUMPY"]) + rng.bytes(int(rng.integers(0, 300))))
        ask_everybody(path, watched)
