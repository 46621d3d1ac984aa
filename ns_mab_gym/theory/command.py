"""The command line of `scripts/diagnose.py`."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path

import gymnasium as gym

from ns_mab_gym import envs, worlds
from ns_mab_gym.agents.checks import nearest
from ns_mab_gym.worlds.table import is_number

from .description import describe
from .learners import LEARNERS
from .matrix import Floats

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Describe a world, draw it, recommend a window; with ``--measure``, play the windows too."""
    options = _parser().parse_args(arguments)
    try:
        _diagnose(options)
    except (ValueError, TypeError, OSError, ImportError) as error:
        raise SystemExit(f"diagnose: {error}") from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="diagnose", description=main.__doc__)
    parser.add_argument("world", help="a .csv, .parquet or .npz file of means (a column an arm), or an environment id")
    parser.add_argument("--agent", choices=LEARNERS, default="beta-swts", help="whose window (default: %(default)s)")
    parser.add_argument("--windows", type=int, nargs="+", help="windows to shade instead of the three chosen ones")
    parser.add_argument(
        "--out", type=Path, default=Path("results"), help="folder of the pictures (default: %(default)s)"
    )
    parser.add_argument("--measure", action="store_true", help="play a grid of windows and compare with the theory")
    parser.add_argument("--runs", type=int, default=20, help="runs of each window (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the runs and of a random world's instance")
    return parser


def _diagnose(options: argparse.Namespace) -> None:
    means, names = _read(options.world, options.seed)
    print(describe(means, agent=options.agent))
    from .diagnosis import draw

    options.out.mkdir(parents=True, exist_ok=True)
    stem = options.out / f"{Path(options.world).stem}-{options.agent}"
    draw(means, options.agent, windows=options.windows, names=names).savefig(f"{stem}-diagnosis.png", dpi=110)
    print(f"\npicture: {stem}-diagnosis.png")
    if options.measure:
        from .measured import compare
        from .overlay import draw_measured

        comparison = compare(means, options.agent, runs=options.runs, seed=options.seed)
        draw_measured(means, comparison).savefig(f"{stem}-measured.png", dpi=110)
        print(f"\n{comparison}\npicture: {stem}-measured.png")


def _read(world: str, seed: int) -> tuple[Floats, list[str] | None]:
    """The means, and the arms' names where the file has them."""
    if Path(world).suffix:
        return worlds.Table(path=world).means(), _header(Path(world))
    if world.rpartition(":")[-1] not in envs.ENV_IDS:
        raise ValueError(f"{world!r} is neither a file nor an environment id; {nearest(world, envs.ENV_IDS)}")
    env = gym.make(world)
    env.reset(seed=seed)
    means: Floats = env.unwrapped.means  # type: ignore[attr-defined]
    return means, None


def _header(file: Path) -> list[str] | None:
    """The arms' names: the first line of a CSV file, if no cell of it is a number."""
    if file.suffix.lower() != ".csv":
        return None
    with file.open(newline="", encoding="utf-8-sig") as lines:
        first = next(csv.reader(lines))
    return None if any(is_number(cell) for cell in first) else first
