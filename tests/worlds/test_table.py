"""A user's own world: a table of means from an array or a file, and what is said about a bad one."""

import csv
import hashlib
import json
import pickle

import numpy as np
import pandas as pd
import pytest

from ns_mab_gym import worlds
from ns_mab_gym.worlds import Table, read_means

MEANS = np.random.default_rng(0).random((20, 3))


class Sulking:
    """An array-like that does not give its numbers."""

    def __array__(self, *_, **__):
        raise RuntimeError("on another device")


def write(path, means, header=("a", "b", "c")):
    """Save the means in the format of the path's suffix."""
    if path.suffix == ".npz":
        np.savez(path, means=means)
    elif path.suffix == ".parquet":
        pd.DataFrame(means, columns=header).to_parquet(path)
    else:
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([header, *means.tolist()] if header else means.tolist())
    return path


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz", ".CSV"])
def test_a_file_is_read_to_the_last_bit(tmp_path, suffix):
    path = write(tmp_path / f"means{suffix}", MEANS)
    np.testing.assert_array_equal(read_means(path), MEANS)
    world = Table(path=path)
    assert (world.horizon, world.n_arms) == (20, 3)
    np.testing.assert_array_equal(world.means(), MEANS)
    assert worlds.make(json.loads(json.dumps(world.to_dict()))) == world
    assert eval(repr(world), vars(worlds)) == world


@pytest.mark.parametrize("rows", [MEANS, MEANS.tolist(), pd.DataFrame(MEANS), np.asfortranarray(MEANS)])
def test_rows_may_be_any_array_like(rows):
    world = Table(rows=rows)
    np.testing.assert_array_equal(world.means(), MEANS)
    assert world == Table(rows=MEANS, horizon=20, n_arms=3)


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


def test_npz_with_several_arrays_needs_one_called_means(tmp_path):
    np.savez(tmp_path / "one.npz", whatever=MEANS)
    np.savez(tmp_path / "named.npz", means=MEANS, other=MEANS[:2])
    np.savez(tmp_path / "two.npz", a=MEANS, b=MEANS)
    np.testing.assert_array_equal(read_means(tmp_path / "one.npz"), MEANS)
    np.testing.assert_array_equal(read_means(tmp_path / "named.npz"), MEANS)
    with pytest.raises(ValueError, match=r"holds \['a', 'b'\]; save one array, or call the array of means 'means'"):
        read_means(tmp_path / "two.npz")


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


@pytest.mark.parametrize("name", ["bad.npz", "bad.parquet", "bad.csv"])
def test_a_file_that_is_not_what_its_name_says(tmp_path, name):
    (tmp_path / name).write_bytes(b"\x89\xff\x00 not a table")
    with pytest.raises(ValueError, match=rf"{name}' cannot be read as "):
        read_means(tmp_path / name)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"horizon": 21}, ValueError, "horizon is 21 but the table has 20; leave horizon out to take the table's"),
        ({"n_arms": 2}, ValueError, "n_arms is 2 but the table has 3; leave n_arms out"),
        ({"horizon": 0}, ValueError, "horizon must be a positive integer, got 0"),
        ({"path": "means.csv"}, ValueError, "either rows= .* or path="),
        ({"rows": None}, ValueError, "either rows= .* or path="),
    ],
)
def test_a_table_that_does_not_match(given, error, words):
    with pytest.raises(error, match=words):
        Table(**({"rows": MEANS} | given))


def test_files_that_cannot_be_tables(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file of means at .*nowhere\.csv"):
        Table(path=tmp_path / "nowhere.csv")
    (tmp_path / "means.npy").touch()
    with pytest.raises(ValueError, match=r"unknown kind of table '\.npy'; did you mean '\.npz'\?"):
        Table(path=tmp_path / "means.npy")
