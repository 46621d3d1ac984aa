"""The guide, "use this when …": every sentence is computed from the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .board_table import Division, Floats
from .board_worlds import BoardWorld
from .contestants import INFORMED, UNINFORMED
from .leaders import Leader, leader_on
from .standings import CLOSE, Standing, Standings, weighted

__all__ = ["Advice", "advice_on_topics", "general_advice"]

MANY = 6  # names of agents that are written out
TOLD = {INFORMED: "Told what it asks for,", UNINFORMED: "Told T and K alone,"}


@dataclass(frozen=True)
class Advice:
    """What to use on one kind of worlds.

    Attributes:
        topic: the kind.
        worlds: the labels of its worlds.
        leaders: the best agent of each division, by the division's name.
    """

    topic: str
    worlds: tuple[str, ...]
    leaders: dict[str, Leader]

    @property
    def sentence(self) -> str:
        """The advice in words."""
        said = {name: _in_words(leader) for name, leader in self.leaders.items()}
        if len(said) == 2 and len(set(said.values())) == 1:
            return f"Told the facts of the world or not, use {said[INFORMED]}."
        return " ".join(f"{TOLD[name]} use {words}." for name, words in said.items())


def advice_on_topics(divisions: Sequence[Division]) -> list[Advice]:
    """The best agents on every kind of worlds, in the order of the worlds."""
    topics: dict[str, list[BoardWorld]] = {}
    for world in divisions[0].worlds:
        topics.setdefault(world.topic, []).append(world)
    found = []
    for topic, worlds in topics.items():
        leaders = {each.name: leader for each in divisions if (leader := leader_on(each, worlds)) is not None}
        if leaders:
            found.append(Advice(topic, tuple(world.label for world in worlds), leaders))
    return found


def _in_words(leader: Leader) -> str:
    against = {
        f"{leader.to_oracle:.2f} times the regret of oracle-restart": leader.to_oracle,
        f"{leader.to_chance:.0%} of the regret of random play": leader.to_chance,
    }
    known = ", ".join(words for words, ratio in against.items() if not np.isnan(ratio))
    best = f"{leader.label} ({known})" if known else leader.label
    if not leader.alike:
        return f"{best}; these runs tell all others apart from it"
    more = f" and {len(leader.alike) - MANY} more" if len(leader.alike) > MANY else ""
    others = f"{', '.join(leader.alike[:MANY])}{more}"
    return f"{best}, or what these runs cannot tell apart from it: {others}"


def general_advice(standings: Sequence[Standings]) -> list[str]:
    """What to use if the kind of world is not known, and what knowledge is worth."""
    by_name = {each.division.name: each for each in standings if each.rows}
    found = [sentence for each in by_name.values() for sentence in (_first(each), _safest(each))]
    if len(by_name) == 2 and set(by_name[INFORMED].labels) & set(by_name[UNINFORMED].labels):
        found.append(_worth_of_knowledge(by_name[INFORMED].division, by_name[UNINFORMED].division))
    return found


def _first(standings: Standings) -> str:
    row, worlds = standings.rows[0], len(standings.division.counting)
    alike = [each.label for each, same in zip(standings.rows, standings.alike[0], strict=True) if same][1:]
    known = {INFORMED: "If you can tell an agent what it asks for", UNINFORMED: "If you know nothing but T and K"}
    rivals = f"over these families of worlds {', '.join(alike)} cannot be told apart from it"
    return (
        f"{known[standings.division.name]}, use {row.label}: it has the best mean rank of {len(standings.rows)} agents "
        f"({row.rank:.1f}, interval {row.low:.1f} to {row.high:.1f}), was best on {row.best_on} of {worlds} worlds and "
        f"{_reach(row, worlds)}; {rivals if alike else 'all others can be told apart from it'}."
    )


def _reach(row: Standing, worlds: int) -> str:
    return (
        f"had at most {CLOSE:.0f} times the least regret on {row.close_on} of {worlds}, "
        f"at worst {row.worst:.1f} times ({row.worst_on})"
    )


def _safest(standings: Standings) -> str:
    row, worlds = min(standings.rows, key=lambda each: each.worst), len(standings.division.counting)
    return (
        f"The safest {standings.division.name} agent is {row.label} (place {row.place}): "
        f"it {_reach(row, worlds)}, the least of all these worst cases."
    )


def _worth_of_knowledge(informed: Division, blind: Division) -> str:
    """Who gains most from being told, and who loses, as regret informed divided by regret blind."""
    labels = [label for label in informed.ranked if label in blind.ranked]
    worlds = [informed.worlds[number] for number in informed.counting]
    ratios: Floats = informed.means(labels, worlds) / blind.means(labels, worlds)
    worth = np.exp(weighted(np.log(ratios), informed.families))
    least, most, same = int(worth.argmin()), int(worth.argmax()), int(np.isclose(worth, 1, rtol=1e-3).sum())
    best, worst = f"{labels[least]} ({worth[least]:.0%}", f"{labels[most]} ({worth[most]:.0%}"
    gain = f"lowers the regret of {best} of its blind regret, geometric mean) the most" if worth[least] < 1 else ""
    loss = f"raises that of {worst}) the most" if worth[most] > 1 else ""
    effect = " and ".join(part for part in (gain, loss) if part) or "changes nobody's regret"
    return f"Being told the facts of the world {effect}; {same} of {len(labels)} agents make no use of them."
