"""Measure where learning wins: families of random worlds × algorithms × training seeds, beside the zoo.

python scripts/deep_table.py --jobs 2            # everything, into results/deep: most of an hour; it goes on if stopped
python scripts/deep_table.py --quick             # the same with tiny numbers, into results/deep-quick, in a minute
python scripts/deep_table.py --jobs 2 --write    # and put figures and picture into docs/, and write the pages

Each model is trained in a process of its own, as `ns-mab-gym train` would, into WORLD/ALGORITHM/seed-N. Then all models
of a world and the rivals, which are tuned once, play the same held-out instances; WORLD/numbers.json has the outcome.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import quoted
import torch
from matplotlib.figure import Figure
from quoted_rows import REFERENCES, TWIN, error_reach

from ns_mab_gym.cli.parser import Parser, closing, jobs, leave, path
from ns_mab_gym.deep import comparison
from ns_mab_gym.deep.folder import SeedFolder, TrainingFolder, train_side_by_side
from ns_mab_gym.figures import learning
from ns_mab_gym.figures.style import save_as
from ns_mab_gym.files import file_name, write_atomically
from ns_mab_gym.rl.training import EVERY, Trained, Training
from ns_mab_gym.specs import WorldSpec
from ns_mab_gym.studies.tables import json_text
from ns_mab_gym.tuning.search import SPACES

PICTURE = "deep-table.png"
STRONGEST = 2  # of the zoo, beside those that always play
ALWAYS = ("changepoint-ucb", "kl-ucb", "sw-ucb", "beta-swts", "ts", "faded-index", "random", "oracle-restart")
WORLDS: dict[str, dict[str, Any]] = {
    "piecewise": {"world": "piecewise", "changes": 4},
    "random walk": {"world": "random-walk", "step": 0.02},
    "mixed": {"world": "mixed", "jumping": 2, "changes": 4, "step": 0.01},
}
# The slowest first, so that none is left alone in the end.
ALGORITHMS = {
    "RecurrentPPO": Training("recurrent-ppo", timesteps=6_000_000),
    "DQN": Training("dqn", timesteps=2_000_000),
    "PPO": Training("ppo", timesteps=4_000_000),
}
FEW: dict[str, Any] = {"n_envs": 4, "n_steps": 32, "batch_size": 64, "n_epochs": 1}
SHORT = {
    "RecurrentPPO": Training("recurrent-ppo", timesteps=256, settings={**FEW, "lstm_hidden_size": 8}),
    "PPO": Training("ppo", timesteps=256, settings=FEW),
    "DQN": Training("dqn", timesteps=256, settings={"n_envs": 4, "learning_starts": 64, "buffer_size": 500}),
}
Name = tuple[str, str, int]  # of a model: world, algorithm, seed


@dataclass(frozen=True)
class Size:
    """The size of a measurement.

    Attributes:
        algorithms: their names in tables, and their trainings, with any world and seed.
        horizon: T of every world.
        runs: held-out runs of every agent.
        tuning_runs: runs for tuning each rival that is compared.
        seeds: of training.
        rivals: the names of those that play in every world.
        arms: K of every world.
        race_runs: runs for tuning each agent of the zoo, to find the strongest.
        zoo: the names of those.
        families: the worlds, by their names in tables, with their own parameters.
    """

    algorithms: Mapping[str, Training]
    horizon: int
    runs: int
    tuning_runs: int
    seeds: Sequence[int]
    rivals: Sequence[str] = ALWAYS
    arms: int = 5
    race_runs: int = 2_000
    zoo: Sequence[str] = tuple(SPACES)
    families: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: WORLDS)

    @property
    def worlds(self) -> dict[str, WorldSpec]:
        """The worlds, by their names in tables."""
        size: dict[str, Any] = {"n_arms": self.arms, "horizon": self.horizon}
        return {name: WorldSpec.of("NSBandit-v0", **given, **size) for name, given in self.families.items()}

    def training(self, world: str, algorithm: str | None = None) -> Training:
        """Return the training of a model with any seed; of the first algorithm if none is named."""
        entry, usual = self.worlds[world], self.algorithms[algorithm or next(iter(self.algorithms))]
        return replace(usual, env=entry.name, env_kwargs=entry.kwargs)


WHOLE = Size(ALGORITHMS, 1_000, 200, 6_000, (0, 1, 2))
FEW_AGENTS = ("kl-ucb", "sw-ucb", "random", "oracle-restart")
QUICK = Size(SHORT, 50, 5, 20, (0, 1), FEW_AGENTS, race_runs=20, zoo=("d-ucb", "ucb1", "beta-swts"))


def measure_and_write(section: str, description: str, usual: str, whole: Size, quick: Size) -> int:
    """Train and compare what the command line asks for, then write the figures; returns the exit code.

    Args:
        section: its name in ``docs/figures.json``, and, with an underscore, that of the script.
        description: of the command.
        usual: the folder of results, if the command line names none.
        whole: what is measured.
        quick: what is measured with ``--quick``.
    """
    command = f"{section.replace('-', '_')}.py"
    parser = Parser(command, description, ("--jobs 2", "--quick --jobs 2"))
    parser.add_argument("--out", type=path, help="folder of results")
    parser.add_argument("--jobs", type=jobs, default=1, help="models that are trained at once (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="tiny numbers, to see that it works")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/, and write the pages")

    def lines(options: argparse.Namespace) -> Iterator[str]:
        if options.quick and options.write:
            raise ValueError("--quick measures nothing that is worth writing; leave out --quick or --write")
        out = options.out or Path(f"{usual}-quick" if options.quick else usual)
        figures = yield from measured(quick if options.quick else whole, out, options.jobs)
        for world, found in figures["worlds"].items():
            yield from (f"{world}, {row['agent']}: {row['regret']:.1f}" for row in found["models"])
        folders = [out]
        if options.write:
            quoted.put(section, f"python scripts/{command} --jobs {options.jobs} --write", figures)
            folders.append(quoted.ROOT / "docs")
            yield from (f"written: {page}" for page in quoted.rewrite())
        for folder in folders if section == "deep-table" else ():
            save_as(picture(figures), folder / PICTURE)
            yield f"{folder / PICTURE} shows all of them"

    stopped = "stopped; what was trained until the last checkpoint is saved, and the same command goes on"
    return closing(parser, None, lines, interrupted=stopped)


def measured(size: Size, out: Path, jobs: int) -> Generator[str, None, dict[str, Any]]:
    """Train and compare everything; yields lines to print meanwhile, and returns the figures."""
    torch.set_num_threads(1)  # so small networks gain nothing from more
    models = {}
    for (world, algorithm, seed), model in trained(size, out, jobs):
        models[world, algorithm, seed] = model
        yield f"{world}, {algorithm}, seed {seed}: {model.steps:,} steps in {model.seconds:,.0f} s"
    worlds = yield from compared(size, out, models)
    about = {"arms": size.arms, "horizon": size.horizon, "runs": size.runs, "tuning_runs": size.tuning_runs}
    text = json_text({**about, "seeds": list(size.seeds), "worlds": worlds})
    figures: dict[str, Any] = json.loads(text, parse_float=lambda digits: float(f"{float(digits):.6g}"))
    return figures


def trained(size: Size, out: Path, jobs: int) -> Iterator[tuple[Name, Trained]]:
    """Train all models, several at once, and yield each at its end; an algorithm on a world has a folder of its own."""
    with ExitStack() as leaving:
        folders: dict[tuple[str, str], TrainingFolder] = {}
        models: dict[Name, SeedFolder] = {}
        for algorithm, world, seed in product(size.algorithms, size.worlds, size.seeds):
            if (pair := (world, algorithm)) not in folders:
                place = folder_of(out, world) / file_name(algorithm.lower(), instead="model", keep="")
                folders[pair] = TrainingFolder(place, size.training(world, algorithm))
                leaving.callback(folders[pair].close)
            models[world, algorithm, seed] = folders[pair].of_seed(seed)
        yield from train_side_by_side(models, jobs, EVERY)
        for folder in folders.values():
            folder.put_forward(size.seeds[0])


def compared(size: Size, out: Path, models: Mapping[Name, Trained]) -> Generator[str, None, dict[str, dict[str, Any]]]:
    """Find the strongest of the zoo, play held-out instances, and write ``numbers.json`` of each world.

    The rivals are the same in all worlds: those that always play and the strongest of each world, each of them also
    tuned.
    """
    races, seconds, worlds = {}, {}, {}
    trainings = {world: size.training(world) for world in size.worlds}
    envs = {world: comparison.training_env(training) for world, training in trainings.items()}
    for world, entry in size.worlds.items():
        began = time.perf_counter()
        races[world] = comparison.zoo_race(entry, envs[world], size.race_runs, size.zoo)
        seconds[world] = time.perf_counter() - began
        yield f"{world}: the zoo raced in {seconds[world]:,.0f} s"
    best = (name for race in races.values() for name in comparison.strongest(race, STRONGEST))
    names = list(dict.fromkeys([*size.rivals, *best]))
    for world, entry in size.worlds.items():
        began = time.perf_counter()
        rivals = comparison.tuned(comparison.rivals_of(entry, names)[0], envs[world], size.tuning_runs)
        of_world = {name: {seed: models[world, name, seed] for seed in size.seeds} for name in size.algorithms}
        words = ",".join(f"{key}={value}" for key, value in entry.kwargs.items() if key != "world")
        worlds[world] = found = {
            "world": f"{entry.kwargs['world']}:{words}",
            "race": [placed._asdict() for placed in races[world]],
            **comparison.compare_algorithms(comparison.cases_of(trainings[world])[0], of_world, rivals, size.runs),
            "race_seconds": seconds[world],
            "seconds": time.perf_counter() - began,
        }
        write_atomically(folder_of(out, world) / "numbers.json", f"{json_text(found, indent=2)}\n".encode())
        yield f"{world}: tuned and played in {found['seconds']:,.0f} s"
    return worlds


def folder_of(out: Path, world: str) -> Path:
    """The folder of the models of a world."""
    return out / file_name(world.lower(), instead="world", keep="")


def picture(figures: Mapping[str, Any]) -> Figure:
    """The final regrets of all agents, world by world."""

    def of_rival(row: Mapping[str, Any]) -> learning.FinalRegret:
        label, reach = row["agent"].removesuffix(TWIN), error_reach(row)
        kind = learning.TUNED if label != row["agent"] else learning.RIVAL
        kind = learning.REFERENCE if label in REFERENCES else kind
        return learning.FinalRegret(label, kind, row["regret"], row["regret"] - reach, row["regret"] + reach)

    worlds = {}
    for world, found in figures["worlds"].items():
        worlds[world] = [
            learning.FinalRegret(row["agent"], learning.MODEL, row["regret"], row["low"], row["high"], row["by_seed"])
            for row in found["models"]
        ]
        worlds[world] += map(of_rival, found["rivals"])
    heading = "Regret of learnt and of designed agents on random worlds, "
    size = "K = {arms}, T = {horizon:,}, mean of {runs} held-out runs".format_map(figures)
    return learning.learned_regrets_figure(worlds, heading + size)


if __name__ == "__main__":
    leave(measure_and_write("deep-table", __doc__ or "", "results/deep", WHOLE, QUICK))
