"""The pages that quote figures. The quoted text is between two comments, and is written from the file of figures.

A page has ``<!-- begin figures: NAME -->`` and ``<!-- end figures -->``, each on a line of its own; what is between
them is the text that :data:`quoting.texts.TEXTS` makes for that name.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ns_mab_gym.files import write_atomically
from quoting import figures_file
from quoting.texts import TEXTS

__all__ = ["PAGES", "quoted", "rewrite", "stale", "written"]

PAGES = [figures_file.ROOT / "README.md", *sorted((figures_file.ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"(<!-- begin figures: ([\w-]+) -->\n)((?!<!-- begin).)*?(<!-- end figures -->)", re.DOTALL)


def quoted(page: str) -> list[str]:
    """The names of the texts that a page quotes."""
    return [found[2] for found in BLOCK.finditer(page)]


def written(page: str, figures: dict[str, Any]) -> str:
    """The page with its quoted texts written from the figures."""
    names = quoted(page)
    if unknown := set(names) - TEXTS.keys():
        raise ValueError(f"no text is called {', '.join(sorted(unknown))}; there are {', '.join(TEXTS)}")
    if len(names) != page.count("<!-- begin figures") or len(names) != page.count("<!-- end figures"):
        raise ValueError("every begin of figures needs an end, each on a line of its own")
    return BLOCK.sub(lambda found: f"{found[1]}\n{TEXTS[found[2]](figures)}\n\n{found[4]}", page)


def stale() -> list[Path]:
    """The pages whose quoted figures differ from those in the file."""
    figures = figures_file.read()
    return [page for page in PAGES if written(text := page.read_text(encoding="utf-8"), figures) != text]


def rewrite() -> list[Path]:
    """Write the quoted texts of every page from the file; returns the pages that changed."""
    figures, changed = figures_file.read(), stale()
    for page in changed:
        write_atomically(page, written(page.read_text(encoding="utf-8"), figures).encode())
    return changed
