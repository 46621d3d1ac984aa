"""The pages that people read, and what can be found in them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = {str(page.relative_to(ROOT)): page for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]}
EVERY = PAGES | {"CONTRIBUTING.md": ROOT / "CONTRIBUTING.md"}


def text_of(page: str) -> str:
    return EVERY[page].read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text_of(page), flags=re.DOTALL | re.MULTILINE)


def spans(page: str) -> list[str]:
    """What stands between backticks in the running text."""
    prose = re.sub(r"^```.*?^```$", "", text_of(page), flags=re.DOTALL | re.MULTILINE)
    return re.findall(r"`([^`\n]+)`", prose)


def first_cells(page: str, heading: str) -> str:
    """The first cells of the tables under a heading."""
    (section,) = re.findall(rf"^## {heading}\n(.*?)(?=^## |\Z)", text_of(page), flags=re.DOTALL | re.MULTILINE)
    return "\n".join(re.findall(r"^\| ([^|]+) \|", section, flags=re.MULTILINE))
