"""What the pages say about learning: trained models beside rivals, world by world, and where each of them wins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ns_mab_gym.student_t import t_quantile
from quoting.learning_outcomes import called, is_tuned, outcomes, rivals_of, strongest
from quoting.markdown import UNKNOWN, Figures, table

__all__ = ["learning_in_short", "learning_table", "training_choices"]

SECTION, CHOICES = "deep-table", "deep-choices"
PODIUM = 5  # agents of a race that are named
Row = Mapping[str, Any]


def learning_table(figures: Figures) -> str:
    """For each world all agents with intervals, seeds and costs, and how each algorithm fares against each rival."""
    measured = figures[SECTION]["figures"]
    parts = [_about(measured), _of_races(measured["worlds"])]
    for world, found in measured["worlds"].items():
        parts += [f"**{world.capitalize()}**, `{found['world']}`:", _of_world(found), _beside_the_strongest(found)]
    return "\n\n".join(parts)


def _about(measured: Row) -> str:
    worlds = measured["worlds"].values()
    models = [row for found in worlds for row in found["models"]]
    count = sum(len(row["seconds"]) for row in models)
    hours = sum(sum(row["seconds"]) for row in models) / 3600
    racing, minutes = (sum(found[key] for found in worlds) / 60 for key in ("race_seconds", "seconds"))
    return (
        f"{count} models took {hours:.1f} hours of one core altogether; the races of the zoo took {racing:.0f} "
        f"minutes, tuning the rivals ({measured['tuning_runs']:,} runs each) and playing {measured['runs']} held-out "
        f"runs {minutes:.0f} minutes."
    )


def _of_races(worlds: Mapping[str, Row]) -> str:
    """The first of the zoo in each world, by what its tuning came to on instances of its own."""
    told = []
    for world, found in worlds.items():
        first = ", ".join(f"`{each['agent']}` {each['tuned']:,.0f}" for each in found["race"][:PODIUM])
        told.append(f"on {world}, {first}")
    count = min(len(found["race"]) for found in worlds.values())
    return f"All {count} agents that can be tuned raced on instances of their own; the first: {'; '.join(told)}."


def _of_world(found: Row) -> str:
    """A table of all agents of a world, the least regret first; references are in italics."""
    algorithms = [row["agent"] for row in found["models"]]
    rivals = rivals_of(found)
    rows = sorted([*found["models"], *found["rivals"]], key=lambda row: float(row["regret"]))
    cells = [
        [*_of_models(row), *("" for _ in algorithms)]
        if "by_seed" in row
        else [*_of_rival(row, row not in rivals), *(row["learning"][each]["learning"] for each in algorithms)]
        for row in rows
    ]
    return table(("agent", "regret, 95 %", "by training seed", "training or tuning", *algorithms), cells)


def _of_models(row: Row) -> Sequence[str]:
    seeds = ", ".join(f"{mean:,.1f}" for mean in row["by_seed"])
    cost = f"{_mean(row['steps']):,.0f} steps, {_mean(row['seconds']):,.0f} s each"
    return f"**{row['agent']}**", _interval(row["regret"], row["low"], row["high"]), seeds, cost


def _of_rival(row: Row, reference: bool) -> Sequence[str]:
    reach = t_quantile(0.025, row["runs"] - 1) * row["se"]
    cost = f"{row['steps']:,} steps, {row['seconds']:,.0f} s" if row["steps"] else UNKNOWN
    name = f"*{called(row)}*" if reference else called(row)
    return name, _interval(row["regret"], row["regret"] - reach, row["regret"] + reach), "", cost


def _beside_the_strongest(found: Row) -> str:
    """By how much the strongest rival exceeds each algorithm."""
    rival = strongest(rivals_of(found))
    told = [
        f"{algorithm}: {_signed(beside['more'])} ({_signed(beside['low'])} to {_signed(beside['high'])})"
        for algorithm, beside in rival["learning"].items()
    ]
    return f"The regret of the strongest rival, {called(rival)}, minus that of {'; of '.join(told)}."


def learning_in_short(figures: Figures) -> str:
    """A short table of models and the best rivals, where each algorithm wins and loses, and the picture."""
    measured = figures[SECTION]["figures"]
    worlds = measured["worlds"]
    size = f"{measured['arms']} arms, T = {measured['horizon']:,}"
    algorithms = [row["agent"] for row in next(iter(worlds.values()))["models"]]
    header = (size, *algorithms, "best untuned rival", "best tuned rival", "`kl-ucb`")
    picture = "![Final regrets of trained models and of rivals on three families of worlds](docs/deep-table.png)"
    said = "\n".join(f"- {sentence}" for sentence in outcomes(worlds))
    drawn = f"Drawn by `{figures[SECTION]['measured']['command']}`."
    return "\n\n".join([table(header, [_short_row(*each) for each in worlds.items()]), said, picture, drawn])


def _short_row(world: str, found: Row) -> Sequence[str]:
    rivals = rivals_of(found)
    untuned = strongest([row for row in rivals if not is_tuned(row)])
    tuned = strongest([row for row in rivals if is_tuned(row)])
    kl_ucb = next(row for row in rivals if row["agent"] == "kl-ucb")
    shown = [*found["models"], untuned, tuned, kl_ucb]
    cells = [f"{row['regret']:,.0f}" for row in shown]
    models = cells[: len(found["models"])]
    return world, *models, f"{cells[-3]}, {called(untuned)}", f"{cells[-2]}, {called(tuned)}", cells[-1]


def training_choices(figures: Figures) -> str:
    """What a training comes to that differs from the usual one in one thing."""
    measured = figures[CHOICES]["figures"]
    [(world, found)] = measured["worlds"].items()
    rows = [
        (row["agent"], f"{row['regret']:,.0f}", ", ".join(f"{mean:,.0f}" for mean in row["by_seed"]))
        for row in sorted(found["models"], key=lambda row: (row["agent"].partition(",")[0], float(row["regret"])))
    ]
    kl_ucb = next(row for row in found["rivals"] if row["agent"] == "kl-ucb")
    steps = _mean(found["models"][0]["steps"])
    beside = (
        f"Each model played about {steps:,.0f} steps. `kl-ucb` has {kl_ucb['regret']:,.0f} in the same "
        f"{measured['runs']} runs."
    )
    header = (f"{world}, {measured['arms']} arms, T = {measured['horizon']:,}", "regret", "by seed")
    return f"{table(header, rows)}\n\n{beside}"


def _interval(mean: float, low: float, high: float) -> str:
    return f"{mean:,.1f} ({low:,.1f} to {high:,.1f})"


def _signed(value: float) -> str:
    return f"{value:+,.1f}".replace("-", "−")


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
