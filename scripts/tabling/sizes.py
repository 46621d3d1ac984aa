"""What the table of where learning wins is made of: worlds, algorithms with their settings, and how much of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ns_mab_gym.choosing.spaces import SPACES
from ns_mab_gym.experiments.study import WorldEntry
from ns_mab_gym.rl.training import Training

__all__ = ["QUICK", "WHOLE", "Size"]

ALWAYS = ("kl-ucb", "sw-ucb", "beta-swts", "ts", "random", "oracle-restart")
WORLDS: dict[str, dict[str, Any]] = {
    "piecewise": {"world": "piecewise", "changes": 4},
    "random walk": {"world": "random-walk", "step": 0.02},
    "mixed": {"world": "mixed", "jumping": 2, "changes": 4, "step": 0.01},
}
# What tables call an algorithm, and how it is trained; the slowest first, so that none is left alone in the end.
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


@dataclass(frozen=True)
class Size:
    """How much is measured.

    Attributes:
        algorithms: what tables call them, and how they are trained, with any world and seed.
        horizon: T of every world.
        runs: held-out runs of every agent.
        tuning_runs: runs for tuning each rival that is compared.
        seeds: of training.
        rivals: the names of those that play in every world.
        arms: K of every world.
        race_runs: runs for tuning each agent of the zoo, to find the strongest.
        zoo: the names of those.
        families: the worlds, by what tables call them, with their own parameters.
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
    def worlds(self) -> dict[str, WorldEntry]:
        """The worlds, by what tables call them."""
        size: dict[str, Any] = {"n_arms": self.arms, "horizon": self.horizon}
        return {name: WorldEntry.of("NSBandit-v0", **given, **size) for name, given in self.families.items()}

    def training(self, algorithm: str, world: str, seed: int) -> Training:
        """The training of one model."""
        entry = self.worlds[world]
        return replace(self.algorithms[algorithm], env=entry.name, env_kwargs=entry.kwargs, seed=seed)


WHOLE = Size(ALGORITHMS, 1_000, 200, 6_000, (0, 1, 2))
FEW_AGENTS = ("kl-ucb", "sw-ucb", "random", "oracle-restart")
QUICK = Size(SHORT, 50, 5, 20, (0, 1), FEW_AGENTS, race_runs=20, zoo=("d-ucb", "ucb1", "beta-swts"))
