"""What hostile guests bring to descriptions and command lines, and how an answer is judged."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from .fuzzing import is_own

# Raised elsewhere, in words that a user understands; doors say what to do when memory runs out.
TELLING = (OSError, ImportError, gym.error.Error, MemoryError)

# Texts that people, spreadsheets, terminals, file systems and readers of XML, HTML and JSON can take amiss.
LABELS = [
    "=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(A1)", "'=1", "<script>alert(1)</script>", "]]>", "<!--", "-->", "--",
    "&amp;", "&", '"', "'", "\\", "\\u0000", "$\\frac{$", "$", "_", "%s %d {0} {x}", "{{ 7*7 }}", "{% raw %}", "été",
    "e\u0301te\u0301", "天気", "עברית", "👩‍👩‍👧", "CON", "aux.txt", "a/b", "a:b", "a|b", "../../x", "~", ".hidden",
    "-rf", "5", "true", "nan", "null", "NaN", "Shop", "shop", "x" * 300, "店" * 100, "</svg>", "a\u200bb", "0",
    "a  b", " lead", "trail ",
]  # fmt: skip
UNSHOWN = [
    "\0", "a\x00b", "bell\x07", "\x1b[31mred", "tab\tbed", "line\nfeed", "\r", "\x7f", "\x85", "\u2028", "a\u202egnp",
    "\u2066x", "\ud800", "\udcff.csv", "\ufffe", "\uffff",
]  # fmt: skip
# Values as TOML writes them; the last ones are no TOML.
VALUES = [
    "nan", "-nan", "inf", "-inf", "1e308", "1e400", "-1e-320", "-0.0", "0", "-1", "1", "2", "50",
    "9223372036854775807", "9223372036854775808", "1" + "0" * 400, "1" + "0" * 5_000, "0x" + "f" * 5_000, "0xff",
    "true", "false", '""', '" "', '"a"', '"é"', '"\\u0000"', '"\\u202E"', '"\\t"', '"ts"', '"=1+1"', "[]", "[1]",
    "[1, 2]", "[0.1, 0.9]", '["a", 1]', "[nan]", "[[0.1, 0.9]]", "{}", "{a = 1}", '{name = "gaussian", sigma = 1.0}',
    "{a = {b = {c = [1]}}}", "1979-05-27", "07:32:00", "1979-05-27T07:32:00Z", "{sweep = [10, 20]}", "{sweep = []}",
    "{sweep = 5}", "{sweep = [1, nan]}", "{sweep = [{a = 1}, [2]]}", "{sweep = [10, 20], more = 1}",
    "[" * 30 + "]" * 30, "[" * 2_000 + "]" * 2_000, '"' + "x" * 2_000 + '"', '"' + "x" * 20_000 + '"',
    "'''\nseveral\nlines'''", "1_000", "+5", "1.5", "None", "", "=", '"open', "[1,", "{a = 1", "2024-99-99",
]  # fmt: skip
# Texts as they are typed.
TYPED = [
    "", " ", ":", "::", "=", "a=", "=a", ":a=1", "-", "--", "-1", "0", "-0", "-0.0", "1e400", "nan", "inf", "-inf",
    "1e308", "2.5", "1e3", "9" * 400, "9" * 5_000, "1" + "0" * 20, "0x10", "1_0", "true", "None", "[", "]",
    "[" * 50 + "]" * 50, "|", "a|b", ",", "é", "天", "x" * 300, "x" * 5_000, "\0", "a\nb", "\udcff", "\u202e", "/",
    "/dev/null", "/dev/null/x", "/proc/x", ".", "..", "~", "a/../b", "%s", "{}", "$HOME", "sb3", "sb3:path=",
    "sb3:path=x.zip", "os:path", "os:getcwd", "this:x", "CartPole-v1", "NSBandit-v0", "NSBandit-Abrupt-v9",
    "ns_mab_gym:NSBandit-Abrupt-v0:horizon=60", "a.csv", ".csv", "x.npz", "\0.csv", "all", "ts", "ts:label=5",
    "ts:label=", "ts:window=5", "sw-ucb:window=nan", "sw-ucb:window=1e400", "ucb1:xi=-1", "sw-ucb:window=[1,2]",
    "sw-ucb:window=5|9", "piecewise", "piecewise:horizon=0", "piecewise:n_arms=nan", "piecewise:horizon=50,n_arms=1",
    "stationary:mu=0.1", "stationary:mu=", "stationary:mu=[[1]],horizon=9", "table", "stationary:mu=nan,horizon=9",
    "stationary:mu=0.1,1e308,horizon=9", "stationary:reward=x", "ts:knowledge=1", "ts:name=x", "piecewise:world=ts",
    "piecewise:reward=gaussian,scale=1e308,horizon=50", "table:path=x", "table:rows=[[1,0],[0,1]]",
]  # fmt: skip


def one_of(rng: np.random.Generator, several: list[Any]) -> Any:
    """One of them."""
    return several[int(rng.integers(len(several)))]


def foreign(error: BaseException | None) -> BaseException | None:
    """The first of an error and its causes that neither the house raised in words, nor tells a user what is wrong."""
    while error is not None:
        if not is_own(error) and not isinstance(error, TELLING):
            return error
        error = error.__cause__
    return None
