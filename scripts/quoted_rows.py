"""Rows of tables that are made of several figures; ``quoted_blocks.toml`` names these functions.

Each takes the figures of all sections, by the name of the section.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scipy.stats import t as student_t

from ns_mab_gym.leaderboard.page import leaders_table

Figures = Mapping[str, Any]
Rows = Iterator[Mapping[str, Any]]
Row = Mapping[str, Any]
VERDICTS = {  # of a sentence of the paper, and the heading of a table
    "holds": "hold",
    "does not hold": "do not hold",
    "undecided": "undecided",
}
REFERENCES = ("oracle-restart", "random")  # one is told when the world changes, one learns nothing: no rivals
TWIN = ", tuned"  # the end of the label of a tuned rival
FIRST = 5  # agents of a race with their names
MEAN = "{0:,.0f} ± {1:,.0f}"  # a mean with its standard error


# The paper.


def verdicts(figures: Figures) -> Rows:
    """The number of sentences with each headline, and of those that depend on the reading, by world and altogether."""
    claims = figures["paper"]["claims"]
    found: dict[str, list[Row]] = {world: list(each.values()) for world, each in claims.items()}
    found["**all**"] = [each for several in found.values() for each in several]
    found["**all but †**"] = [each for each in found["**all**"] if not each["said_of"]]
    for world, several in found.items():
        counts = Counter(each["headline"] for each in several)
        depend = sum(bool(each["depends_on"]) for each in several)
        numbers = {VERDICTS[each]: counts[each] for each in VERDICTS}
        yield {"world": world, "sentences": len(several), **numbers, "of these depend on the reading": depend}


def open_verdicts(figures: Figures) -> Rows:
    """The sentences that 50 runs leave undecided or refute, or whose verdict depends, or changes with more runs."""
    for world, found in figures["paper"]["claims"].items():
        for key, each in found.items():
            more = each.get("more_runs")
            if each["headline"] != "holds" or each["depends_on"] or (more and more["headline"] != each["headline"]):
                title = f"{key}{' †' if each['said_of'] else ''}"
                yield {"sentence": title, "world": world, "50 runs": _verdict(each), "500 runs": _verdict(more)}


def _verdict(judged: Row | None) -> str:
    """The headline's verdict, then whether the other readings agree, or the choices on which it depends."""
    if judged is None:
        return "–"
    others = f"depends on {', '.join(f'*{key}*' for key in judged['depends_on'])}" if judged["depends_on"] else ""
    if not others and judged["readings"] > 1:
        others = "other readings agree"
    return "; ".join(filter(None, (judged["headline"], others)))


def by_world(figures: Figures, which: str) -> Rows:
    """The regret of each agent on each world, the least of each world in bold."""
    regret = figures["paper"][which]
    for agent in next(iter(regret.values())):
        cells = {}
        for world, found in regret.items():
            bold = "**" if found[agent][0] == min(mean for mean, _ in found.values()) else ""
            cells[world] = f"{bold}{MEAN.format(*found[agent])}{bold}"
        yield {"agent": agent, **cells}


def zoo(figures: Figures) -> Rows:
    """The regret of every agent on the paper's worlds, informed and blind, the best mean rank first."""
    agents = figures["paper"]["zoo"]
    worlds = list(next(iter(agents.values()))["regret"])
    rivals = [label for label in agents if label not in REFERENCES]
    means = {label: [agents[label]["regret"][world][0][0] for world in worlds] for label in agents}
    ranks = {
        label: sum(1 + sum(means[other][at] < mean for other in rivals) for at, mean in enumerate(means[label]))
        for label in rivals
    }
    for label in [*sorted(rivals, key=lambda label: ranks[label]), *(each for each in agents if each in REFERENCES)]:
        found = agents[label]
        cells = {world: " / ".join(MEAN.format(*pair) for pair in found["regret"][world]) for world in worlds}
        rank = f"{ranks[label] / len(worlds):.1f}" if label in ranks else "reference"
        yield {"agent": f"{'● ' if found['paper'] else ''}{label}", "mean rank": rank, **cells}


def leaders(figures: Figures) -> Rows:
    """The agent of least regret on worlds of each kind, as on the leaderboard's own page."""
    found = figures["leaderboard"]
    heading, rows = leaders_table(found["leaders"], list(found["first"]))
    yield from (dict(zip(heading, row, strict=True)) for row in rows)


COMPARED = ("sd 0.05", "sd 1", "sd 60", "sd 500")  # scales whose figures of earlier stand beside those of now


def scales(figures: Figures) -> Rows:
    """The regret of each agent as a share of that of random play, informed and blind, the least blind one first."""
    now, before = figures["scales"]["agents"], figures["scales-before"]["agents"]
    for agent in sorted(now, key=lambda agent: float(now[agent]["sd 1"][1])):
        cells = {}
        for scale, shares in now[agent].items():
            cells[scale] = _both_forms(shares)
            if scale in COMPARED:
                cells[f"{scale}, before"] = _both_forms(before[agent][scale]) if agent in before else "–"
        yield {"agent": f"`{agent}`", **cells}


def late(figures: Figures) -> Rows:
    """Regrets as shares of that of random play where rewards come late, and in brackets with late pulls not counted."""
    found = figures["late"]["agents"]
    for agent in sorted(found, key=lambda agent: float(found[agent]["counted"]["delay 500"])):
        cells = {}
        for when, share in found[agent]["counted"].items():
            now, plain = f"{share:.2f}", f"{found[agent]['not counted'][when]:.2f}"
            cells[when] = now if now == plain else f"{now} ({plain})"
        yield {"agent": f"`{agent}`", **cells}


def _both_forms(shares: Iterable[float]) -> str:
    """The shares of the two forms, once if they look the same."""
    return " / ".join(dict.fromkeys(f"{share:.2f}" for share in shares))


# Learning.


def _worlds(figures: Figures) -> Iterator[tuple[str, Row, list[Row]]]:
    """The worlds on which models are trained: their names, their figures, and the rivals from the least regret on."""
    for world, found in figures["deep-table"]["worlds"].items():
        rivals = [row for row in found["rivals"] if row["agent"] not in REFERENCES]
        yield world, found, sorted(rivals, key=lambda row: float(row["regret"]))


def _title(row: Row) -> str:
    """The name of a rival in a sentence."""
    name = f"`{row['agent'].removesuffix(TWIN)}`"
    return f"tuned {name}" if row["agent"].endswith(TWIN) else name


def best_regrets(figures: Figures) -> Rows:
    """The regrets of models on each world, of the best rivals, and of KL-UCB.

    Beside the regret of a model stands the number of rivals with more regret, with less, and undecided.
    """
    for world, found, rivals in _worlds(figures):
        best = [next(row for row in rivals if row["agent"].endswith(TWIN) == tuned) for tuned in (False, True)]
        kl_ucb = next(row for row in rivals if row["agent"] == "kl-ucb")
        cells = {}
        for row in found["models"]:
            counts = Counter(rival["learning"][row["agent"]]["learning"] for rival in rivals)
            cells[row["agent"]] = f"{row['regret']:,.0f} ({counts['wins']} / {counts['loses']} / {counts['undecided']})"
        yield {
            "{arms} arms, T = {horizon:,}, {rivals} rivals".format(**figures["deep-table"], rivals=len(rivals)): world,
            **cells,
            "best untuned rival": f"{best[0]['regret']:,.0f}, {_title(best[0])}",
            "best tuned rival": f"{best[1]['regret']:,.0f}, {_title(best[1])}",
            "`kl-ucb`": f"{kl_ucb['regret']:,.0f}",
        }


def training_costs(figures: Figures) -> Rows:
    """The time of training, racing, tuning and playing on each world, and the first of the race."""
    for world, found, _ in _worlds(figures):
        seconds = [each for row in found["models"] for each in row["seconds"]]
        yield {
            "world": world,
            "models": len(seconds),
            "their training, hours of one core": f"{sum(seconds) / 3600:.1f}",
            "race, s": f"{found['race_seconds']:.0f}",
            "tuning and playing, s": f"{found['seconds']:.0f}",
            "first in the race, with its regret": ", ".join(
                f"`{each['agent']}` {each['tuned']:,.0f}" for each in found["race"][:FIRST]
            ),
        }


def strongest_rivals(figures: Figures) -> Rows:
    """The regret of the strongest rival of each world minus that of each algorithm."""
    for world, _, (rival, *_) in _worlds(figures):
        cells = {
            name: "{more:+,.1f} ({low:+,.1f} to {high:+,.1f})".format(**beside).replace("-", "−")
            for name, beside in rival["learning"].items()
        }
        yield {"world": world, "strongest rival": _title(rival), **cells}


def error_reach(row: Row) -> float:
    """Half of the 95 % interval of a rival's mean regret."""
    return float(student_t.ppf(0.975, row["runs"] - 1) * row["se"])


def agents_of_world(figures: Figures, world: str) -> Rows:
    """All agents of a world, the least regret first, with their intervals, seeds and costs; references in italics."""
    found = figures["deep-table"]["worlds"][world]
    for row in sorted([*found["models"], *found["rivals"]], key=lambda row: float(row["regret"])):
        name, seeds, cost, words = f"**{row['agent']}**", "", "–", dict.fromkeys(found["rivals"][0]["learning"], "")
        if trained := "by_seed" in row:
            seeds = ", ".join(f"{mean:,.1f}" for mean in row["by_seed"])
            steps, seconds = (sum(row[key]) / len(row[key]) for key in ("steps", "seconds"))
            cost = f"{steps:,.0f} steps, {seconds:,.0f} s each"
        else:
            mark, words = "*" * (row["agent"] in REFERENCES), {key: row["learning"][key]["learning"] for key in words}
            name = f"{mark}{_title(row)}{mark}"
            cost = f"{row['steps']:,} steps, {row['seconds']:,.0f} s" if row["steps"] else cost
        ends = {} if trained else {"low": row["regret"] - error_reach(row), "high": row["regret"] + error_reach(row)}
        told = "{regret:,.1f} ({low:,.1f} to {high:,.1f})".format(**{**row, **ends})
        yield {"agent": name, "regret, 95 %": told, "by training seed": seeds, "training or tuning": cost, **words}


def training_choices(figures: Figures) -> Rows:
    """The regret after trainings that differ from the usual one in one thing."""
    measured = figures["deep-choices"]
    [(world, found)] = measured["worlds"].items()
    heading = f"{world}, {measured['arms']} arms, T = {measured['horizon']:,}"
    for row in sorted(found["models"], key=lambda row: (row["agent"].partition(",")[0], float(row["regret"]))):
        seeds = ", ".join(f"{mean:,.0f}" for mean in row["by_seed"])
        yield {heading: row["agent"], "regret": f"{row['regret']:,.0f}", "by seed": seeds}
    kl_ucb = next(row for row in found["rivals"] if row["agent"] == "kl-ucb")
    yield {heading: "`kl-ucb`", "regret": f"{kl_ucb['regret']:,.0f}", "by seed": ""}


# Costs.


def worker_rows(figures: Figures) -> Rows:
    """Units that sleep on a hundred workers: measured, without overhead, and by the model."""
    for kind, each in figures["workers"]["kinds"].items():
        for row in each["rows"]:
            rates = {"rate": row["number"] / row["wall"], "lost": (row["wall"] - row["ideal"]) / row["number"]}
            rates |= {"efficiency": row["ideal"] / row["wall"], "off": row["model"] / row["wall"] - 1}
            yield {"kind": kind, **row, **rates}


def overhead_rows(figures: Figures) -> Rows:
    """The seconds that the coordinator takes for a task, for a unit and for a byte."""
    for kind, each in figures["workers"]["kinds"].items():
        for part, words in (("processor", "its processor"), ("writer", "its writing thread")):
            yield {"kind": kind, "part": words, **each["overhead"][part]}


def large_study(figures: Figures) -> Rows:
    """The size of a study that is too large for one machine."""
    study = figures["workers"]["study"]
    hours, gigabytes = study["number"] * study["seconds"] / 3600, study["number"] * study["size"] / 1e9
    yield {**study, "hours": hours, "gigabytes": gigabytes, "step": study["seconds"] / study["steps"]}
