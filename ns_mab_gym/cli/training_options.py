"""The options of ``ns-mab-gym train``, from the command line and from a TOML file."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .door import Parser, jobs, natural, path, positive, threads

__all__ = ["described", "training_parser"]

DESCRIPTION = """\
Train a model of Stable-Baselines3 on random worlds, save it, and compare it with the zoo on instances that it has not
seen: each rival by its own formula, and tuned on yet other instances. What is trained is stored: the same command
goes on where it stopped, and a model that was interrupted ends with the same weights as one that was not.

Hyperparameters follow the algorithm: ppo:learning_rate=3e-4,n_steps=64,net_arch=64,64. Or everything stands in a file,
over which options have the last word:

  algo = "ppo"
  env = "piecewise:n_arms=5,horizon=1000,changes=4"
  timesteps = 5e6
  seed = [0, 1, 2]
  settings = {learning_rate = 3e-4, net_arch = [64, 64]}

The saved model plays wherever agents play: sb3:path=results/sb3/model.npz. Elsewhere a zip file must be trusted
(--trust-models), since loading it can run any code in it; model.npz, which is written beside it, runs none.
"""
EXAMPLES = (
    "--algo ppo --timesteps 3e6 --seed 0 1 2 --out results/ppo",
    "--env piecewise:n_arms=5,horizon=1000,changes=4 --windows 50 200 --algo dqn:gamma=0.5",
    "--algo recurrent-ppo:lstm_hidden_size=32 --windows --agents sw-ucb glr-ts sw-ucb:window=100",
    "training.toml --runs 500 --no-tuning --out results/mine",
)
DEFAULTS: dict[str, Any] = {
    "algo": "ppo", "env": "NSBandit-Piecewise-v0:n_arms=10,horizon=1000", "timesteps": 3_000_000, "windows": [30, 150],
    "runs": 200, "seed": [0], "agents": None, "device": "cpu", "checkpoint_every": 250_000, "tuning_runs": 2_000,
    "settings": {}, "stagger": False, "learn_from": "regret",
}  # fmt: skip
FLAGS = ("stagger",)
COUNTS = ("timesteps", "runs", "checkpoint_every", "tuning_runs")
LISTS: dict[str, Callable[[str], Any]] = {"windows": positive, "seed": natural, "agents": str}


def training_parser(command: str) -> Parser:
    """What reads the options; those that are not given are None."""
    parser = Parser(command, DESCRIPTION, EXAMPLES)
    add = parser.add_argument
    add("description", nargs="?", help="a TOML file with any of the options below and settings = {…}")
    add("--algo", help="ppo, a2c, recurrent-ppo, maskable-ppo, trpo, dqn or qr-dqn, with :parameter=value,… (ppo)")
    add("--env", metavar="WORLD", help=f"an id or a world with :parameter=value,… ({DEFAULTS['env']})")
    add("--timesteps", type=positive, help="environment steps of each model (3e6)")
    add("--windows", type=positive, nargs="*", help="of the statistics that the model sees (30 150)")
    add("--stagger", action=argparse.BooleanOptionalAction, help="begin first episodes in different rounds (no)")
    add("--learn-from", metavar="regret|reward", help="the expected loss of an arm, or what was drawn (regret)")
    add("--seed", type=natural, nargs="+", help="of training; a model is trained for each (0)")
    add("--runs", type=positive, help="held-out instances to play (200)")
    add("--agents", nargs="+", metavar="AGENT", help="the rivals, with :parameter=value,… (nine of the zoo)")
    add("--tuning-runs", type=positive, help="runs for tuning each rival without parameters (2000)")
    add("--no-tuning", action="store_true", help="rivals as their papers tune them, and no more")
    add("--checkpoint-every", type=positive, metavar="STEPS", help="steps after which a training is saved (250000)")
    add("--device", help="where torch computes: cpu, cuda, auto (cpu)")
    add("--threads", type=threads, default=1, help="of torch; small networks gain little from more (%(default)s)")
    add("--jobs", type=jobs, help="threads or processes of the comparison; -1, the default, for all cores")
    add("--out", type=path, default=Path("results/sb3"), help="folder to write (%(default)s)")
    return parser


def described(options: argparse.Namespace) -> dict[str, Any]:
    """The settings of a training: the usual ones, over them those of the file, over them the options."""
    given = {key: value for key in DEFAULTS if (value := getattr(options, key, None)) is not None}
    return {**DEFAULTS, **(_of_file(options.description) if options.description else {}), **given}


def _of_file(file: str) -> dict[str, Any]:
    from ..agents.core.arguments import known_parameters
    from ..experiments.descriptions import toml_content
    from ..experiments.values import plain

    read = plain(toml_content(Path(file)))
    try:
        known_parameters("the description", read, tuple(DEFAULTS))
        return {key: _value(key, value) for key, value in read.items()}
    except (TypeError, ValueError, argparse.ArgumentTypeError) as error:
        raise ValueError(f"{file!r}: {error}") from None


def _value(key: str, value: Any) -> Any:
    """A value of the file, checked as the option of the same name is."""
    if key == "settings":
        if not isinstance(value, Mapping):
            raise ValueError(f"settings must be a table, such as settings = {{n_steps = 64}}, got {value!r}")
        return dict(value)
    if key in LISTS:
        if value == [] and key != "windows":
            raise ValueError(f"{key} must name one or more, got none; leave it out for the usual")
        return [_read(key, LISTS[key], each) for each in (value if isinstance(value, list) else [value])]
    if key in FLAGS:
        if not isinstance(value, bool):
            raise ValueError(f"{key} must be true or false, got {value!r}")
        return value
    if key in COUNTS:
        return _read(key, positive, value)
    if not isinstance(value, str):
        raise ValueError(f"{key} must be a text, got {value!r}")
    return value


def _read(key: str, read: Callable[[str], Any], value: Any) -> Any:
    if read is str and not isinstance(value, str):
        raise ValueError(f"{key} must be texts, got {value!r}")
    try:
        return read(str(value))
    except argparse.ArgumentTypeError as error:
        raise ValueError(f"{key} {error}") from None
