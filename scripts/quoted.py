"""Bring the figures that the README and docs/ quote in line with docs/figures.json.

python scripts/quoted.py                           # write the pages from the file
python scripts/quoted.py --paper results/paper     # take the verdicts and regrets of `make paper` into the file first
python scripts/quoted.py --leaderboard docs/leaderboard   # take the top of the leaderboard into the file first
python scripts/quoted.py --check                   # write nothing; exit code 1 if a page quotes other figures
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from quoting import figures_file, pages


def main() -> int:
    """Read the folders that the options name, and write or check the pages; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paper", type=Path, help="a folder that `ns-mab-gym paper` wrote")
    parser.add_argument("--leaderboard", type=Path, help="a folder that `ns-mab-gym leaderboard --snapshot` wrote")
    parser.add_argument("--check", action="store_true", help="say which pages quote other figures than the file holds")
    options = parser.parse_args()
    if options.check:
        wrong = pages.stale()
        for page in wrong:
            print(f"{page} quotes other figures than docs/figures.json holds; run python scripts/quoted.py")
        return 1 if wrong else 0
    _take_in(options.paper, options.leaderboard)
    for page in pages.rewrite():
        print(f"written: {page}")
    return 0


def _take_in(paper: Path | None, leaderboard: Path | None) -> None:
    from quoting.readers import leaderboard_figures, paper_figures

    if paper is not None:
        figures_file.put("paper", "make paper; python scripts/quoted.py --paper results/paper", paper_figures(paper))
    if leaderboard is not None:
        command = f"python scripts/leaderboard.py --snapshot {leaderboard}"
        figures_file.put("leaderboard", command, leaderboard_figures(leaderboard))


if __name__ == "__main__":
    sys.exit(main())
