"""Measure what matters in training: trainings that differ from the usual one in one thing, on one family of worlds.

python scripts/deep_choices.py --jobs 2            # everything, into results/choices; the same command goes on
python scripts/deep_choices.py --quick             # two tiny trainings, into results/choices-quick
python scripts/deep_choices.py --jobs 2 --write    # and put the figures into docs/figures.json, and write the pages
"""

from __future__ import annotations

from deep_table import FEW, WORLDS, Size, measure_and_write

from ns_mab_gym.cli.parser import leave
from ns_mab_gym.rl.training import Training

LONG: dict[str, int] = {"timesteps": 1_500_000}
SLOW = {"learning_rate": 1e-3}
VARIANTS = {
    "RecurrentPPO": Training("recurrent-ppo", **LONG),
    "RecurrentPPO, from rewards": Training("recurrent-ppo", **LONG, learn_from="reward"),
    "RecurrentPPO, rate 0.001": Training("recurrent-ppo", **LONG, settings=SLOW),
    "RecurrentPPO, sequences of 32 rounds": Training("recurrent-ppo", **LONG, settings={"n_steps": 32, "n_envs": 1024}),
    "RecurrentPPO, no statistics": Training("recurrent-ppo", **LONG, windows=()),
    "RecurrentPPO, no statistics, rate 0.001": Training("recurrent-ppo", **LONG, windows=(), settings=SLOW),
    "PPO": Training("ppo", **LONG),
    "PPO, from rewards": Training("ppo", **LONG, learn_from="reward"),
    "PPO, staggered": Training("ppo", **LONG, stagger=True),
    "TRPO": Training("trpo", **LONG),
}
TINY = {
    "PPO": Training("ppo", timesteps=256, settings=FEW),
    "PPO, from rewards": Training("ppo", timesteps=256, settings=FEW, learn_from="reward"),
}
FAMILIES = {"piecewise": WORLDS["piecewise"]}
WHOLE = Size(VARIANTS, 1_000, 200, 200, (0, 1), ("kl-ucb",), zoo=(), families=FAMILIES)
QUICK = Size(TINY, 50, 5, 20, (0, 1), ("kl-ucb",), zoo=(), families=FAMILIES)

if __name__ == "__main__":
    leave(measure_and_write("deep-choices", __doc__ or "", "results/choices", WHOLE, QUICK))
