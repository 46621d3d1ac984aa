"""Rank every agent on many worlds: `python scripts/leaderboard.py --help`. The same as `ns-mab-gym leaderboard`."""

from ns_mab_gym.cli.parser import leave
from ns_mab_gym.cli.studies import leaderboard

if __name__ == "__main__":
    leave(leaderboard(command="leaderboard.py"))
