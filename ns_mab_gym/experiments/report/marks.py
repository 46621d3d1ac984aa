"""How the page writes a verdict: in a word for tables, in a few words, in full, and the class that colours it."""

from __future__ import annotations

from typing import NamedTuple

from ..claims import Verdict

__all__ = ["MARKS", "Mark"]


class Mark(NamedTuple):
    """A verdict as the page shows it.

    Attributes:
        kind: the CSS class that colours it.
        sign: in a word, for the table at a glance.
        short: in two or three words.
        full: in full.
        singular: what one claim does, after the number.
        plural: what several claims do, or none.
    """

    kind: str
    sign: str
    short: str
    full: str
    singular: str
    plural: str


MARKS = {
    Verdict.HOLDS: Mark("holds", "holds", "holds", Verdict.HOLDS.value, "holds", "hold"),
    Verdict.FAILS: Mark("fails", "no", "does not hold", Verdict.FAILS.value, "does not hold", "do not hold"),
    Verdict.UNDECIDED: Mark("undecided", "open", "undecided", Verdict.UNDECIDED.value, "is open", "are open"),
    Verdict.DEPENDS: Mark(
        "depends", "depends", "depends", Verdict.DEPENDS.value, "depends on the reading", "depend on the reading"
    ),
}
