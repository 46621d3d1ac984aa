"""ActivePTW against others on random abrupt worlds: the experiment of its authors' public code.

Source: Veness, Hutter, György, Grau-Moya, "Partition Tree Weighting for Non-Stationary Stochastic Bandits", 2025, arXiv
2502.19325, and the main program of its public C++, whose defaults are the setting: K = 10 arms, T = 2 500 rounds, 400
repetitions; after each round, with probability 0.002, the means of all arms are drawn anew, uniformly on [0, 1]. Regret
is measured against the best arm of each round. SW-UCB has the window 1/0.002 = 500. A second problem without changes.

Published: curves, whose numbers could not be read, as could not the paper beyond its first pages. A summary of it says
that ActivePTW and its variant with forced exploration outperform several of the others where there are changes, and
often match Thompson sampling where there are none.

Differences: the public code repeats one instance with other seeds of the agents, here every repetition has its own
instance. Its Thompson sampling begins with Beta(½, ½), ours with Beta(1, 1). MALG with UCB1 is ``master``. "As coded"
has the code's depth and split, but draws the level for the coming round. Measured here: ahead of all but KL-UCB, which
on average over instances is ahead of ActivePTW at this rate of changes.

python scripts/published/active_ptw.py
"""

from __future__ import annotations

from _common import Player, final_regrets, mean_and_error

from ns_mab_gym import worlds

RATES = (0.002, 0.0)
RUNS = 400
PLAYERS: dict[str, Player] = {  # by their names in the source
    "ActivePTW": ("active-ptw", {}),
    "ActivePTW, as coded": ("active-ptw", {"depth": 30, "split": 0.1}),
    "TS": ("ts", {}),
    "UCB": ("ucb1", {}),
    "KLUCB": ("kl-ucb", {"c": 2.0}),  # its ln(1 + t ln² t) is about ln t + 2 ln ln t
    "SWUCB": ("sw-ucb", {"window": 500}),
    "MALG": ("master", {}),
}


def main() -> None:
    """Print what is stated beside what is measured."""
    for rate in RATES:
        stated = "ActivePTW beats several of the others" if rate else "ActivePTW is about as good as TS"
        print(f"\nchanges with probability {rate} per round, K = 10, T = 2 500, {RUNS} runs; stated: {stated}")
        world = worlds.Piecewise(horizon=2_500, n_arms=10, rate=rate)
        table = {title: mean_and_error(final_regrets(world, player, RUNS)) for title, player in PLAYERS.items()}
        for title, (mean, error) in sorted(table.items(), key=lambda row: row[1]):
            print(f"  {title:<20} {mean:>8.1f} ± {error:.1f}")


if __name__ == "__main__":
    main()
