"""``ns-mab-gym train``: train a deep agent and compare it with the zoo."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..files import refuse_links, write_atomically
from .door import Parser, closing, natural, path, positive, threads

if TYPE_CHECKING:
    from ..rl.training import LearningCurve, Training
    from ..runs import Runs

__all__ = ["main"]

EXTRAS = "training and its comparison need: pip install 'ns-mab-gym[rl,experiments]'"


def main(arguments: Sequence[str] | None = None, command: str = "train") -> int:
    """Train a model on random worlds, save it, and compare it with the zoo on instances it has not seen."""
    return closing(_parser(command), arguments, _train)


def _parser(command: str) -> Parser:
    parser = Parser(
        command,
        "Train a model of Stable-Baselines3 on random worlds, save it, and compare it with the zoo on instances that\n"
        "it has not seen. The saved model plays wherever agents play: sb3:path=results/sb3/model.zip. Elsewhere a zip\n"
        "file must be trusted (--trust-models), since loading it can run any code in it; model.npz, which is written\n"
        "beside it, runs none.",
        (
            "--algo ppo --timesteps 3000000 --out results/ppo",
            "--env piecewise:n_arms=5,horizon=1000,changes=4 --windows 50 200",
        ),
    )
    parser.add_argument("--algo", default="ppo", help="ppo, a2c, recurrent-ppo or dqn (default: %(default)s)")
    parser.add_argument(
        "--env",
        metavar="WORLD",
        default="NSBandit-Piecewise-v0:n_arms=10,horizon=1000",
        help="an id or a world and, after a colon, its arguments (default: %(default)s)",
    )
    parser.add_argument(
        "--timesteps", type=positive, default=3_000_000, help="environment steps (default: %(default)s)"
    )
    parser.add_argument(
        "--windows",
        type=positive,
        nargs="*",
        default=(30, 150),
        help="of the statistics the model sees (default: 30 150)",
    )
    parser.add_argument("--runs", type=positive, default=200, help="held-out instances to play (default: %(default)s)")
    parser.add_argument("--seed", type=natural, default=0, help="of training (default: %(default)s)")
    parser.add_argument("--threads", type=threads, default=1, help="of torch; small networks gain little from more")
    parser.add_argument("--out", type=path, default=Path("results/sb3"), help="folder to write (default: %(default)s)")
    return parser


def _train(options: argparse.Namespace) -> Iterator[str]:
    try:
        import torch

        from ..rl import held_out
        from ..rl.training import train
    except ImportError as error:
        raise ImportError(f"{error}; {EXTRAS}") from None
    training = _training(options)
    options.out.mkdir(parents=True, exist_ok=True)
    refuse_links(options.out / "model.zip", options.out / "tensorboard")
    torch.set_num_threads(options.threads)
    began = time.perf_counter()
    agent, curve = train(training, logs=options.out / "tensorboard")
    agent.save(options.out / "model.zip")
    agent.export(options.out / "model.npz")
    saved = f"saved {options.out / 'model.zip'} and, for others, model.npz"
    yield f"{options.timesteps:,} steps in {time.perf_counter() - began:,.0f} s; {saved}"
    results = held_out.compare(agent, training, options.runs)
    _write(options.out, training, curve, results)
    for title, curves in results.items():
        yield f"\n{held_out.table(title, curves)}"


def _training(options: argparse.Namespace) -> Training:
    """The training that the options describe; its world is made once, so that a mistake shows at once."""
    try:
        from ..experiments.parsing import parse
        from ..experiments.preflight import env_of
        from ..experiments.study import WorldEntry
    except ImportError as error:
        raise ImportError(f"{error}; {EXTRAS}") from None
    from ..play.resolving import names_a_world
    from ..rl.training import Training

    world = parse(WorldEntry, options.env)
    env_of(world)
    by_name = names_a_world(world.name)
    return Training(
        algo=options.algo,
        env="NSBandit-v0" if by_name else world.name,
        env_kwargs={"world": world.name, **world.kwargs} if by_name else world.kwargs,
        windows=tuple(options.windows),
        timesteps=options.timesteps,
        seed=options.seed,
    )


def _write(out: Path, training: Training, curve: LearningCurve, results: Mapping[str, Mapping[str, Runs]]) -> None:
    """Write the figures and numbers of a comparison to a folder."""
    from ..experiments.valid_json import json_text
    from ..figures.learning import learning_figure
    from ..figures.regret_plots import regret_figure
    from ..figures.style import save_as
    from ..rl.held_out import ABRUPT, HELD_OUT, numbers

    played = results[HELD_OUT]
    name, *others = played
    if curve.steps.size:
        rivals = {label: float(played[label].final.mean()) for label in others}
        save_as(learning_figure(name, curve.steps, curve.regret, rivals), out / "learning.png")
    for title, file in ((HELD_OUT, "regret.png"), (ABRUPT, "regret-abrupt.png")):
        if title in results:
            save_as(regret_figure(results[title], title), out / file)
    about = {
        "training": vars(training),
        "results": {title: numbers(curves) for title, curves in results.items()},
        "learning": {"steps": curve.steps.tolist(), "regret": curve.regret.tolist()},
    }
    write_atomically(out / "numbers.json", f"{json_text(about, indent=2)}\n".encode())
