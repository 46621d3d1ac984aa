"""Measure where learning wins: families of random worlds × algorithms × training seeds, beside the zoo.

python scripts/deep_table.py                     # everything, into results/deep: hours; the same command goes on
python scripts/deep_table.py --quick             # the same with tiny numbers, into results/deep-quick, in minutes
python scripts/deep_table.py --write             # and put the figures into docs/figures.json, the picture beside it

Each pair of a world and an algorithm is a training of its own, as `ns-mab-gym train` makes it, in a folder of its own.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from quoting import figures_file

from ns_mab_gym.cli.door import GONE_WELL, leave
from ns_mab_gym.cli.train_command import main as train
from ns_mab_gym.deep.held_out import HELD_OUT
from ns_mab_gym.figures.learned_regrets import FinalRegret, learned_regrets_figure
from ns_mab_gym.figures.style import save_as
from ns_mab_gym.student_t import t_quantile

PICTURE = figures_file.ROOT / "docs" / "deep-table.png"


class Size(NamedTuple):
    """How much is measured.

    Attributes:
        horizon: T of every world.
        timesteps: steps of each model, by algorithm with its settings.
        runs: held-out runs of every agent.
        tuning_runs: runs for tuning each rival.
        seeds: of training.
        rivals: their names; the usual ones if there are none.
    """

    horizon: int
    timesteps: Mapping[str, str]
    runs: int
    tuning_runs: int
    seeds: Sequence[str] = ("0", "1", "2")
    rivals: Sequence[str] = ()


WORLDS = {
    "piecewise": "piecewise:n_arms=5,horizon={},changes=4",
    "random walk": "random-walk:n_arms=5,horizon={},step=0.02",
    "mixed": "mixed:n_arms=5,horizon={},jumping=2,changes=4,step=0.01",
}
WHOLE = Size(1_000, {"ppo": "5e6", "dqn": "3e6", "recurrent-ppo": "3e6"}, 200, 2_000)
TINY = {"n_envs": 4, "n_steps": 32, "batch_size": 64, "n_epochs": 1}
IN_SHORT = ",".join(f"{name}={value}" for name, value in TINY.items())
QUICK = Size(
    50,
    {f"ppo:{IN_SHORT}": "256", "dqn:n_envs=4,learning_starts=64,buffer_size=500": "256",
     f"recurrent-ppo:{IN_SHORT},lstm_hidden_size=8": "256"},
    5, 20, ("0", "1"), ("sw-ucb", "random"),
)  # fmt: skip


def main() -> int:
    """Train and compare what is asked for, then write the figures; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="folder of results (results/deep, or results/deep-quick)")
    parser.add_argument("--quick", action="store_true", help="tiny numbers, to see that it works")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/figures.json, and the picture")
    options = parser.parse_args()
    if options.quick and options.write:
        parser.error("--quick measures nothing that is worth writing: leave out --quick or --write")
    size = QUICK if options.quick else WHOLE
    out = options.out or Path("results/deep-quick" if options.quick else "results/deep")
    found: dict[str, dict[str, Any]] = {}
    for world, words in WORLDS.items():
        for algo in size.timesteps:
            folder = out / f"{world.replace(' ', '-')}-{algo.partition(':')[0]}"
            print(f"\n== {world}, {algo}", flush=True)
            if (
                code := train(_arguments(words.format(size.horizon), algo, size, folder), "deep_table.py")
            ) != GONE_WELL:
                return code
            found.setdefault(world, {})[algo.partition(":")[0]] = _read(folder)
    figures = {world: _of_world(rows) for world, rows in found.items()}
    save_as(_picture(figures), out / "deep-table.png")
    print(f"\n{out / 'deep-table.png'} shows all of them")
    if options.write:
        figures_file.put("deep-table", "python scripts/deep_table.py --write", {"size": size._asdict(), **figures})
        save_as(_picture(figures), PICTURE)
    return GONE_WELL


def _arguments(world: str, algo: str, size: Size, folder: Path) -> list[str]:
    words = ["--env", world, "--algo", algo, "--timesteps", size.timesteps[algo], "--runs", str(size.runs)]
    words += ["--tuning-runs", str(size.tuning_runs), "--seed", *size.seeds, "--out", str(folder)]
    return [*words, *(["--agents", *size.rivals] if size.rivals else [])]


def _read(folder: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((folder / "numbers.json").read_text(encoding="utf-8"))["results"][HELD_OUT]
    return rows


def _of_world(by_algo: Mapping[str, Sequence[dict[str, Any]]]) -> dict[str, Any]:
    """The models of a world, and the rivals, which play the same runs beside each of them."""
    first = next(iter(by_algo.values()))
    return {
        "models": [rows[0] for rows in by_algo.values()],
        "rivals": [
            {
                **{key: row[key] for key in ("agent", "runs", "regret", "se", "parameters", "steps", "seconds")},
                "learning": {algo: _against(rows, row["agent"]) for algo, rows in by_algo.items()},
            }
            for row in first[1:]
        ],
    }


def _against(rows: Sequence[dict[str, Any]], rival: str) -> dict[str, Any]:
    """By how much a rival exceeds the models of one algorithm, and whether learning wins."""
    row = next(each for each in rows if each["agent"] == rival)
    return {key: row[key] for key in ("more", "low", "high", "learning")}


def _picture(figures: Mapping[str, Mapping[str, Any]]) -> Any:
    shown = {}
    for world, found in figures.items():
        models = [
            FinalRegret(row["agent"], row["regret"], row["low"], row["high"], row["by_seed"]) for row in found["models"]
        ]
        shown[world] = models + [_rival(row) for row in found["rivals"]]
    return learned_regrets_figure(shown)


def _rival(row: Mapping[str, Any]) -> FinalRegret:
    reach = t_quantile(0.025, row["runs"] - 1) * row["se"]
    return FinalRegret(row["agent"], row["regret"], row["regret"] - reach, row["regret"] + reach)


if __name__ == "__main__":
    leave(main())
