"""Durations as people write them, "2h" or "7d", in seconds and in decisions."""

from __future__ import annotations

import re

from ..agents.core.arguments import positive, positive_int, shown

UNITS = {"s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}
YEAR = 365.25 * UNITS["d"]
WORDS = ("year", YEAR), ("week", UNITS["w"]), ("day", UNITS["d"]), ("hour", UNITS["h"]), ("minute", UNITS["min"])
DURATION = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([a-z]+)\s*")


def seconds_of(what: str, given: object) -> float:
    """The seconds of a duration such as "90s", "30min", "2h", "7d" or "1.5w"; a number is seconds already.

    >>> seconds_of("window", "7d"), seconds_of("delay", "90 min"), seconds_of("delay", 5)
    (604800.0, 5400.0, 5.0)
    """
    if not isinstance(given, str):
        return positive(what, given)
    found = DURATION.fullmatch(given)
    if found is None or found[2] not in UNITS:
        raise ValueError(f"{what} must be a duration such as '90s', '30min', '2h', '7d' or '1w', got {shown(given)}")
    return positive(what, float(found[1]) * UNITS[found[2]])


def decisions_of(what: str, given: object, rate: float, *, least: int = 1) -> int:
    """The decisions in a duration, at a rate of decisions a second; a whole number is decisions already.

    >>> decisions_of("window", "7d", rate=0.01), decisions_of("window", 500, rate=0.01)
    (6048, 500)
    """
    if isinstance(given, str):
        return max(least, round(seconds_of(what, given) * rate))
    return positive_int(what, given, least=least, hint="decisions, or a duration such as '2h'")


def in_words(seconds: float) -> str:
    """A duration in the largest unit that it fills.

    >>> in_words(604_800.0), in_words(5_400.0), in_words(0.5)
    ('1 week', '1.5 hours', '0.5 seconds')
    """
    unit, length = next((each for each in WORDS if seconds >= 0.95 * each[1]), ("second", 1.0))
    number = f"{seconds / length:,.1f}".removesuffix(".0") if seconds >= 0.95 else f"{seconds:.2g}"
    return f"{number} {unit}{'' if number == '1' else 's'}"
