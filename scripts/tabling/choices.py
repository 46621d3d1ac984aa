"""What the choices in training are compared on: one world, and trainings that differ from the usual in one thing."""

from __future__ import annotations

from dataclasses import replace

from ns_mab_gym.rl.training import Training
from tabling.sizes import FEW, WORLDS, Size

__all__ = ["CHOICES", "QUICK_CHOICES"]

STEPS = 1_500_000
MEMORY, FORWARD = Training("recurrent-ppo", timesteps=STEPS), Training("ppo", timesteps=STEPS)
SLOW = {"learning_rate": 1e-3}
VARIANTS = {
    "RecurrentPPO": MEMORY,
    "RecurrentPPO, from rewards": replace(MEMORY, learn_from="reward"),
    "RecurrentPPO, rate 0.001": replace(MEMORY, settings=SLOW),
    "RecurrentPPO, sequences of 32 rounds": replace(MEMORY, settings={"n_steps": 32, "n_envs": 1024}),
    "RecurrentPPO, no statistics": replace(MEMORY, windows=()),
    "RecurrentPPO, no statistics, rate 0.001": replace(MEMORY, windows=(), settings=SLOW),
    "PPO": FORWARD,
    "PPO, from rewards": replace(FORWARD, learn_from="reward"),
    "PPO, staggered": replace(FORWARD, stagger=True),
    "TRPO": Training("trpo", timesteps=STEPS),
}
ONE_WORLD = {"piecewise": WORLDS["piecewise"]}
CHOICES = Size(VARIANTS, 1_000, 200, 200, (0, 1), ("kl-ucb",), zoo=(), families=ONE_WORLD)
TINY = {
    "PPO": Training("ppo", timesteps=256, settings=FEW),
    "PPO, from rewards": Training("ppo", timesteps=256, settings=FEW, learn_from="reward"),
}
QUICK_CHOICES = Size(TINY, 50, 5, 20, (0, 1), ("kl-ucb",), zoo=(), families=ONE_WORLD)
