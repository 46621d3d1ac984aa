"""Evaluates into folders with hostile links; nothing outside of them may change."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from itertools import product
from pathlib import Path

from .evaluation import evaluate, warmed_up

__all__ = ["try_links"]

PLACES = (
    ".lock", "README.txt", "units", "aside", "figures", "report.html", "summary.csv", "table.parquet", "detections.csv",
    "failures.txt",    "figures/nsbandit-abrupt-v0-horizon-200-means.png", "units/x--y--0-24--0123456789abcdef.parquet",
)  # fmt: skip
KINDS: dict[str, Callable[[Path, Path], None]] = {
    "link to a file": lambda path, victim: path.symlink_to(victim / "thesis.tex"),
    "link to a folder": lambda path, victim: path.symlink_to(victim / "home"),
    "hard link": lambda path, victim: path.hardlink_to(victim / "thesis.tex"),
    "pipe": lambda path, _: os.mkfifo(path),
}


def try_links(scratch: Path) -> bool:
    """Evaluate into a folder with each kind of link in each place; returns whether nothing outside changed."""
    warmed_up(scratch)
    well = True
    for number, (place, (kind, make)) in enumerate(product(PLACES, KINDS.items())):
        victim, folder = scratch / f"victim-{number}", scratch / f"folder-{number}"
        (victim / "home").mkdir(parents=True)
        for name in ("thesis.tex", "home/chapter.tex", "home/picture.png", "home/.x.1.part"):
            (victim / name).write_text("years of work")
        evaluate(folder)
        path = folder / place
        path.parent.mkdir(exist_ok=True)
        if path.is_dir():
            path.rename(scratch / f"was-{number}")
        path.unlink(missing_ok=True)
        make(path, victim)
        before = _state_of(victim)
        ended = evaluate(folder)
        alike = _state_of(victim) == before and (ended.status == 0 or ended.refused_in_one_line)
        said = f"refused: {ended.last}" if ended.status else "went on"
        print(f"{'well ' if alike else 'WRONG'} {place} as {kind}: {said}".replace(str(scratch), "…"), flush=True)
        well &= alike
    return well


def _state_of(folder: Path) -> dict[str, tuple[object, ...]]:
    """Names, rights, sizes, times and contents of everything in a folder."""
    return {
        str(path): (
            (about := path.lstat()).st_mode,
            about.st_size,
            about.st_mtime_ns,
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
        )
        for path in sorted(folder.rglob("*"))
    }
