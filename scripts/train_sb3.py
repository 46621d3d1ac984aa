"""Train PPO, A2C, recurrent PPO or DQN on random worlds and hold it against the zoo.

python scripts/train_sb3.py --algo ppo --timesteps 3000000 --out results/ppo
python scripts/train_sb3.py --env NSBandit-Piecewise-v0:n_arms=5,horizon=1000,changes=4 --out results/ppo-5
"""

from __future__ import annotations

from ns_mab_gym.rl.command import main

if __name__ == "__main__":
    main()
