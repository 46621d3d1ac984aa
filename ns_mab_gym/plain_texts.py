"""Texts that people read on pages, in tables and in figures: what may be in them, and how the rest is told."""

from __future__ import annotations

import unicodedata

__all__ = ["escaped", "plain_text", "shortened", "without_controls"]

LONGEST = 1_000  # letters of a label or a title
TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")  # they make text read as other text
NO_LETTERS = frozenset("\ufffe\uffff")
UNSEEN = ("Cc", "Cs", "Zl", "Zp")  # Unicode's controls, halves of letters, and ends of lines


def plain_text(what: str, given: object, *, lines: bool = False, longest: int = LONGEST) -> str:
    r"""The given text, if it can be shown wherever texts are shown: on a page, in a table, in a figure, in XML.

    Args:
        what: what error messages call it.
        given: the text; it may be empty, but not blank.
        lines: whether it may have several lines.
        longest: how many letters it may have.

    >>> plain_text("label", "Smooth, σ = 0.001")
    'Smooth, σ = 0.001'
    >>> plain_text("label", "bell\a")
    Traceback (most recent call last):
        ...
    ValueError: label has a character that cannot be shown, '\x07' in 'bell\x07'; leave it out
    """
    if not isinstance(given, str):
        raise TypeError(f"{what} must be a text in quotes, got {shortened(given)}")
    if given and not given.strip():
        raise ValueError(f"{what} is blank, got {shortened(given)}; write a text, or leave it out")
    if len(given) > longest:
        raise ValueError(f"{what} may have {longest:,} letters, got {len(given):,}: {shortened(given)}; shorten it")
    for letter in given:
        if _is_unseen(letter) and not (lines and letter in "\n\r\t"):
            said = f"{what} has a character that cannot be shown, {letter!a} in {shortened(given)}"
            raise ValueError(f"{said}; leave it out")
    return given


def without_controls(text: str) -> str:
    r"""The text with a sign in place of every character that cannot be shown; lines and tabs are kept.

    >>> without_controls("bell\a")
    'bell�'
    """
    return "".join("\ufffd" if _is_unseen(letter) and letter not in "\n\r\t" else letter for letter in text)


def escaped(text: str) -> str:
    r"""The text with an escape in place of every character that cannot be shown.

    >>> escaped("a\nb")
    'a\\nb'
    """
    return "".join(ascii(letter)[1:-1] if _is_unseen(letter) else letter for letter in text)


def _is_unseen(letter: str) -> bool:
    if letter.isprintable():
        return False
    return letter in TURNING | NO_LETTERS or unicodedata.category(letter) in UNSEEN


def shortened(given: object) -> str:
    """A value as an error message shows it."""
    try:
        shown = ascii(given) if isinstance(given, str) and not given.isprintable() else repr(given)
    except ValueError:  # an integer of thousands of digits
        return "a number of very many digits"
    return shown if len(shown) <= 80 else f"{shown[:60]}… {shown[-10:]}"
