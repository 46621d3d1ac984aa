"""Ranks of the leaderboard: final regrets by division, mean ranks with intervals, leaders by topic, and the guide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..means import Floats
from ..statistics import LEVEL, RESAMPLES, SEED, bootstrap_means, may_be_as_good, ranks_of
from ..studies.results import Results, StudyTotals
from .plan import DIVISIONS, INFORMED, PAPER, UNINFORMED, BoardPlan, BoardWorld

ORACLE = "oracle-restart"
REFERENCES = "references"  # beside the divisions
LEAST = 1.0  # regret below one lost round counts as one, so that no ratio is infinite


@dataclass(frozen=True, eq=False)
class Division:
    """Agents that were told as much, on the worlds of the leaderboard.

    Attributes:
        name: "informed" or "blind".
        worlds: the W worlds, each with an agent that competes.
        labels: the A agents.
        competes: (A,) whether an agent can have a place: it is no further form of another one.
        finals: by the labels of agent and world, the final regret of each run; missing where an agent cannot play, or
            failed.
        references: the same of the agents that belong to no division.
        phased: the labels of the worlds that consist of phases, where oracle-restart starts over at the breakpoints.
    """

    name: str
    worlds: Sequence[BoardWorld]
    labels: Sequence[str]
    competes: Sequence[bool]
    finals: dict[tuple[str, str], Floats]
    references: dict[tuple[str, str], Floats]
    phased: frozenset[str]

    @cached_property
    def counting(self) -> list[int]:
        """The numbers of the worlds that count for ranks; all if none of them does."""
        found = [number for number, world in enumerate(self.worlds) if world.counts]
        return found or list(range(len(self.worlds)))

    @cached_property
    def families(self) -> list[str]:
        """The families of the worlds that count."""
        return [self.worlds[number].family for number in self.counting]

    def playing(self, worlds: Sequence[BoardWorld]) -> list[str]:
        """The agents that compete and play all of these worlds."""
        return [
            label
            for label, competes in zip(self.labels, self.competes, strict=True)
            if competes and all((label, world.label) in self.finals for world in worlds)
        ]

    @cached_property
    def ranked(self) -> list[str]:
        """The agents that have a place: those that compete and play every world that counts."""
        return self.playing([self.worlds[number] for number in self.counting])

    def means(self, labels: Sequence[str], worlds: Sequence[BoardWorld]) -> Floats:
        """(A, W) the mean final regret of agents or references; NaN where one does not play."""
        played = {**self.references, **self.finals}
        return np.array(
            [
                [max(float(played[a, w.label].mean()), LEAST) if (a, w.label) in played else np.nan for w in worlds]
                for a in labels
            ]
        ).reshape(len(labels), len(worlds))

    @cached_property
    def ranked_means(self) -> Floats:
        """(A, W) the mean final regret of the agents that have a place, on the worlds that count."""
        return self.means(self.ranked, [self.worlds[number] for number in self.counting])

    @property
    def mean_ranks(self) -> Floats:
        """(A,) the mean ranks of the agents that have a place, every family with the same weight."""
        return weighted(ranks_of(self.ranked_means), self.families)

    @cached_property
    def to_best(self) -> Floats:
        """(A, W) mean regret, divided by the least of the agents that compete on that world."""
        means = self.means(self.labels, self.worlds)
        return np.asarray(means / np.nanmin(means[list(self.competes)], axis=0))

    @cached_property
    def to_oracle(self) -> Floats:
        """(A, W) mean regret, divided by that of oracle-restart; NaN where that one means nothing."""
        phased = [world.label in self.phased for world in self.worlds]
        oracle = np.where(phased, self.means([ORACLE], self.worlds), np.nan)
        return np.asarray(self.means(self.labels, self.worlds) / oracle)

    @cached_property
    def halves(self) -> list[Division]:
        """The division with the first, and with the second, half of the runs; none if there is a single run."""
        if min(map(len, self.finals.values()), default=0) < 2:
            return []
        first = {pair: runs[: len(runs) // 2] for pair, runs in self.finals.items()}
        second = {pair: runs[len(runs) // 2 :] for pair, runs in self.finals.items()}
        return [replace(self, finals=first), replace(self, finals=second)]


def divisions_of(plan: BoardPlan, results: Results) -> tuple[list[Division], StudyTotals]:
    """The divisions with agents that compete, and the totals of all runs, from one pass over the worlds.

    Of the runs, the final regrets alone are held. Where runs of an agent are missing, it is as if it could not play.
    """
    totals, phased = StudyTotals(), set()
    finals: dict[str, dict[tuple[str, str], Floats]] = {name: {} for name in (*DIVISIONS, REFERENCES)}
    for world in plan.worlds:
        if world.entry in results.study.worlds:
            totals.add(results, world.entry)
        for each in plan.contestants:
            for name, form in plan.forms[world.label, each.label].items():
                if form.label in results.agents.get(world.label, {}):
                    runs = results.curves[world.label][form.label]
                    finals[REFERENCES if each.reference else name][each.label, world.label] = runs.final.copy()
                    if each.label == ORACLE and all(told.get("at") == "breakpoints" for told in runs.parameters):
                        phased.add(world.label)
    references, found = finals.pop(REFERENCES), []
    for name, there in finals.items():
        agents = [each for each in plan.contestants if each.label in {label for label, _ in there}]
        competing = {each.label for each in agents if each.competes}
        compared = {world for label, world in there if label in competing}
        worlds = [world for world in plan.worlds if world.label in compared]
        labels, competes = [each.label for each in agents], [each.competes for each in agents]
        if competing:
            found.append(Division(name, worlds, labels, competes, there, references, frozenset(phased)))
    return found, totals


SAMPLES = 4_000
CLOSE = 2.0  # regret of at most this many times the best is close to it


@dataclass(frozen=True)
class LeaderboardRow:
    """An agent's place.

    Attributes:
        label: the agent's.
        place: 1 is the best mean rank.
        rank: the mean rank, with its interval from ``low`` to ``high``.
        low: the lower end.
        high: the upper end.
        to_best: the geometric mean of regret divided by the least on each world.
        to_oracle: the same with oracle-restart's, where that has a meaning; NaN if nowhere.
        best_on: on how many worlds it has the least regret.
        close_on: on how many worlds its regret is at most twice the least.
        worst: its largest ratio to the best.
        worst_on: the label of the world where that is.
    """

    label: str
    place: int
    rank: float
    low: float
    high: float
    to_best: float
    to_oracle: float
    best_on: int
    close_on: int
    worst: float
    worst_on: str


@dataclass(frozen=True, eq=False)
class DivisionStandings:
    """The order of a division.

    Attributes:
        division: the table behind it.
        rows: the agents that have a place, the best first.
        alike: (A, A) in the same order, whether the interval of the difference of two mean ranks holds 0.
        halves: the mean ranks in the same order by the first and by the second half of the runs; none if there is a
            single run.
    """

    division: Division
    rows: Sequence[LeaderboardRow]
    alike: npt.NDArray[np.bool_]
    halves: Sequence[Floats]

    @property
    def labels(self) -> list[str]:
        """The agents that have a place, the best first."""
        return [row.label for row in self.rows]

    @property
    def groups(self) -> list[tuple[int, int]]:
        """The first and last places of the longest groups of agents that are all alike, of at least two."""
        found: list[tuple[int, int]] = []
        for first in range(len(self.rows)):
            last = first
            while last + 1 < len(self.rows) and self.alike[first : last + 2, first : last + 2].all():
                last += 1
            if last > first and (not found or last > found[-1][1]):
                found.append((first, last))
        return found


def standings_of(division: Division) -> DivisionStandings:
    """The order of a division's agents over the worlds that count."""
    means = division.mean_ranks
    samples = ranks_of(division.ranked_means) @ resampled_weights(division.families).T  # (A, B)
    lows, highs = np.quantile(samples, [0.025, 0.975], axis=1)
    places = 1 + (means[None] < means[:, None] - 1e-12).sum(axis=1)
    order = np.argsort(means, kind="stable")
    rows = []
    for n in order:
        row = division.labels.index(division.ranked[n])
        to_best, to_oracle = (ratios[row, division.counting] for ratios in (division.to_best, division.to_oracle))
        there = ~np.isnan(to_oracle)
        known = [family for family, has in zip(division.families, there, strict=True) if has]
        rows.append(
            LeaderboardRow(
                label=division.ranked[n],
                place=int(places[n]),
                rank=float(means[n]),
                low=float(lows[n]),
                high=float(highs[n]),
                to_best=float(np.exp(weighted(np.log(to_best), division.families))),
                to_oracle=float(np.exp(weighted(np.log(to_oracle[there]), known))) if known else np.nan,
                best_on=int((to_best == 1).sum()),
                close_on=int((to_best <= CLOSE).sum()),
                worst=float(to_best.max()),
                worst_on=division.worlds[division.counting[int(to_best.argmax())]].label,
            )
        )
    alike = np.abs(means[order] - means[order][:, None]) <= reaches(samples[order].T)
    return DivisionStandings(division, rows, alike, [half.mean_ranks[order] for half in division.halves])


TINY = 1e-12  # the spread of differences that are always the same, but for rounding


def reaches(samples: Floats) -> Floats:
    """(A, A) how far the difference of two columns may be off, for all pairs together with 95 %.

    It is the quantile of the largest |t| of all pairs, times the standard deviation of each, so that it is right
    whoever turns out to be the best of thirty.

    Args:
        samples: (B, A) bootstrap samples.
    """
    covariance = np.atleast_2d(np.cov(samples.T))
    variances = np.diagonal(covariance)
    spreads = np.sqrt(np.maximum(variances[:, None] + variances - 2 * covariance, 0))
    off, largest = samples - samples.mean(axis=0), np.zeros(len(samples))
    for number, spread in enumerate(spreads):
        apart = np.abs(off - off[:, [number]])
        np.maximum(largest, (apart / np.where(spread > TINY, spread, np.inf)).max(axis=1), out=largest)
    return np.asarray(float(np.quantile(largest, LEVEL)) * spreads)


def family_weights(families: Sequence[str]) -> Floats:
    """(W,) weights of worlds whose sum is the same in every family, and 1 in all.

    >>> family_weights(["a", "b", "b"]).tolist()
    [0.5, 0.25, 0.25]
    """
    names = list(dict.fromkeys(families))
    return np.array([1 / len(names) / families.count(family) for family in families])


def weighted(values: Floats, families: Sequence[str]) -> Floats:
    """(A,) means of (A, W) values in which every family has the same weight."""
    return np.asarray(values @ family_weights(families))


def resampled_weights(families: Sequence[str], samples: int = SAMPLES) -> Floats:
    """(B, W) weights of worlds if families are drawn with replacement, and then worlds within each drawn family."""
    rng = np.random.default_rng(SEED)
    names = list(dict.fromkeys(families))
    drawn = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=samples)  # (B, F)
    weights = np.zeros((samples, len(families)))
    for times, name in zip(drawn.T, names, strict=True):
        worlds = np.flatnonzero([family == name for family in families])
        counts = rng.multinomial(times * len(worlds), np.full(len(worlds), 1 / len(worlds)))
        weights[:, worlds] = counts / len(names) / len(worlds)
    return weights


CHANCE = "random"


@dataclass(frozen=True)
class Leader:
    """The agent with the least regret on some worlds.

    Attributes:
        label: the agent's.
        alike: agents that are not told apart from it, the least regret first.
        to_oracle: its regret divided by oracle-restart's; NaN where that means nothing on some of the worlds.
        to_chance: its regret divided by that of random play; NaN if that was not played.
    """

    label: str
    alike: tuple[str, ...]
    to_oracle: float
    to_chance: float

    def __str__(self) -> str:
        against = {
            f"{self.to_oracle:.2f} times the regret of oracle-restart": self.to_oracle,
            f"{self.to_chance:.0%} of the regret of random play": self.to_chance,
        }
        known = ", ".join(words for words, ratio in against.items() if not np.isnan(ratio))
        best = f"{self.label} ({known})" if known else self.label
        return f"{best}; {may_be_as_good(self.alike)}" if self.alike else f"{best}, ahead of all others beyond luck"


def leader_on(division: Division, worlds: Sequence[BoardWorld]) -> Leader | None:
    """The agent with the least geometric mean of regret on some worlds; None if nobody plays all of them.

    Another agent is not told apart from it if the interval of the logarithm of their ratio holds 0. Runs are
    resampled in pairs, and so are the worlds if there are several. The intervals are those of :func:`reaches`.
    """
    labels = division.playing(worlds)
    if not labels:
        return None
    logs = np.log(division.means(labels, worlds)).mean(axis=1)
    order = np.argsort(logs, kind="stable")
    best = int(order[0])
    reach = reaches(_log_means(division, labels, worlds))[best]
    alike = tuple(labels[number] for number in order[1:] if logs[number] - logs[best] <= reach[number])
    columns = [list(division.worlds).index(world) for world in worlds]
    to_oracle = division.to_oracle[division.labels.index(labels[best]), columns]
    leads, chance = division.means([labels[best], CHANCE], worlds)
    return Leader(labels[best], alike, *(float(np.exp(np.log(each).mean())) for each in (to_oracle, leads / chance)))


def _log_means(division: Division, labels: Sequence[str], worlds: Sequence[BoardWorld]) -> Floats:
    """(B, A) the mean over resampled worlds of ln(regret) of each agent, from resampled runs."""
    count = len(worlds)
    weights = np.random.default_rng(SEED).multinomial(count, np.full(count, 1 / count), size=RESAMPLES) / count
    total = np.zeros((RESAMPLES, len(labels)))
    for world, weight in zip(worlds, weights.T, strict=True):
        finals = np.stack([division.finals[label, world.label] for label in labels], axis=1)  # (R, A)
        total += weight[:, None] * np.log(np.maximum(bootstrap_means(finals), LEAST))
    return total


KNOWING = {
    INFORMED: "If you can tell an agent what it asks for",
    UNINFORMED: "If you know nothing but T, K and the law of rewards",
}


@dataclass(frozen=True)
class TopicAdvice:
    """The best agents on one kind of worlds.

    Attributes:
        topic: the kind.
        worlds: the labels of its worlds.
        leaders: the best agent of each division, by the division's name.
    """

    topic: str
    worlds: tuple[str, ...]
    leaders: dict[str, Leader]

    @property
    def shares(self) -> dict[str, tuple[str, float | None]]:
        """Of each division the best agent and its share of the regret of random play; None if that was not played."""
        return {
            name: (each.label, None if np.isnan(each.to_chance) else round(each.to_chance, 4))
            for name, each in self.leaders.items()
        }

    @property
    def sentence(self) -> str:
        """The advice in words."""
        said = {name: str(leader) for name, leader in self.leaders.items()}
        if len(said) == 2 and len(set(said.values())) == 1:
            return f"Informed or blind: {said[INFORMED]}."
        return " ".join(f"{name.capitalize()}: {words}." for name, words in said.items())


def advice_on_topics(divisions: Sequence[Division]) -> list[TopicAdvice]:
    """The best agents on every kind of worlds, in the order of the worlds."""
    topics: dict[str, list[BoardWorld]] = {}
    for world in divisions[0].worlds:
        topics.setdefault(world.topic, []).append(world)
    found = []
    for topic, worlds in topics.items():
        leaders = {each.name: leader for each in divisions if (leader := leader_on(each, worlds)) is not None}
        if leaders:
            found.append(TopicAdvice(topic, tuple(world.label for world in worlds), leaders))
    return found


def general_advice(standings: Sequence[DivisionStandings]) -> list[str]:
    """The best and the safest agents over all kinds of worlds, and the worth of knowledge."""
    by_name = {each.division.name: each for each in standings if each.rows}
    found = []
    for name, each in by_name.items():
        worlds = len(each.division.counting)
        first, safest = each.rows[0], min(each.rows, key=lambda row: row.worst)
        alike = [row.label for row, same in zip(each.rows, each.alike[0], strict=True) if same][1:]
        rivals = f"on other worlds of these kinds {may_be_as_good(alike)}" if alike else "all others are told apart"
        found += [
            f"{KNOWING[name]}, use {first.label}: it has the best mean rank of {len(each.rows)} agents "
            f"({first.rank:.1f}, interval {first.low:.1f} to {first.high:.1f}), was best on {first.best_on} of "
            f"{worlds} worlds and {_reach(first, worlds)}; {rivals}.",
            f"The safest {name} agent is {safest.label} (place {safest.place}): "
            f"it {_reach(safest, worlds)}, the least of all these worst cases.",
        ]
    if len(by_name) == 2 and set(by_name[INFORMED].labels) & set(by_name[UNINFORMED].labels):
        found.append(_worth_of_knowledge(by_name[INFORMED].division, by_name[UNINFORMED].division))
    return found


def _reach(row: LeaderboardRow, worlds: int) -> str:
    return (
        f"had at most {CLOSE:.0f} times the least regret on {row.close_on} of {worlds}, "
        f"at worst {row.worst:.1f} times ({row.worst_on})"
    )


def _worth_of_knowledge(informed: Division, blind: Division) -> str:
    """The agents that gain and lose most by knowledge, as regret informed divided by regret blind."""
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


AS_STATED = "as stated: mean rank, every family with the same weight"


def orders_of(division: Division) -> dict[str, list[str]]:
    """The agents in the order of each rule, the best first."""
    means, ranked = division.ranked_means, division.ranked
    ratios = means / means.min(axis=0)
    halves = [_by(half.mean_ranks, half.ranked) for half in division.halves] or [[], []]
    elsewhere = replace(division, worlds=[world for world in division.worlds if world.family != PAPER])
    every_form = replace(division, competes=[True] * len(division.labels))
    return {
        AS_STATED: _by(division.mean_ranks, ranked),
        "mean rank, every world with the same weight": _by(ranks_of(means).mean(axis=1), ranked),
        "geometric mean of regret / best": _by(weighted(np.log(ratios), division.families), ranked),
        "largest regret / best on any world": _by(ratios.max(axis=1), ranked),
        "only the first half of the runs": halves[0],
        "only the second half of the runs": halves[1],
        "without the paper's worlds": _by(elsewhere.mean_ranks, elsewhere.ranked) if elsewhere.worlds else [],
        "further forms of an agent have places too": _by(every_form.mean_ranks, every_form.ranked),
    }


def _by(scores: Floats, labels: Sequence[str]) -> list[str]:
    return [labels[number] for number in np.argsort(scores, kind="stable")]


TOP = 5  # places that are named in short


@dataclass(frozen=True, eq=False)
class Findings:
    """Everything that a leaderboard says, computed once.

    Attributes:
        standings: the order of each division.
        general: sentences for those who do not know the kind of their world.
        advice: the best agents on each kind of worlds.
        orders: by division and rule, the first few agents.
        stability: by division, the dependence of the order on the luck of the runs.
    """

    standings: Sequence[DivisionStandings]
    general: Sequence[str]
    advice: Sequence[TopicAdvice]
    orders: dict[str, dict[str, list[str]]]
    stability: dict[str, str]


def findings_of(standings: Sequence[DivisionStandings]) -> Findings:
    """The findings from the standings of the divisions, and from the tables behind them."""
    orders = {each.division.name: orders_of(each.division) if each.rows else {} for each in standings}
    return Findings(
        standings,
        general_advice(standings),
        advice_on_topics([each.division for each in standings]),
        {name: {rule: order[:TOP] for rule, order in found.items()} for name, found in orders.items()},
        {each.division.name: stability(each) for each in standings},
    )


def stability(standings: DivisionStandings) -> str:
    """The dependence of the order on the luck of the runs: the two halves of them compared."""
    if not standings.halves or len(standings.rows) < 2:
        return ""
    first, second = (1 + each.argsort(kind="stable").argsort() for each in standings.halves)
    moved = np.abs(first - second)
    most = int(moved.argmax())
    same = len(set(np.flatnonzero(first <= TOP)) & set(np.flatnonzero(second <= TOP)))
    correlation = float(np.corrcoef(first, second)[0, 1])
    return (
        f"Ranked by the first and by the second half of the runs, the two orders have a rank correlation of "
        f"{correlation:.3f}; {same} of the first {min(TOP, len(first))} are the same; "
        f"{standings.rows[most].label} moves most, by {moved[most]} places."
    )
