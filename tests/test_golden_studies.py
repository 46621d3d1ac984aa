"""Two small studies from beginning to end: their verdicts, tables and ranks, as they were stored.

A change that means to change no number leaves them as they are; one that means to, says so in the changelog and stores
them anew: ``PYTHONPATH=tests/support python tests/test_golden_studies.py``. Numbers count to ten digits, and the
seconds that a run took do not.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from pathlib import Path

from small_paper import play_paper

from ns_mab_gym.cli.entry import main

FILE = Path(__file__).parent / "data" / "studies.json"
WORLDS = (
    "Abrupt", "16 changes", "walk, step 0.008", "rising, rates to 10", "rotting, rates to 10", "period 1,000",
    "4 jumps, slow drift", "clicks, 4 changes", "2 arms, 4 changes", "50 arms, 4 changes", "Gaussian, 4 changes",
)  # fmt: skip


def digest(text: str) -> str:
    """The hash of a text in which numbers have ten digits."""
    rounded = re.sub(r"-?\d+\.\d+(?:e-?\d+)?", lambda number: f"{float(number[0]):.10g}", text)
    return hashlib.sha256(rounded.encode()).hexdigest()


def without_seconds(text: str) -> str:
    """A table without the column of the seconds that each row took."""
    rows = [{key: row[key] for key in row if key != "engine_seconds"} for row in csv.DictReader(io.StringIO(text))]
    return "\n".join(map(str, rows))


def paper(folder: Path) -> dict[str, str]:
    """The paper's study at a small size, from its folder."""
    claims, summary = (folder / name for name in ("claims.json", "summary.csv"))
    return {"claims.json": digest(claims.read_text()), "summary.csv": digest(without_seconds(summary.read_text()))}


def leaderboard(folder: Path) -> dict[str, str]:
    """The quick leaderboard with 4 runs, without Beta rewards, whose loops take long to compile."""
    asked = ["--quick", "--runs", "4", "--worlds", *WORLDS, "--out", str(folder)]
    assert main(["leaderboard", *asked]) == 0
    return {"leaderboard.csv": digest((folder / "leaderboard.csv").read_text())}


def test_the_numbers_of_the_studies_are_what_they_were(paper_folder, tmp_path, undrawn):
    assert paper(paper_folder) | leaderboard(tmp_path / "results") == json.loads(FILE.read_text())


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        play_paper(Path(folder, "p"))
        FILE.write_text(json.dumps(paper(Path(folder, "p")) | leaderboard(Path(folder, "l")), indent=1) + "\n")
