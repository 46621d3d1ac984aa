"""Logs from CSV and Parquet files, frames and tables of counts: columns found, dates read, rows checked."""

from __future__ import annotations

import contextlib
import csv
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time
from os import PathLike, fspath
from typing import Any

import numpy as np
import numpy.typing as npt

from ..agents.core.arguments import nearest, shown
from ..means import Floats, Ints
from ..worlds.table import LOG_COLUMNS, MISSING
from .log import Log

Values = npt.NDArray[Any]
Place = Callable[[int], str]  # from the number of a row to the words for it
NEEDED = ("time", "arm", "reward")
MOST_ARMS = 1_000
SEPARATORS = ",;\t|"
# Numbers that are taken for seconds since 1970 lie between 2001 and 2096; the same of finer units.
EPOCH = 1e9, 4e9
UNITS = {"seconds": 1.0, "milliseconds": 1e3, "microseconds": 1e6, "nanoseconds": 1e9}


def read_log(source: Any, said: Mapping[str, str | None]) -> Log:
    """Return the log in a file or a frame; ``said`` has the names of columns by role, None where to guess."""
    path = fspath(source) if isinstance(source, str | PathLike) else None
    found = _header(path) if path is not None else _columns_of(source)
    called = "the frame" if path is None else repr(path)
    roles, notes = _roles(found, said, called)
    columns = {role: source[name] for role, name in roles.items()} if path is None else _file_columns(path, roles)
    place = _places(path)
    times, dated, about = _times(columns["time"], place)
    arms, names = _arms(columns["arm"], place, f"the column {roles['arm']!r} of {called}")
    rewards = _numbers(columns["reward"], "a reward", place)
    parts = {role: _numbers(columns[role], f"a {role}", place) for role in ("propensity", "delay") if role in roles}
    for role, least, most in (("propensity", np.nextafter(0, 1), 1.0), ("delay", 0.0, np.inf)):
        if role in parts and len(wrong := np.flatnonzero((parts[role] < least) | (parts[role] > most))):
            allowed = "above 0 and at most 1" if role == "propensity" else "seconds, at least 0"
            raise ValueError(f"{place(wrong[0])}: the {role} must be {allowed}, got {parts[role][wrong[0]]:g}")
    if len(times) < 2 or times.min() == times.max():
        raise ValueError(f"{called} holds {len(times)} decisions at {len(np.unique(times))} time; a log needs several")
    notes += about
    if np.any(times[1:] < times[:-1]):
        notes.append("The rows were not in the order of their times and have been sorted.")
        order = np.argsort(times, kind="stable")
        times, arms, rewards = times[order], arms[order], rewards[order]
        parts = {role: values[order] for role, values in parts.items()}
    return Log(times, arms, rewards, names, None, parts.get("propensity"), parts.get("delay"), dated, tuple(notes))


def _header(path: str) -> list[str]:
    """The names of the columns of a file."""
    kind = os.path.splitext(path)[1].lower()
    if kind not in (".csv", ".parquet"):
        raise ValueError(f"a log is a .csv or a .parquet file, got {path!r}; save it as one of these")
    if kind == ".parquet":
        pa = _arrow()
        try:
            return list(pa.parquet.read_schema(path).names)
        except ValueError as error:
            raise ValueError(f"{path!r} cannot be read as Parquet: {_why(error)}; save it again") from None
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            found = next(csv.reader(file, delimiter=_separator(path)), [])
    except UnicodeDecodeError:
        raise ValueError(f"{path!r} is no UTF-8 text; save it as CSV in UTF-8") from None
    if not found:
        raise ValueError(f"{path!r} is empty; a log has a line with the names of its columns, and one line a decision")
    return found


def _separator(path: str) -> str:
    """The separator of a CSV file: the one that its first line has most of."""
    with open(path, encoding="utf-8-sig") as file:
        return max(SEPARATORS, key=file.readline().count)


def _arrow() -> Any:
    """Pyarrow, with its readers of files."""
    try:
        import pyarrow as pa
        import pyarrow.csv
        import pyarrow.parquet
    except ImportError:
        raise ImportError("reading a log from a file needs pyarrow: pip install 'ns-mab-gym[logs]'") from None
    return pa


def _columns_of(frame: Any) -> list[str]:
    """The names of the columns of a frame of pandas, polars or pyarrow, or of a dictionary."""
    names = getattr(frame, "column_names", None) or getattr(frame, "columns", None)
    if names is None and isinstance(frame, Mapping):
        names = list(frame)
    if names is None:
        raise TypeError(f"a log is read from a .csv or .parquet file or a frame with columns, got {shown(frame)}")
    return list(names)


def _roles(found: Sequence[str], said: Mapping[str, str | None], called: str) -> tuple[dict[str, str], list[str]]:
    """The column of each role, as said or by its plain name, and a sentence with what was guessed."""
    listed = ", ".join(map(repr, found[:20])) + (", …" if len(found) > 20 else "")
    roles, guessed = {}, []
    for role, plain in LOG_COLUMNS.items():
        name = said.get(role)
        if name is not None and name not in found:
            raise ValueError(f"{called} has no column {name!r} for the {role}; {nearest(name, list(map(str, found)))}")
        fits = [name] if name is not None else [each for each in found if str(each).strip().casefold() in plain]
        fits = [each for each in fits if name is not None or each not in said.values()]
        if len(fits) == 1:
            roles[role] = fits[0]
            guessed += [f"{role} from {fits[0]!r}"] * (name is None)
        elif role in NEEDED or fits:
            several = f"may be {' or '.join(map(repr, fits))}" if fits else "has no plain name"
            raise ValueError(
                f"the column of the {role} {several} among those of {called}: {listed}; "
                f"name it with {role}='…', on the command line --{role} …"
                + ("" if fits else "; a table with one column per arm needs trials: Log.from_counts, --trials")
            )
    if twice := [name for name in roles.values() if list(found).count(name) > 1 or [*roles.values()].count(name) > 1]:
        raise ValueError(
            f"the column {twice[0]!r} of {called} is there or asked for twice; give each a name of its own"
        )
    return roles, [f"Guessed: {', '.join(guessed)}."] if guessed else []


def _file_columns(path: str, roles: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The columns of a file by role, or all of them by name."""
    wanted = {name: name for name in _header(path)} if roles is None else roles
    pa = _arrow()
    if path.lower().endswith(".parquet"):
        table = pa.parquet.read_table(path, columns=list(wanted.values()))
        return {role: table[name] for role, name in wanted.items()}
    # Arms as they are written: 14.50 is no 14.5.
    types = {} if roles is None else {roles["arm"]: pa.dictionary(pa.int32(), pa.string())}
    convert = pa.csv.ConvertOptions(include_columns=list(wanted.values()), column_types=types)
    parse = pa.csv.ParseOptions(delimiter=_separator(path), newlines_in_values=True)
    try:
        table = pa.csv.read_csv(path, parse_options=parse, convert_options=convert)
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        raise ValueError(f"{path!r} cannot be read as CSV: {_why(error)}; mend that line") from None
    return {role: table[name] for role, name in wanted.items()}


def _why(error: Exception) -> str:
    """The message of a library in one line."""
    return " ".join(str(error).split())[:200].rstrip(" .;")


def _places(path: str | None) -> Place:
    """The words for a row of a file, or of a frame; of CSV, its line."""

    def place(row: int) -> str:
        if path is None:
            return f"row {row + 1} of the frame"
        if not path.lower().endswith(".csv"):
            return f"{path!r}, row {row + 1}"
        with open(path, encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file, delimiter=_separator(path))
            for number, _ in enumerate(filter(None, rows)):
                if number == row + 1:
                    break
            return f"{path!r}, line {rows.line_num}"

    return place


def _plain(column: Any) -> Values:
    """A column of any library as an array: dates and numbers as such, durations in seconds, all else as objects."""
    if "datetime" in (kind := str(getattr(column, "dtype", "")).lower()) or kind.startswith("date"):
        return np.asarray(column, dtype="datetime64[us]")  # in UTC, where pandas has a zone
    values = column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)
    if values.dtype.kind == "m":
        return np.asarray(values / np.timedelta64(1, "s"))
    return values if values.dtype.kind in "biufM" else values.astype(object)


def _numbers(column: Any, what: str, place: Place) -> Floats:
    """Finite numbers."""
    values = _plain(column)
    if values.dtype.kind == "M":
        raise ValueError(f"{place(0)}: {what} must be a number, got the date {values[0]}")
    if values.dtype.kind == "O":
        numbers = np.empty(len(values))
        for row, cell in enumerate(values):
            try:
                numbers[row] = np.nan if cell is None else float(cell)
            except (TypeError, ValueError):
                raise ValueError(f"{place(row)}: {what} must be a number, got {shown(cell)}") from None
    else:
        numbers = values.astype(np.float64)
    if len(wrong := np.flatnonzero(~np.isfinite(numbers))):
        lacks = f"{what} is missing" if np.isnan(numbers[wrong[0]]) else f"{what} is infinite"
        raise ValueError(f"{place(wrong[0])}: {lacks}; write a number (0 for nothing), or leave the row out")
    return numbers


def _times(column: Any, place: Place) -> tuple[Floats, bool, list[str]]:
    """Seconds, whether they are dates, and what was guessed."""
    values = _plain(column)
    if values.dtype.kind == "O" and any(isinstance(cell, str | date) for cell in values[:1]):
        values = _dates(values, place)
    if values.dtype.kind == "M":
        if len(wrong := np.flatnonzero(np.isnat(values))):
            raise ValueError(f"{place(wrong[0])}: the time is missing; write it, or leave the row out")
        return values.astype("datetime64[us]").astype(np.int64) / 1e6, True, []
    numbers = _numbers(values, "a time", place)
    for unit, of_second in UNITS.items():
        if len(numbers) and numbers.min() >= EPOCH[0] * of_second and numbers.max() <= EPOCH[1] * of_second:
            return numbers / of_second, True, [f"Times were read as {unit} since 1970."]
    return numbers, False, []


def _dates(values: Values, place: Place) -> Values:
    """Dates from ISO texts or objects of Python, all with a zone or none."""
    seconds, zoned = np.empty(len(values), "datetime64[us]"), None
    for row, cell in enumerate(values):
        try:
            at = datetime.fromisoformat(cell.strip()) if isinstance(cell, str) else cell
            at = at if isinstance(at, datetime) else datetime.combine(at, time())
        except (TypeError, ValueError):
            raise ValueError(
                f"{place(row)}: the time {shown(cell)} is no date such as 2026-01-31 or 2026-01-31T09:30:00+01:00"
            ) from None
        if zoned is not None and zoned != (at.tzinfo is not None):
            raise ValueError(f"{place(row)}: the time {shown(cell)} is unlike others with or without a zone")
        zoned = at.tzinfo is not None
        seconds[row] = at.astimezone(UTC).replace(tzinfo=None) if zoned else at
    return seconds


def _arms(column: Any, place: Place, called: str) -> tuple[Ints, tuple[str, ...]]:
    """The number of the arm of each row, and the names of the arms in their order."""
    if hasattr(column, "combine_chunks") and not str(column.type).startswith(("int", "uint", "float", "double")):
        column = column if "dictionary" in str(column.type) else column.dictionary_encode()
        encoded = column.unify_dictionaries().combine_chunks()
        encoded = encoded.chunk(0) if hasattr(encoded, "chunk") else encoded
        codes, kinds = encoded.indices.fill_null(-1).to_numpy(), encoded.dictionary.to_pylist()
    else:
        numbers: dict[Any, int] = {}
        values = _plain(column).tolist()
        codes = np.fromiter((numbers.setdefault(value, len(numbers)) for value in values), np.intp, len(values))
        kinds = list(numbers)
    texts = [*map(_name, kinds), ""]  # the last for those that lack
    played = np.unique(codes).tolist()
    if blank := [code for code in played if not texts[code].strip()]:
        row = int(np.isin(codes, blank).argmax())
        raise ValueError(f"{place(row)}: the arm is missing; name it, or leave the row out")
    names = sorted({texts[code] for code in played})
    if not 2 <= len(names) <= MOST_ARMS:
        few = f"only {', '.join(names) or 'no arm'}" if len(names) < 2 else f"{len(names):,}"
        raise ValueError(f"{called} holds {few}; a log has 2 to {MOST_ARMS:,} arms, name their column")
    with contextlib.suppress(ValueError):  # of names that are no numbers
        names = sorted(names, key=lambda name: (float(name), name))
    order = {name: arm for arm, name in enumerate(names)}
    return np.array([order.get(text, -1) for text in texts], np.intp)[codes], tuple(names)


def _name(arm: Any) -> str:
    """The name of an arm; blank if it is missing."""
    if isinstance(arm, str):
        return arm
    text = f"{arm:.15g}" if isinstance(arm, float) else str(arm)
    return "" if text.lower() in MISSING else text


def read_counts(successes: Any, trials: Any, times: Any, names: Any) -> Log:
    """Return the log of a table of successes and one of trials; see :meth:`Log.from_counts`."""
    held_times, held_names, sums = _wide(successes, "successes")
    trial_times, trial_names, counts = _wide(trials, "trials")
    if held_names and trial_names and len(trial_names) > 1 and held_names != trial_names:
        if sorted(held_names) != sorted(trial_names):
            raise ValueError(f"the arms of successes are {held_names}, those of trials {trial_names}; name them alike")
        counts = counts[:, [trial_names.index(name) for name in held_names]]
    if sums.ndim != 2 or sums.shape[1] < 2 or len(sums) < 2:
        raise ValueError(f"successes must be a table of at least 2 times and 2 arms, got shape {sums.shape}")
    rows, n_arms = sums.shape
    counts = counts[:, None] if counts.shape == (rows,) else counts
    if counts.shape not in ((), (1, 1), (rows, 1), sums.shape):
        raise ValueError(f"successes have shape {sums.shape}, trials {counts.shape}; give one number or the same shape")
    counts = np.broadcast_to(counts, sums.shape)
    wrong = ~np.isfinite(sums) & (counts != 0) | ~(counts >= 0) | (counts != np.floor(counts))
    wrong |= (counts == 0) & (sums != 0) & np.isfinite(sums)
    if np.any(wrong):
        row, arm = np.argwhere(wrong)[0]
        raise ValueError(
            f"row {row + 1}, arm {arm + 1}: {sums[row, arm]:g} successes in {counts[row, arm]:g} trials; trials are "
            f"whole numbers of at least 0, and where there are none there is no success"
        )
    labels = tuple(map(str, names if names is not None else held_names or [f"arm {k + 1}" for k in range(n_arms)]))
    if held_times is not None and trial_times is not None:
        one, other = (_times(each, lambda row: f"row {row + 1}")[0] for each in (held_times, trial_times))
        if not np.array_equal(one, other):
            raise ValueError("the times of successes and of trials differ; give both the same rows in the same order")
    at = held_times if times is None else times
    seconds, dated, notes = _times(np.arange(1.0, rows + 1) if at is None else at, lambda row: f"row {row + 1}")
    if len(labels) != n_arms or len(set(labels)) != n_arms or len(seconds) != rows:
        raise ValueError(f"{rows} rows and {n_arms} arms need as many times and different names, got {shown(labels)}")
    order, kept = np.argsort(seconds, kind="stable"), counts > 0
    every, which = np.nonzero(kept[order])
    every = order[every]
    return Log(
        seconds[every], which.astype(np.intp), sums[every, which] / counts[every, which], labels,
        counts[every, which].astype(np.intp), dated=dated, notes=tuple(notes),
    )  # fmt: skip


def numbers_of(source: Any, what: str) -> Floats:
    """Return the numbers of a wide table, or one number."""
    return _wide(source, what)[2]


def _wide(source: Any, what: str) -> tuple[Any, list[str] | None, Floats]:
    """The times and the names of the arms in a wide table, if it has any, and its numbers."""
    columns: Mapping[Any, Any] | None = None
    if isinstance(source, str | PathLike):
        columns = _file_columns(fspath(source))
    elif hasattr(source, "columns") or isinstance(source, Mapping):
        columns = {name: source[name] for name in _columns_of(source)}
    if columns is None:
        return None, None, np.asarray(source, dtype=np.float64)
    first, *others = columns
    timed = str(first).strip().casefold() in LOG_COLUMNS["time"] or _plain(columns[first]).dtype.kind in "OM"
    arms = others if timed else [first, *others]
    numbers = [_numbers(columns[name], f"a number of {what}", lambda row: f"row {row + 1}") for name in arms]
    return columns[first] if timed else None, list(map(str, arms)), np.column_stack(numbers)
