"""What the pages say about speed: of agents, environments and the theory, and how it changes with the size of a run."""

from __future__ import annotations

from collections.abc import Sequence

from quoting.markdown import Figures, number, table

__all__ = ["growth", "long_runs", "rl_simulate", "speed_of_agents", "speed_of_the_rest", "vector"]


def speed_of_agents(figures: Figures) -> str:
    """Microseconds per step of each agent, and the ratio to drawing every sample."""
    measured = figures["agents"]["figures"]["agents"]
    rows = [
        (f"`{name}`", number(each["microseconds"], ".2f"), number(each["ratio"], ".2f"))
        for name, each in measured.items()
    ]
    return table(("agent", "µs per step", "ratio to the time NumPy takes to draw every Beta sample"), rows)


def speed_of_the_rest(figures: Figures) -> str:
    """A table of all other ratios of two times."""
    agents, env, theory = (figures[name]["figures"] for name in ("agents", "env", "theory"))
    peers = figures["peers"]["figures"]["times_as_long"]
    loading = [seconds for seconds in figures["loading"]["figures"]["seconds"].values() if seconds is not None]
    slowest = max(loading) if loading else None
    rows = [
        ("two threads", "one thread", f"{number(agents['two_threads'], '.1f')} times as fast"),
        ("pymab's compiled sliding-window Thompson sampling", "`beta-swts`", _spread(peers["pymab"])),
        ("river's Thompson sampling", "`ts`", _spread(peers["river"])),
        (
            "a `step` of `NSBandit-Abrupt-v0`",
            "one of CartPole",
            f"{number(env['ratio_to_cartpole'], '.2f')} of its time",
        ),
        (
            "`theory.unlearnable_set`, T = 10⁶, K = 10",
            "one pass of SciPy's minimum filter",
            f"{number(theory['ratio_to_minimum_filter'], '.1f')} times as long",
        ),
        (
            "the first call of `simulate` in a new process",
            "",
            f"at most {number(slowest, '.1f')} s, if compiled before",
        ),
    ]
    return table(("what", "against", "measured"), rows)


def _spread(times: Sequence[float] | None) -> str:
    least, most = times or (None, None)
    return f"{number(least, '.0f')} to {number(most, '.0f')} times as long, in three runs"


def vector(figures: Figures) -> str:
    """The native vector environment and the adapter, as multiples of what they replace."""
    columns = ("native_to_sync", "adapter_to_dummy", "adapter_to_dummy_reading_infos")
    rows = [
        (f"`{env_id}`", *(number(times[column], ".0f") for column in columns))
        for env_id, times in figures["vector"]["figures"].items()
    ]
    header = (
        "256 of",
        "`make_vec` against `SyncVectorEnv`",
        "`SB3VecEnv` against `DummyVecEnv`",
        "the same, every info read",
    )
    return table(header, rows)


def growth(figures: Figures) -> str:
    """Nanoseconds per step by horizon, by window and by number of arms, and the memory of the longest run."""
    measured = figures["growth"]["figures"]
    arms = measured["by_arms"]
    tables = [
        _costs("T =", {"`beta-swts`": measured["by_horizon"]}),
        _costs("T = 100,000, τ =", {"`beta-swts`": measured["by_window"]}),
        _costs("T = 20,000, K =", {f"`{agent}`": costs for agent, costs in arms.items()}),
        f"A run of `beta-swts` with T = 10⁷ takes {number(measured['gigabytes'], '.1f')} GB of memory.",
    ]
    return "\n\n".join(tables)


def _costs(over: str, costs: dict[str, dict[str, float | None]]) -> str:
    columns = next(iter(costs.values()))
    rows = [(row, *(number(ns, ",.0f") for ns in each.values())) for row, each in costs.items()]
    return table((over, *(f"{int(column):,}" for column in columns)), rows)


def long_runs(figures: Figures) -> str:
    """The time of a step and the memory of runs of up to 10^8 rounds, and the largest error of a regret after them."""
    measured = figures["endurance"]["figures"]
    rows = [
        (f"{int(t):,}", f"{each['microseconds']:.2f}", f"{each['megabytes']:,.1f}", f"{each['means']:,.1f}")
        for t, each in measured["table"].items()
    ]
    header = ("T", "µs per step", "MB that the run adds to the process", "MB of its means, 8 T K bytes")
    worst = max(each["regret"] for each in measured["errors"].values())
    said = (
        f"After 10⁸ rounds the relative error of the regret, a plain sum of floats, was at most {worst:.0e} "
        f"({len(measured['errors'])} agents, compared with exact arithmetic)."
    )
    return f"{table(header, rows)}\n\n{said}"


def rl_simulate(figures: Figures) -> str:
    """How many times as fast the runs of a model are at once, as a sentence."""
    measured = figures["rl_simulate"]["figures"]
    return (
        f"{measured['runs']:,} runs of {measured['rounds']:,} rounds (five arms, two layers of 64, one core) are "
        f"{measured['times']:.0f} times as fast as one by one."
    )
