"""What the pages say about the paper: verdicts on its sentences, and regrets on its worlds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from quoting.markdown import UNKNOWN, Figures, table, with_error

__all__ = ["open_verdicts", "regrets", "verdicts", "windows_of_the_paper", "zoo"]

HOLDS, FAILS, UNDECIDED = "holds", "does not hold", "undecided at this number of runs"
DEPENDS = "depends on the reading"
REFERENCES = ("oracle-restart", "random")
WORDS = {HOLDS: "holds", FAILS: "does not hold", UNDECIDED: "undecided", DEPENDS: "depends"}


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


def _by_world(regret: dict[str, dict[str, Sequence[float]]]) -> str:
    least = {world: min(found.values(), key=lambda pair: pair[0]) for world, found in regret.items()}

    def cell(world: str, row: str) -> str:
        text = with_error(regret[world][row])
        return f"**{text}**" if regret[world][row] == least[world] else text

    rows = next(iter(regret.values()))
    return table(("agent", *regret), [(row, *(cell(world, row) for world in regret)) for row in rows])


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
