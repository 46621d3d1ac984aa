"""The door of every command: one line gets out, whatever happens inside and whatever the terminal can show."""

import argparse
import io
import os
import subprocess
import sys
from contextlib import suppress

import gymnasium as gym
import numba
import numpy as np
import pyarrow as pa
import pytest

from ns_mab_gym.agents.core.arguments import escaped
from ns_mab_gym.cli import entry, parser

from .conftest import ROOT

PARSER = parser.Parser("me", "Does it.", ("",))


def raising(error):
    def work(options):
        yield from ()
        raise error

    return work


FORESEEN = [
    ValueError("no such window"), TypeError("no such thing"), FileNotFoundError(2, "No such file", "a.csv"),
    PermissionError("no"), ImportError("no such extra"), gym.error.NameNotFound("no such id"), MemoryError(),
    MemoryError("Unable to allocate 160. GiB"), pa.ArrowInvalid("no such column"),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "x"), np.linalg.LinAlgError("singular"),
]  # fmt: skip
UNFORESEEN = [
    ZeroDivisionError("division by zero"), KeyError("mode"), IndexError(), AttributeError("no"), AssertionError(),
    RecursionError("too deep"), OverflowError("too large"), RuntimeError("two\nlines"), StopIteration(), EOFError(),
    NotImplementedError(), numba.errors.TypingError("cannot\ntype"), SystemExit(), SystemExit(3), SystemExit("bye"),
    UserWarning("look"), Exception(), FloatingPointError("\x1b[31mred"), ArithmeticError("a\0b"),
]  # fmt: skip


@pytest.mark.parametrize("error", [*FORESEEN, *UNFORESEEN], ids=lambda error: f"{type(error).__name__}-{error}"[:40])
def test_whatever_is_raised_is_told_in_one_line(error, capsys):
    code = 2 if error in FORESEEN else 1
    assert parser.closing(PARSER, [], raising(error)) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("me: error: ")
    assert said.err.count("\n") == 1
    assert len(said.err) > len("me: error: \n") + 1
    assert said.err.strip().isprintable()
    assert ("--debug shows the traceback" in said.err) == (code == 1)


def test_what_nobody_foresaw_names_its_kind_and_its_place(capsys):
    assert parser.closing(PARSER, [], lambda options: [escaped(5)]) == 2
    capsys.readouterr()
    assert parser.closing(PARSER, [], lambda options: [parser.path(5)]) == 1  # type: ignore[arg-type]
    said = capsys.readouterr().err
    assert "AttributeError in ns_mab_gym.cli.parser, line " in said
    assert "'int' object has no attribute 'strip'; --debug shows the traceback" in said


@pytest.mark.parametrize("error", [ValueError("no such window"), ZeroDivisionError("by zero"), SystemExit("bye")])
def test_debug_shows_the_traceback_before_the_line(error, capsys):
    plain = parser.closing(PARSER, [], raising(error))
    line = capsys.readouterr().err
    for arguments in (["--debug"], ["--deb"]):
        assert parser.closing(PARSER, arguments, raising(error)) == plain
        said = capsys.readouterr().err
        assert said.startswith("Traceback (most recent call last):")
        assert "in work" in said
        assert said.endswith(line)


def test_a_module_that_ends_the_process_does_not(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for code in ("0", "", "'bye'"):
        (tmp_path / "leaving.py").write_text(f"import sys\nsys.exit({code})\n")
        study = "evaluate --env abrupt:horizon=60 --agents leaving:Mine"
        for words in ("agents leaving:Mine", "worlds leaving:Mine", "plot leaving:Mine", "plot leaving:Mine-v0", study):
            sys.modules.pop("leaving", None)
            assert entry.main(words.split()) == 2, words
            said = capsys.readouterr().err
            assert "leaving" in said
            assert "SystemExit" in said
            assert said.count("\n") == 1


WRITING = {
    "paper": ["--horizon", "100", "--paper-only"],
    "evaluate": ["--env", "abrupt:horizon=60", "--agents", "ts"],
    "leaderboard": ["--worlds", "Abrupt", "--quick"],
    "diagnose": ["abrupt:horizon=60"],
    "plot": ["abrupt:horizon=60"],
}


@pytest.mark.parametrize("command", WRITING)
def test_a_place_for_results_that_cannot_be_one(command, tmp_path, monkeypatch, one_error):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("a file is in the way")
    folders = ("", " ", "\0", "taken", "taken/deeper", "x" * 300, "/proc/nowhere/results")
    pictures = ("", "\0.png", "taken/a.png", f"{'x' * 300}.png", "/proc/nowhere/a.png", "a.gif", ".png", "a")
    for path in pictures if command == "plot" else folders:
        assert entry.main([command, *WRITING[command], "--out", path]) == 2, path
        assert len(one_error(f"ns-mab-gym {command}")) < 1_000
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


NO_NUMBERS = ["", "x", "nan", "inf", "-inf", "1e400", "-2", "0.0x", "١٢x", "\0", "[1]", "--", "1,5"]
NO_INTEGERS = ["1.5", "1e-5"]
TOO_LARGE = ["9" * 400, "9" * 5_000, str(2**128)]


@pytest.mark.parametrize(
    ("read", "refused"),
    [
        (parser.positive, [*NO_NUMBERS, *NO_INTEGERS, *TOO_LARGE, "0", "-0", "-1", str(2**63)]),
        (parser.natural, [*NO_NUMBERS, *NO_INTEGERS, *TOO_LARGE, "-1"]),
        (parser.jobs, [*NO_NUMBERS, *NO_INTEGERS, "9" * 5_000, "0"]),
        (parser.threads, [*NO_NUMBERS, *NO_INTEGERS, *TOO_LARGE, "0", "-1"]),
        (parser.seconds, [*NO_NUMBERS, "0", "-0.0", "-1", "9" * 400]),
    ],
)
def test_options_take_nothing_but_numbers_that_make_sense(read, refused):
    for text in refused:
        with pytest.raises(argparse.ArgumentTypeError, match=r"^must be ") as caught:
            read(text)
        assert len(str(caught.value)) < 200
    assert read("1") == read("1e0") == 1
    assert parser.natural(str(2**128 - 1)) == 2**128 - 1  # as NumPy proposes them
    assert parser.jobs("1" + "0" * 9) == parser.threads("5000") == 1_024


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "ascii:strict", "utf-8"])
def test_letters_that_a_terminal_lacks_are_escaped(encoding, tmp_path):
    environment = os.environ | {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    code = (
        "import sys; from ns_mab_gym.cli import parser\n"
        "def work(options):\n"
        "    yield 'γ → Trovò 天気'\n"
        "    raise ValueError('σ 天気')\n"
        "code = parser.closing(parser.Parser('me', 'γ.', ()), [], work); print(sys.stdout.errors); sys.exit(code)"
    )
    ended = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, cwd=ROOT, timeout=120)
    assert ended.returncode == 2, ended.stderr
    name = encoding.partition(":")[0]
    line, errors = ended.stdout.decode(name).splitlines()
    assert line == "γ → Trovò 天気".encode(name, "backslashreplace").decode(name)
    assert errors == "strict"  # the streams are as they were
    assert ended.stderr.decode(name).strip() == "me: error: σ 天気".encode(name, "backslashreplace").decode(name)


@pytest.mark.parametrize("words", [["--help"], ["evaluate", "--help"], ["cite"], ["Ω"]])
def test_help_in_ascii(words, monkeypatch):
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="ascii") for _ in range(2)]
    monkeypatch.setattr(sys, "stdout", streams[0])
    monkeypatch.setattr(sys, "stderr", streams[1])
    with suppress(parser.HelpShown):
        entry.main(words)
    for stream in streams:
        stream.flush()
    assert b"".join(stream.buffer.getvalue() for stream in streams).decode("ascii")
