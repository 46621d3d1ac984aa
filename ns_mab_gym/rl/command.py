"""The command line of `scripts/train_sb3.py`."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Train a model on random worlds, save it, and hold it against the zoo on instances it has not seen."""
    options = _parser().parse_args(arguments)
    try:
        _train(options)
    except (ValueError, TypeError, OSError, ImportError) as error:
        raise SystemExit(f"train_sb3: {error}") from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="train_sb3", description=main.__doc__)
    parser.add_argument("--algo", default="ppo", help="ppo, a2c, recurrent-ppo or dqn (default: %(default)s)")
    parser.add_argument(
        "--env",
        default="NSBandit-Piecewise-v0:n_arms=10,horizon=1000",
        help="an id and, after a colon, arguments of the environment (default: %(default)s)",
    )
    parser.add_argument("--timesteps", type=int, default=3_000_000, help="environment steps (default: %(default)s)")
    parser.add_argument(
        "--windows", type=int, nargs="*", default=(30, 150), help="of the statistics the model sees (default: 30 150)"
    )
    parser.add_argument("--runs", type=int, default=200, help="held-out instances to play (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of training (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=1, help="of torch; small networks gain little from more")
    parser.add_argument("--out", type=Path, default=Path("results/sb3"), help="folder to write (default: %(default)s)")
    return parser


def _train(options: argparse.Namespace) -> None:
    import torch

    try:
        from ..experiments.spec import WorldEntry
        from ..experiments.words import parse
        from . import study
    except ImportError:
        raise ImportError("the comparison and its figures need: pip install 'ns-mab-gym[rl,experiments]'") from None
    from .training import Training, train

    torch.set_num_threads(options.threads)
    world = parse(WorldEntry, options.env)
    training = Training(
        algo=options.algo,
        env=world.name,
        env_kwargs=world.kwargs,
        windows=tuple(options.windows),
        timesteps=options.timesteps,
        seed=options.seed,
    )
    options.out.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    agent, curve = train(training, logs=options.out / "tensorboard")
    agent.save(options.out / "model.zip")
    print(f"{options.timesteps:,} steps in {time.perf_counter() - began:,.0f} s; saved {options.out / 'model.zip'}")
    results = study.compare(agent, training, options.runs)
    study.write(options.out, training, curve, results)
    for title, curves in results.items():
        print(f"\n{study.table(title, curves)}")
