"""Rank every agent on many worlds: `python scripts/leaderboard.py --help`. The same as `ns-mab-gym leaderboard`."""

from ns_mab_gym.cli.door import leave
from ns_mab_gym.cli.leaderboard_command import main

if __name__ == "__main__":
    leave(main(command="leaderboard.py"))
