"""Logs as people have them: every form of time, every name of an arm, and words for every row that cannot be read."""

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ns_mab_gym as nsb
from ns_mab_gym.logs.log import Log
from ns_mab_gym.worlds.table import LOG_COLUMNS

JANUARY = 1_767_225_600  # seconds from 1970 to the beginning of 2026 in UTC
SMALL = "timestamp,variant,clicked\n2026-01-01 00:00:04,blue,1\n2026-01-01 00:00:09,green,0\n"


def read(tmp_path, text, **columns):
    (tmp_path / "log.csv").write_text(text, encoding="utf-8")
    return Log.read(tmp_path / "log.csv", **columns)


def test_a_file_with_plain_names_is_read_and_what_was_guessed_is_said(tmp_path):
    log = read(tmp_path, SMALL)
    np.testing.assert_array_equal(log.times, [JANUARY + 4, JANUARY + 9])
    assert (log.names, log.arms.tolist(), log.rewards.tolist()) == (("blue", "green"), [0, 1], [1.0, 0.0])
    assert log.dated
    assert log.notes == ("Guessed: time from 'timestamp', arm from 'variant', reward from 'clicked'.",)
    assert (log.trials, log.propensities, log.delays) == (None, None, None)
    assert nsb.Log is Log


@pytest.mark.parametrize("role", LOG_COLUMNS)
def test_every_plain_name_is_guessed_however_it_is_written(role):
    for name in LOG_COLUMNS[role]:
        columns = {"time": [1, 2], "arm": ["a", "b"], "reward": [0, 1], role: [0.5, 1.0]}
        columns[name.upper()] = columns.pop(role)
        assert f"{role} from {name.upper()!r}" in Log.read(columns).notes[0]


@pytest.mark.parametrize(
    ("first", "second", "seconds", "dated"),
    [
        ("2026-01-01", "2026-01-02", (JANUARY, JANUARY + 86_400), True),
        ("2026-01-01T00:00:04", "2026-01-01T00:00:05", (JANUARY + 4, JANUARY + 5), True),
        ("2026-01-01 00:00:04.25", "2026-01-01 00:00:05", (JANUARY + 4.25, JANUARY + 5), True),
        ("2026-01-01T00:00:04Z", "2026-01-01T00:00:05Z", (JANUARY + 4, JANUARY + 5), True),
        ("2026-01-01T01:00:04+01:00", "2026-01-01T00:00:05+00:00", (JANUARY + 4, JANUARY + 5), True),
        (f"{JANUARY}", f"{JANUARY + 7}", (JANUARY, JANUARY + 7), True),
        (f"{JANUARY}250", f"{JANUARY + 7}000", (JANUARY + 0.25, JANUARY + 7), True),
        (f"{JANUARY}000000", f"{JANUARY + 7}000000", (JANUARY, JANUARY + 7), True),
        (f"{JANUARY}000000000", f"{JANUARY + 7}000000000", (JANUARY, JANUARY + 7), True),
        ("1", "2", (1, 2), False),
        ("0.5", "1e3", (0.5, 1_000), False),
    ],
)
def test_times_of_every_form(tmp_path, first, second, seconds, dated):
    log = read(tmp_path, f"time,arm,reward\n{first},a,1\n{second},b,0\n")
    np.testing.assert_allclose(log.times, seconds, rtol=0, atol=1e-6)
    assert log.dated == dated


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (("9.99", "14.50", "9.99"), ("9.99", "14.50")),
        (("10", "9", "9"), ("9", "10")),
        (("b", "B", "a"), ("B", "a", "b")),
        (("NA", "null", "10"), ("10", "NA", "null")),
        (("<b>&", "é, ü", "0"), ("0", "<b>&", "é, ü")),
    ],
)
def test_arms_keep_their_names_in_the_order_of_numbers_or_of_letters(tmp_path, given, names):
    rows = "".join(f'{row},"{name}",0\n' for row, name in enumerate(given))
    log = read(tmp_path, "t,arm,reward\n" + rows)
    assert log.names == names
    assert [log.names[arm] for arm in log.arms] == list(given)


def test_numbers_of_frames_are_arms_too():
    frame = pd.DataFrame({"time": [1, 2, 3], "price": [14.5, 9.99, 14.5], "revenue": [0.0, 9.99, 14.5]})
    assert Log.read(frame).names == ("9.99", "14.5")
    assert Log.read(frame.assign(price=[3, 20, 3])).names == ("3", "20")


def test_files_and_frames_of_all_kinds_give_the_same_log(tmp_path):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "date": pd.date_range("2026-01-01", periods=500, freq="7min"),
            "arm": rng.choice(["x", "y", "z"], 500),
            "reward": rng.normal(size=500).round(3),
            "propensity": rng.uniform(0.1, 1, 500).round(3),
            "delay": rng.integers(0, 9, 500),
        }
    )
    frame.to_csv(tmp_path / "log.csv", index=False)
    frame.to_csv(tmp_path / "semicolons.csv", index=False, sep=";")
    table = pa.Table.from_pandas(frame)
    pq.write_table(table, tmp_path / "log.parquet")
    pq.write_table(table.set_column(1, "arm", table["arm"].dictionary_encode()), tmp_path / "encoded.parquet")
    zoned = frame.assign(date=frame["date"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"))
    texts = frame.assign(date=frame["date"].astype(str))
    kinds = [tmp_path / name for name in ("log.csv", "semicolons.csv", "log.parquet", "encoded.parquet")]
    kinds += [frame, zoned, texts, table, frame.astype({"arm": "category"}), dict(frame.items())]
    logs = [Log.read(kind) for kind in kinds]
    for log in logs:
        np.testing.assert_array_equal(log.times, JANUARY + 420.0 * np.arange(500))
        assert [log.names[arm] for arm in log.arms] == frame["arm"].tolist()
        for ours, name in ((log.rewards, "reward"), (log.propensities, "propensity"), (log.delays, "delay")):
            np.testing.assert_array_equal(ours, frame[name])


def test_rows_are_sorted_by_time_and_keep_their_order_where_times_are_equal(tmp_path):
    log = read(tmp_path, "t,arm,reward\n2,a,1\n1,b,2\n2,b,3\n1,a,4\n2,a,1\n")
    assert log.rewards.tolist() == [2, 4, 1, 3, 1]
    assert "sorted" in log.notes[-1]


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        (
            "when,arm,reward\n1,a,1\n",
            {},
            r"the column of the time has no plain name among those of .*log.csv': 'when',",
        ),
        ("t,arm,clicked,revenue\n1,a,1,2\n", {}, "reward may be 'clicked' or 'revenue' .*name it with reward='…'"),
        ("t,arm,reward\n1,a,1\n", {"arm": "army"}, "has no column 'army' for the arm; did you mean 'arm'?"),
        ("t,arm,reward\n1,a,1\n", {"arm": "reward"}, "reward has no plain name"),
        ("t,arm,arm\n1,a,1\n", {"reward": "arm"}, "has no plain name|asked for twice"),
        ("t,arm,reward\n1,a,1\n\n2,b,\n", {}, "line 4: a reward is missing; write a number"),
        ("t,arm,reward\n1,a,1\n2,b,inf\n", {}, "line 3: a reward is infinite"),
        ("t,arm,reward\n1,a,1\n2,b,yes\n", {}, "line 3: a reward must be a number, got 'yes'"),
        ("t,arm,reward\n1,a,1\n2,,0\n", {}, "line 3: the arm is missing"),
        ("t,arm,reward\n1,a,1\n,b,0\n", {}, "line 3: a time is missing"),
        ("t,arm,reward\n2026-01-01,a,1\n2026-13-01,b,0\n", {}, "line 3: the time '2026-13-01' is no date such as"),
        (
            "t,arm,reward\n2026-01-01,a,1\n2026-01-01T00:00Z,b,0\n",
            {},
            "line 3: .* unlike others with or without a zone",
        ),
        ("t,arm,reward\n1,a,1\n1,b,0\n", {}, "holds 2 decisions at 1 time"),
        ("t,arm,reward\n1,a,1\n2,a,0\n", {}, "the column 'arm' of .* holds only a; a log has 2 to 1,000 arms"),
        (
            "t,arm,reward\n" + "".join(f"{k},{k},1\n" for k in range(1_200)),
            {},
            "holds 1,200; a log has 2 to 1,000 arms",
        ),
        ("t,arm,reward,propensity\n1,a,1,0.5\n2,b,1,0\n", {}, "line 3: the propensity must be above 0 and at most 1"),
        ("t,arm,reward,delay\n1,a,1,5\n2,b,1,-1\n", {}, "line 3: the delay must be seconds, at least 0, got -1"),
        ("t,arm,reward\n1,a\n", {}, "cannot be read as CSV: .*; mend that line"),
        ("t,arm,reward\n", {}, "holds"),
        ("", {}, "is empty; a log has a line with the names of its columns"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_line(tmp_path, text, columns, message):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, text, **columns)


def test_what_is_no_file_and_no_frame_is_said():
    with pytest.raises(ValueError, match=r"a log is a \.csv or a \.parquet file, got 'log.xlsx'"):
        Log.read("log.xlsx")
    with pytest.raises(TypeError, match="a frame with columns, got 3"):
        Log.read(3)
    with pytest.raises(ValueError, match="row 2 of the frame: the arm is missing"):
        Log.read({"t": [1, 2], "arm": ["a", None], "reward": [1, 0]})


COUNTS = np.array([[3, 5], [4, 0], [0, 7]])
TRIALS = np.array([[10, 20], [30, 0], [50, 60]])


def test_a_table_of_counts_is_a_log_of_rows_with_trials():
    log = Log.from_counts(COUNTS, TRIALS)
    assert log.times.tolist() == [1, 1, 2, 3, 3]  # without the cell that nobody tried
    assert log.arms.tolist() == [0, 1, 0, 0, 1]
    assert log.trials.tolist() == [10, 20, 30, 50, 60]
    np.testing.assert_allclose(log.rewards * log.trials, [3, 5, 4, 0, 7])
    assert (log.names, log.decisions, log.binary) == (("arm 1", "arm 2"), 170, True)


def test_counts_of_files_frames_and_arrays_are_alike(tmp_path):
    wide = pd.DataFrame(COUNTS, columns=["9.99", "blue"]).assign(date=pd.date_range("2026-01-01", periods=3))
    wide = wide[["date", "9.99", "blue"]]
    trials = wide.assign(**{"9.99": TRIALS[:, 0], "blue": TRIALS[:, 1]})
    wide.to_csv(tmp_path / "sums.csv", index=False)
    trials[["blue", "9.99"]].to_parquet(tmp_path / "trials.parquet")  # in another order, and without times
    at = [JANUARY, JANUARY + 86_400, JANUARY + 2 * 86_400]
    for log in (
        Log.from_counts(wide, trials),
        Log.from_counts(tmp_path / "sums.csv", str(tmp_path / "trials.parquet")),
        Log.from_counts(COUNTS[::-1], TRIALS[::-1], times=at[::-1], names=["9.99", "blue"]),
    ):
        assert log.names == ("9.99", "blue")
        assert log.times.tolist() == [at[0], at[0], at[1], at[2], at[2]]
        np.testing.assert_allclose(log.rewards * log.trials, [3, 5, 4, 0, 7])


@pytest.mark.parametrize(
    ("successes", "trials", "extra", "message"),
    [
        (COUNTS, 0, {}, "row 1, arm 1: 3 successes in 0 trials"),
        (COUNTS, TRIALS + 0.5, {}, "trials are whole numbers"),
        (COUNTS, -TRIALS, {}, "row 1, arm 1"),
        (COUNTS * np.nan, 5, {}, "row 1, arm 1: nan successes"),
        (COUNTS, TRIALS[:2], {}, r"successes have shape \(3, 2\), trials \(2, 2\)"),
        (COUNTS[0], 5, {}, "must be a table of at least 2 times and 2 arms"),
        (COUNTS, 9, {"names": ["a", "a"]}, "different names"),
        (COUNTS, 9, {"times": [1, 2]}, "as many times"),
        (pd.DataFrame(COUNTS, columns=["a", "b"]), pd.DataFrame(TRIALS, columns=["a", "c"]), {}, "name them alike"),
    ],
)
def test_counts_that_cannot_be_are_said(successes, trials, extra, message):
    with pytest.raises(ValueError, match=message):
        Log.from_counts(successes, trials, **extra)


def test_a_log_folds_by_the_clock():
    """Thursday, 1 January 2026, 03:30; Friday 02:00; Monday, 5 January 2026, 00:30."""
    at = JANUARY + np.array([3.5 * 3_600, 26 * 3_600, 4 * 86_400 + 1_800])
    log = Log(at, np.array([0, 1, 0]), np.array([1.0, 2.0, 3.0]), ("a", "b"), dated=True)
    day, week = log.folded("day"), log.folded("week")
    assert (day.times.tolist(), day.rewards.tolist(), day.dated) == ([0.5, 2.0, 3.5], [3.0, 2.0, 1.0], False)
    np.testing.assert_allclose(week.times, [0.5 / 24, 3 + 3.5 / 24, 4 + 2 / 24])
    with pytest.raises(ValueError, match="unknown period 'year'"):
        log.folded("year")
    with pytest.raises(ValueError, match="only a log with dates"):
        day.folded("day")


def test_reading_leaves_frames_as_they_are():
    frame = pd.read_csv(io.StringIO(SMALL))
    before = frame.copy()
    Log.read(frame)
    pd.testing.assert_frame_equal(frame, before)


def test_binary_is_zero_or_one_however_small_rewards_are():
    def log(rewards, trials=None):
        return Log(np.arange(2.0), np.arange(2), np.array(rewards), ("a", "b"), trials)

    assert log([0.0, 1.0]).binary
    assert log([3 / 7, 1 / 3], np.array([7, 3])).binary
    for rewards, trials in (([0.0, 1e-7], None), ([0.01, 500.0], None), ([0.5, 1.0], None), ([0.5, 1.0], [3, 3])):
        assert not log(rewards, trials and np.array(trials)).binary


def test_durations_of_frames_are_seconds():
    frame = pd.DataFrame({"time": [1, 2], "arm": ["a", "b"], "reward": [0, 1], "delay": pd.to_timedelta([3, 90], "s")})
    for unit in ("s", "ms", "us", "ns"):
        assert Log.read(frame.astype({"delay": f"timedelta64[{unit}]"})).delays.tolist() == [3, 90]
    assert Log.read(pa.Table.from_pandas(frame)).delays.tolist() == [3, 90]


def test_arms_of_one_name_are_one_arm_and_missing_ones_are_found():
    assert Log.read({"t": [1, 2, 3], "arm": [0.3, 0.1 + 0.2, 1], "reward": [0, 1, 1]}).names == ("0.3", "1")
    for missing in (None, float("nan"), pd.NA, " "):
        with pytest.raises(ValueError, match="row 2 of the frame: the arm is missing"):
            Log.read({"t": [1, 2, 3], "arm": np.array(["a", missing, "b"], object), "reward": [0, 1, 1]})


def test_names_with_lines_in_them_are_read_in_files_of_several_megabytes(tmp_path):
    arm = "x" * 60
    rows = "".join(f'{row};"{arm}\n{row % 3}";1\n' for row in range(50_000))
    log = read(tmp_path, "time;arm;reward\n" + rows)
    assert log.names == tuple(f"{arm}\n{number}" for number in range(3))
    np.testing.assert_array_equal(log.arms, np.arange(50_000) % 3)
    with pytest.raises(ValueError, match="line 5: a reward is missing"):
        read(tmp_path, 'time;arm;reward\n1;"a\nb";1\n2;c;\n'.replace("2;c", '2;"c\nd"'))


def test_trials_of_each_time_may_be_a_column_and_have_the_times_of_the_successes():
    wide = pd.DataFrame(COUNTS, columns=["a", "b"], dtype=float)
    assert Log.from_counts(wide, pd.DataFrame({"views": [10, 20, 30]})).trials.tolist() == [10, 10, 20, 20, 30, 30]
    wide.insert(0, "date", pd.date_range("2026-01-01", periods=3))
    with pytest.raises(ValueError, match="the times of successes and of trials differ"):
        Log.from_counts(wide, wide.assign(a=90, b=90)[::-1])
