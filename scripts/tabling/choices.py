"""What the choices in training are compared on: one world, and trainings that differ from the usual in one thing."""

from __future__ import annotations

from dataclasses import replace

from ns_mab_gym.rl.training import Training
from tabling.sizes import FEW, WORLDS, Size

__all__ = ["CHOICES", "QUICK_CHOICES"]

STEPS = 2_000_000
MEMORY, FORWARD = Training("recurrent-ppo", timesteps=STEPS), Training("ppo", timesteps=STEPS)
SLOW = {"learning_rate": 1e-3}
APART = {"shared_lstm": False, "enable_critic_lstm": True}
# How the first settings of the suite had it: few sequences in a batch, two memories, a low rate, rewards.
AT_FIRST = {"n_envs": 64, "batch_size": 2048, **APART, **SLOW}
VARIANTS = {
    "RecurrentPPO, settings of before": replace(MEMORY, settings=AT_FIRST, learn_from="reward"),
    "RecurrentPPO, two memories": replace(MEMORY, settings=APART),
    "RecurrentPPO": MEMORY,
    "RecurrentPPO, from rewards": replace(MEMORY, learn_from="reward"),
    "RecurrentPPO, rate 0.001": replace(MEMORY, settings=SLOW),
    "RecurrentPPO, sequences of 32": replace(MEMORY, settings={"n_steps": 32, "n_envs": 1024}),
    "RecurrentPPO, no statistics": replace(MEMORY, windows=()),
    "RecurrentPPO, no statistics, rate 0.001": replace(MEMORY, windows=(), settings=SLOW),
    "PPO": FORWARD,
    "PPO, from rewards": replace(FORWARD, learn_from="reward"),
    "PPO, rate 0.001": replace(FORWARD, settings=SLOW),
    "PPO, staggered": replace(FORWARD, stagger=True),
    "TRPO": Training("trpo", timesteps=STEPS),
    "QRDQN": Training("qr-dqn", timesteps=STEPS),
    "A2C": Training("a2c", timesteps=STEPS),
}
ONE_WORLD = {"piecewise": WORLDS["piecewise"]}
CHOICES = Size(VARIANTS, 1_000, 200, 200, (0, 1), ("kl-ucb",), families=ONE_WORLD)
TINY = {
    "PPO": Training("ppo", timesteps=256, settings=FEW),
    "PPO, from rewards": Training("ppo", timesteps=256, settings=FEW, learn_from="reward"),
}
QUICK_CHOICES = Size(TINY, 50, 5, 20, (0, 1), ("kl-ucb",), families=ONE_WORLD)
