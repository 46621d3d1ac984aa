"""Train deep agents on random worlds and compare them with the zoo. The same as `ns-mab-gym train`.

python scripts/train_sb3.py --algo ppo --timesteps 3e6 --seed 0 1 2 --out results/ppo
python scripts/train_sb3.py --env NSBandit-Piecewise-v0:n_arms=5,horizon=1000,changes=4 --out results/ppo-5
"""

from ns_mab_gym.cli.parser import leave
from ns_mab_gym.cli.train import main

if __name__ == "__main__":
    leave(main(command="train_sb3.py"))
