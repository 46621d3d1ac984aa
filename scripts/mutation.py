"""Change the code on purpose, one small change at a time, and list the changes that no test notices.

python -m venv /tmp/cosmic-ray; /tmp/cosmic-ray/bin/pip install cosmic-ray
/tmp/cosmic-ray/bin/python scripts/mutation.py agents/ser4.py                 # every mutant of a file
/tmp/cosmic-ray/bin/python scripts/mutation.py agents ns_mab_gym/play --sample 10 --out before.json
/tmp/cosmic-ray/bin/python scripts/mutation.py --again before.json --out after.json

The project's own environment runs the tests, on copies in a temporary folder: the checkout is never touched. Which
tests run for which file is a table, ``scripts/mutating/selections.toml``. Of each file, ``--sample`` draws so many
mutants, always the same ones for a seed; the share that survives then has a standard error, which is printed.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from mutating.mutants import Mutant, mutants_of
from mutating.trials import Place, selection_for

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    """Try the mutants that the command line asks for; returns 1 if one of them survives, else 0."""
    options = _options()
    root = options.root.resolve()
    chosen = _asked_again(options.again, root) if options.again else _drawn(options, root)
    print(f"{len(chosen)} mutants of {len({mutant.path for mutant in chosen})} files", flush=True)
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        places = [Place(Path(folder) / str(number), options.python) for number in range(options.jobs)]
        rows = _tried(chosen, places, root)
    if options.out:
        options.out.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    _summarise(rows)
    return int(any(row["how"] == "survived" for row in rows))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=Path, help="files and folders, relative to the checkout")
    parser.add_argument("--sample", type=int, help="how many mutants of each file; all if not given")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--jobs", type=int, default=2, help="how many are tried at once")
    parser.add_argument("--out", type=Path, help="a JSON file for what became of each mutant")
    parser.add_argument("--again", type=Path, help="such a file: try those again that survived")
    parser.add_argument("--root", type=Path, default=ROOT, help="another checkout")
    parser.add_argument("--python", type=Path, default=ROOT / ".venv/bin/python", help="what runs the tests")
    return parser.parse_args()


def _files(paths: Iterable[Path], root: Path) -> list[Path]:
    found = [file for path in paths for file in (sorted((root / path).rglob("*.py")) or [root / path])]
    return [file.relative_to(root) for file in found if file.name != "__init__.py"]


def _drawn(options: argparse.Namespace, root: Path) -> list[Mutant]:
    chosen: list[Mutant] = []
    for path in _files(options.paths, root):
        mutants = mutants_of(root, path)
        size = min(options.sample or len(mutants), len(mutants))
        print(f"{path}: {size} of {len(mutants)} mutants", flush=True)
        chosen += random.Random(f"{options.seed} {path}").sample(mutants, size)
    return chosen


def _asked_again(file: Path, root: Path) -> list[Mutant]:
    """The survivors of an earlier run, found by their kind and their change, wherever they stand by now."""
    rows = [row for row in json.loads(file.read_text(encoding="utf-8")) if row["how"] == "survived"]
    wanted = {(row["path"], row["kind"], row["change"]) for row in rows}
    paths = sorted({Path(row["path"]) for row in rows if (root / row["path"]).exists()})
    mutants = [mutant for path in paths for mutant in mutants_of(root, path)]
    return [mutant for mutant in mutants if (str(mutant.path), mutant.kind, mutant.change) in wanted]


def _tried(chosen: list[Mutant], places: list[Place], root: Path) -> list[dict[str, Any]]:
    """What became of each mutant, file by file: each place warms up for a file, and then they share its mutants."""
    free: SimpleQueue[Place] = SimpleQueue()
    rows: list[dict[str, Any]] = []

    def tried(mutant: Mutant) -> dict[str, Any]:
        place = free.get()
        try:
            outcome = place.outcome(mutant, selection_for(mutant.path))
        finally:
            free.put(place)
        print(f"{outcome.how:8} {mutant.path}:{mutant.line} {mutant.change}  {outcome.by}", flush=True)
        return {key: str(value) for key, value in asdict(mutant).items() if key != "source"} | asdict(outcome)

    with ThreadPoolExecutor(len(places)) as pool:
        list(pool.map(lambda place: place.fill(root), places))
        for place in places:
            free.put(place)
        for path in dict.fromkeys(mutant.path for mutant in chosen):
            selection = selection_for(path)
            for place, before in zip(places, pool.map(lambda p: p.warm_up(path, selection), places), strict=True):  # noqa: B023
                if before.how != "survived":
                    raise SystemExit(f"{path}: its tests fail without any change, in {place.folder}: {before.by}")
            rows += pool.map(tried, [mutant for mutant in chosen if mutant.path == path])
        list(pool.map(Place.close, places))
    return rows


def _summarise(rows: list[dict[str, Any]]) -> None:
    """Print the survivors, and the share of mutants that were noticed in each file and in all."""
    for row in rows:
        if row["how"] == "survived":
            print(f"SURVIVED {row['path']}:{row['line']} {row['kind']}: {row['change']}")
    for title in (*dict.fromkeys(row["path"] for row in rows), "all"):
        own = [row for row in rows if title in (row["path"], "all")]
        share = sum(row["how"] != "survived" for row in own) / len(own)
        error = math.sqrt(share * (1 - share) / len(own))
        print(f"{title}: {share:.0%} of {len(own)} noticed, standard error {error:.1%}")


if __name__ == "__main__":
    raise SystemExit(main())
