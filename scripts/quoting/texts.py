"""What the pages say about the figures: one function for each name, which turns all figures into Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

__all__ = ["TEXTS"]

Figures = dict[str, Any]
UNKNOWN = "–"  # a figure that was not measured yet
HOLDS, FAILS, UNDECIDED = "holds", "does not hold", "undecided at this number of runs"
DEPENDS = "depends on the reading"
REFERENCES = ("oracle-restart", "random")
WORDS = {HOLDS: "holds", FAILS: "does not hold", UNDECIDED: "undecided", DEPENDS: "depends"}


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def number(value: float | None, form: str) -> str:
    """The value in this format; a dash if it was not measured."""
    return UNKNOWN if value is None else format(value, form)


def with_error(pair: Sequence[float]) -> str:
    """A mean and its standard error."""
    mean, error = pair
    return f"{mean:,.0f} ± {error:,.0f}"


def verdicts(figures: Figures) -> str:
    """A table of how many of the paper's sentences hold on each of its worlds."""
    claims = figures["paper"]["figures"]["claims"]
    counted = {world: Counter(each["verdict"] for each in found.values()) for world, found in claims.items()}
    counted["**all**"] = sum(counted.values(), Counter())
    rows = [
        (world, str(counts.total()), *(str(counts[verdict]) for verdict in WORDS)) for world, counts in counted.items()
    ]
    return table(("world", "sentences", "hold", "do not hold", "undecided", "depend on the reading"), rows)


def open_verdicts(figures: Figures) -> str:
    """A table of the sentences that 50 runs leave open or whose verdict depends on the reading, and more runs."""
    claims = figures["paper"]["figures"]["claims"]
    open_ = [
        (world, key, each)
        for world, found in claims.items()
        for key, each in found.items()
        if each["verdict"] in (UNDECIDED, DEPENDS) or _differs(each)
    ]
    rows = [
        (f"{key}{' †' if each['said_of'] else ''}", world, _said(each), _said(each.get("more_runs")))
        for world, key, each in open_
    ]
    runs = {each["more_runs"]["runs"] for _, _, each in open_ if "more_runs" in each} or {500}
    return table(("sentence", "world", "50 runs", f"{', '.join(map(str, sorted(runs)))} runs"), rows)


def _differs(claim: dict[str, Any]) -> bool:
    return "more_runs" in claim and claim["more_runs"]["verdict"] != claim["verdict"]


def _said(judged: dict[str, Any] | None) -> str:
    """The headline's verdict, and on what it depends."""
    if judged is None:
        return UNKNOWN
    on = "".join(f", *{key}*" for key in judged["depends_on"]).replace(",", "; depends on", 1)
    return f"{WORDS[judged['headline']]}{on}"


def regrets(figures: Figures) -> str:
    """A table of the regret of the paper's algorithms on its four worlds, the least of each world in bold."""
    return _by_world(figures["paper"]["figures"]["regret"])


def windows_of_the_paper(figures: Figures) -> str:
    """A table of the regret of both samplers with the paper's five windows."""
    return _by_world(figures["paper"]["figures"]["sensitivity"])


def zoo(figures: Figures) -> str:
    """A table of every agent's regret on the paper's worlds, informed and blind, the best mean place first."""
    agents = figures["paper"]["figures"]["zoo"]
    worlds = list(next(iter(agents.values()))["regret"])
    compete = [label for label in agents if label not in REFERENCES]
    means = {world: {label: agents[label]["regret"][world][0][0] for label in compete} for world in worlds}
    places = {label: [1 + sum(m < means[w][label] for m in means[w].values()) for w in worlds] for label in compete}
    ordered = sorted(compete, key=lambda label: sum(places[label]))
    rows = [
        (
            f"{'● ' if agents[label]['paper'] else ''}{label}",
            f"{sum(places[label]) / len(worlds):.1f}" if label in places else "reference",
            *(" / ".join(map(with_error, agents[label]["regret"][world])) for world in worlds),
        )
        for label in [*ordered, *(label for label in agents if label in REFERENCES)]
    ]
    return table(("agent", "mean place", *worlds), rows)


def _by_world(regret: dict[str, dict[str, Sequence[float]]]) -> str:
    least = {world: min(found.values(), key=lambda pair: pair[0]) for world, found in regret.items()}

    def cell(world: str, row: str) -> str:
        text = with_error(regret[world][row])
        return f"**{text}**" if regret[world][row] == least[world] else text

    rows = next(iter(regret.values()))
    return table(("agent", *regret), [(row, *(cell(world, row) for world in regret)) for row in rows])


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


def stored(figures: Figures) -> str:
    """What a tiny unit costs in the store, alone and with others, and what a start costs with very many stored."""
    measured = figures["stored"]["figures"]
    files = [
        (units, *(f"{each[name]:,.0f}" for name in ("bytes", "encoding", "taking", "loading")))
        for units, each in measured["files"].items()
    ]
    starts = [
        (
            f"{int(units):,}",
            *(f"{each[name]:.1f}" for name in ("opening", "tidying", "looking_up")),
            f"{each['megabytes']:,.0f}",
        )
        for units, each in measured["starts"].items()
    ]
    costs = table(("units in a file", "bytes", "µs to encode", "µs to store", "µs to load"), files)
    header = ("units stored", "s to open", "s to tidy", "s to look all up", "MB beside the units themselves")
    return f"{costs}\n\n{table(header, starts)}"


def tiny_units(figures: Figures) -> str:
    """What very many tiny units cost beside the work itself, and the memory that the command takes for them."""
    measured = figures["tiny_units"]["figures"]
    rows = [
        (f"`{executor}`", *(f"{each[name]:.2f}" for name in ("wall", "overhead")), f"{each['megabytes']:+.0f}")
        for executor, each in measured.items()
    ]
    return table(("executor", "ms a unit", "of which overhead", "MB of memory"), rows)


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


def rl_simulate(figures: Figures) -> str:
    """How many times as fast the runs of a model are at once, as a sentence."""
    measured = figures["rl_simulate"]["figures"]
    return (
        f"{measured['runs']:,} runs of {measured['rounds']:,} rounds (five arms, two layers of 64, one core) are "
        f"{measured['times']:.0f} times as fast as one by one."
    )


def recommended_windows(figures: Figures) -> str:
    """A table of what the recommended window loses."""

    def row(agent: str, lost: dict[str, float | None]) -> tuple[str, ...]:
        paper = f"{number(lost['paper_least'], '.0%')} to {number(lost['paper_most'], '.0%')}"
        return f"`{agent}`", paper, *(number(lost[key], ".0%") for key in ("median", "worst", "median_of_suggested"))

    header = ("agent", "the paper's worlds", "others, median", "others, worst", "others, median with 4√(T ln T)")
    return table(header, [row(agent, lost) for agent, lost in figures["windows"]["figures"].items()])


def held_out(figures: Figures) -> str:
    """The trained model and the zoo on instances that it was not trained on."""
    measured = figures["deep"]["figures"]
    best = measured["best_window"]
    rows = [(f"`{each['agent']}`", with_error(each["regret"])) for each in measured["held_out"]]
    rows.append((f"`beta-swts` with τ = {best['window']}, the best in hindsight", with_error(best["regret"])))
    return table((f"agent, {measured['runs']} instances", "regret in round T"), rows)


def leaderboard(figures: Figures) -> str:
    """The first five of each division of the leaderboard: mean rank with its interval, regret relative to the best."""
    measured = figures["leaderboard"]["figures"]
    first = measured["first"]

    def cell(row: dict[str, Any]) -> str:
        return f"`{row['label']}`, {row['rank']:.1f} ({row['low']:.1f} to {row['high']:.1f}), {row['to_best']:.2f}"

    rows = [(str(place), *map(cell, level)) for place, level in enumerate(zip(*first.values(), strict=True), start=1)]
    return table((f"of {measured['agents']} agents, {measured['worlds']} worlds", *first), rows)


def tuned(figures: Figures) -> str:
    """A table of what `tune` loses against the best of a grid of windows, and how long it takes."""
    rows = []
    for which, one in figures["tuning"]["figures"].items():
        agent, world = which.split(", ")
        loss = f"{one['loss']:+.1%} ± {one['error']:.1%}"
        rows.append((f"`{agent}`", world, f"{one['window']:,}", f"{one['best']:,}", loss, f"{one['seconds']:.0f} s"))
    return table(("agent", "world", "its window", "the best of 41", "loss, standard error", "time"), rows)


def advised(figures: Figures) -> str:
    """A table of what `recommend` loses against the best of a full grid."""
    meant = {
        "advice": "`recommend`: agent and parameters, against the best of the full grid",
        "window": "its window for `beta-swts`, against the best window",
        "theory": "`theory.recommend_window`, against the best window",
    }
    rows = [
        (words, *(f"{figures['advice']['figures'][what][which]:+.1%}" for which in ("median", "worst")))
        for what, words in meant.items()
    ]
    return table(("24 instances", "median loss", "worst"), rows)


def workers(figures: Figures) -> str:
    """A hundred workers whose units sleep, beside the model, and the overheads from which the model computes."""
    measured = figures["workers"]["figures"]
    rows = [
        (
            kind,
            f"{row['seconds'] * 1e3:,.0f} ms",
            f"{row['number']:,}",
            f"{row['tasks']:,}",
            f"{row['number'] / row['wall']:,.0f}",
            f"{(row['wall'] - row['ideal']) / row['number'] * 1e3:.2g} ms",
            f"{row['ideal'] / row['wall']:.0%}",
            f"{row['wall']:.1f} s",
            f"{row['model']:.1f} s ({row['model'] / row['wall'] - 1:+.0%})",
        )
        for kind, each in measured["kinds"].items()
        for row in each["rows"]
    ]
    header = ("workers", "a unit", "units", "tasks", "units/s", "overhead per unit", "efficiency", "took", "model")
    costs = [
        (kind, words, f"{cost['task'] * 1e3:.1f} ms", f"{cost['unit'] * 1e6:.0f} µs", f"{cost['byte'] * 1e9:.1f} ms")
        for kind, each in measured["kinds"].items()
        for words, cost in zip(("its processor", "its writing thread"), each["overhead"].values(), strict=False)
    ]
    second = table(("workers", "what the coordinator takes", "for a task", "for a unit", "for a megabyte"), costs)
    return f"{table(header, rows)}\n\n{second}"


def large_study(figures: Figures) -> str:
    """What the model says of a study that is too large for one machine."""
    study = figures["workers"]["figures"]["study"]
    hours, gigabytes = study["number"] * study["seconds"] / 3600, study["number"] * study["size"] / 1e9
    said = (
        f"{study['runs']:,} runs of {study['rounds']:,} rounds are {study['number']:,} units of {study['seconds']:.2f} "
        f"seconds ({study['seconds'] / study['steps'] * 1e6:.2f} µs per step on one core, the mean of "
        f"{study['agents']} agents): {hours:,.0f} hours of a core, and {gigabytes:,.0f} GB on disk, "
        f"{study['size'] / 1e3:.0f} kB for each unit."
    )
    rows = [
        (
            f"{int(number):,}",
            str(row["units_per_task"]),
            f"{row['hours']:,.1f} h",
            f"{row['coordinator']:.0%}",
            f"{row['megabytes_per_second']:,.1f}",
        )
        for number, row in study["workers"].items()
    ]
    header = ("workers", "units in a task", "time", "coordinator busy", "MB/s written")
    return f"{said}\n\n{table(header, rows)}"


def provenance(figures: Figures) -> str:
    """Where and when each section was measured, and the command that does so again."""
    rows = []
    for name, section in figures.items():
        measured = section["measured"]
        versions = ", ".join(f"{package} {version}" for package, version in measured["versions"].items())
        rows.append((name, f"`{measured['command']}`", measured["date"], measured["machine"], versions))
    return table(("figures", "command", "measured", "machine", "versions"), rows)


TEXTS: dict[str, Callable[[Figures], str]] = {
    "verdicts": verdicts,
    "open-verdicts": open_verdicts,
    "regrets": regrets,
    "windows-of-the-paper": windows_of_the_paper,
    "zoo": zoo,
    "speed-of-agents": speed_of_agents,
    "speed-of-the-rest": speed_of_the_rest,
    "growth": growth,
    "long-runs": long_runs,
    "stored": stored,
    "tiny-units": tiny_units,
    "vector": vector,
    "rl-simulate": rl_simulate,
    "recommended-windows": recommended_windows,
    "held-out": held_out,
    "leaderboard": leaderboard,
    "tuned": tuned,
    "advised": advised,
    "workers": workers,
    "large-study": large_study,
    "provenance": provenance,
}
