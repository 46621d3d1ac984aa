"""Ranks of the leaderboard: final regrets by division, mean ranks with intervals, leaders by topic, and the guide."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..runs import Runs
from ..statistics import RESAMPLES, SEED, bootstrap_means, ranks_of
from ..studies.results import Results, StudyTotals
from .plan import DIVISIONS, INFORMED, PAPER, UNINFORMED, BoardPlan, BoardWorld, Contestant

Floats = npt.NDArray[np.float64]
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

    @cached_property
    def ranked(self) -> list[str]:
        """The agents that have a place: those that compete and play every world that counts."""
        worlds = [self.worlds[number].label for number in self.counting]
        return [
            label
            for label, competes in zip(self.labels, self.competes, strict=True)
            if competes and all((label, world) in self.finals for world in worlds)
        ]

    def means(self, labels: Sequence[str], worlds: Sequence[BoardWorld]) -> Floats:
        """(A, W) the mean final regret; NaN where an agent does not play."""
        means = [self._mean(self.finals, label, world.label) for label in labels for world in worlds]
        return np.array(means, dtype=np.float64).reshape(len(labels), len(worlds))

    def of_reference(self, label: str) -> Floats:
        """(W,) the mean final regret of a reference; NaN where it does not play."""
        return np.array([self._mean(self.references, label, world.label) for world in self.worlds])

    @cached_property
    def to_best(self) -> Floats:
        """(A, W) mean regret, divided by the least of the agents that compete on that world."""
        means = self.means(self.labels, self.worlds)
        return np.asarray(means / np.nanmin(means[list(self.competes)], axis=0))

    @cached_property
    def to_oracle(self) -> Floats:
        """(A, W) mean regret, divided by that of oracle-restart; NaN where that one means nothing."""
        phased = np.array([world.label in self.phased for world in self.worlds])
        return np.asarray(self.means(self.labels, self.worlds) / np.where(phased, self.of_reference(ORACLE), np.nan))

    def with_runs(self, first: bool) -> Division:
        """The same division with the first, or the second, half of the runs of every world."""
        halved = {pair: _half(runs, first) for pair, runs in self.finals.items()}
        return replace(
            self, finals=halved, references={key: _half(each, first) for key, each in self.references.items()}
        )

    def on(self, worlds: Sequence[BoardWorld]) -> Division:
        """The same division on some of its worlds."""
        return replace(self, worlds=worlds)

    @staticmethod
    def _mean(finals: dict[tuple[str, str], Floats], label: str, world: str) -> float:
        runs = finals.get((label, world))
        return float("nan") if runs is None else max(float(runs.mean()), LEAST)


def _half(runs: Floats, first: bool) -> Floats:
    middle = len(runs) // 2
    return runs[:middle] if first else runs[middle:]


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
            for name, runs in _played(plan, results, world, each):
                finals[REFERENCES if each.reference else name][each.label, world.label] = runs.final.copy()
                if each.label == ORACLE and all(told.get("at") == "breakpoints" for told in runs.parameters):
                    phased.add(world.label)
    references = finals.pop(REFERENCES)
    found = [_division(plan, name, there, references, frozenset(phased)) for name, there in finals.items()]
    return [division for division in found if any(division.competes)], totals


def _played(plan: BoardPlan, results: Results, world: BoardWorld, contestant: Contestant) -> Iterator[tuple[str, Runs]]:
    """The divisions in which a contestant plays a world, with its runs."""
    played = results.agents.get(world.label, {})
    for name, form in plan.forms[world.label, contestant.label].items():
        if form.label in played:
            yield name, results.curves[world.label][form.label]


def _division(
    plan: BoardPlan,
    name: str,
    finals: dict[tuple[str, str], Floats],
    references: dict[tuple[str, str], Floats],
    phased: frozenset[str],
) -> Division:
    """A division of the agents that have runs, on the worlds with runs of an agent that competes."""
    playing = {label for label, _ in finals}
    there = [each for each in plan.contestants if each.label in playing]
    competing = {each.label for each in there if each.competes}
    compared = {world for label, world in finals if label in competing}
    worlds = [world for world in plan.worlds if world.label in compared]
    labels, competes = [each.label for each in there], [each.competes for each in there]
    return Division(name, worlds, labels, competes, finals, references, phased)


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
        halves: the mean ranks in the same order by the first and by the second half of the runs; None if there is only
            one run.
    """

    division: Division
    rows: Sequence[LeaderboardRow]
    alike: npt.NDArray[np.bool_]
    halves: tuple[Floats, Floats] | None

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
    ranked, worlds = division.ranked, [division.worlds[number] for number in division.counting]
    ranks = ranks_of(division.means(ranked, worlds))
    mean = weighted(ranks, division.families)
    samples = ranks @ resampled_weights(division.families).T  # (A, B)
    lows, highs = np.quantile(samples, [0.025, 0.975], axis=1)
    order = np.argsort(mean, kind="stable").tolist()
    places = 1 + (mean[None] < mean[:, None] - 1e-12).sum(axis=1)
    rows = [
        LeaderboardRow(
            ranked[n], int(places[n]), float(mean[n]), float(lows[n]), float(highs[n]), *_ratios(division, ranked[n])
        )
        for n in order
    ]
    return DivisionStandings(division, rows, _alike(samples[order]), _halves(division, order))


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


def _alike(samples: Floats) -> npt.NDArray[np.bool_]:
    """(A, A) whether the 95 % interval of the difference of two mean ranks, over the same samples, holds 0."""
    found = np.empty((len(samples), len(samples)), np.bool_)
    for number, each in enumerate(samples):
        low, high = np.quantile(samples - each, [0.025, 0.975], axis=1)
        found[number] = (low <= 0) & (high >= 0)
    return np.asarray(found | found.T)


def _ratios(division: Division, label: str) -> tuple[float, float, int, int, float, str]:
    row, counting = division.labels.index(label), division.counting
    ratios = division.to_best[row, counting]
    to_oracle = division.to_oracle[row, counting]
    there = ~np.isnan(to_oracle)
    known = [family for family, has in zip(division.families, there, strict=True) if has]
    worst = int(ratios.argmax())
    return (
        float(np.exp(weighted(np.log(ratios), division.families))),
        float(np.exp(weighted(np.log(to_oracle[there]), known))) if known else float("nan"),
        int((ratios == 1).sum()),
        int((ratios <= CLOSE).sum()),
        float(ratios[worst]),
        division.worlds[counting[worst]].label,
    )


def _halves(division: Division, order: Sequence[int]) -> tuple[Floats, Floats] | None:
    worlds = [division.worlds[number] for number in division.counting]
    if min((len(runs) for runs in division.finals.values()), default=0) < 2:
        return None
    first, second = (
        weighted(ranks_of(division.with_runs(half).means(division.ranked, worlds)), division.families)[order]
        for half in (True, False)
    )
    return first, second


CHANCE = "random"
LEVEL = 0.95
TINY = 1e-12  # the spread of differences that are always the same, but for rounding


@dataclass(frozen=True)
class Leader:
    """The agent with the least regret on some worlds.

    Attributes:
        label: the agent's.
        alike: agents whose regret is not distinguishable from its, the least first.
        to_oracle: its regret divided by oracle-restart's; NaN where that means nothing on some of the worlds.
        to_chance: its regret divided by that of random play; NaN if that was not played.
        worlds: the labels of the worlds.
    """

    label: str
    alike: tuple[str, ...]
    to_oracle: float
    to_chance: float
    worlds: tuple[str, ...]


def leader_on(division: Division, worlds: Sequence[BoardWorld]) -> Leader | None:
    """The agent with the least geometric mean of regret on some worlds; None if nobody plays all of them.

    Another agent is not distinguishable from it if the interval of the logarithm of their ratio holds 0. Runs are
    resampled in pairs, and so are the worlds if there are several. The intervals hold for all pairs of agents together
    with 95 % (from the largest |t|), so that they are right whoever turns out to be the best of thirty.
    """
    pairs = zip(division.labels, division.competes, strict=True)
    labels = [
        label for label, competes in pairs if competes and all((label, w.label) in division.finals for w in worlds)
    ]
    if not labels:
        return None
    logs = np.log(division.means(labels, worlds)).mean(axis=1)
    order = np.argsort(logs, kind="stable")
    best = int(order[0])
    samples = _log_means(division, labels, worlds)
    reach = _factor(samples) * _spreads(samples)[best]
    alike = tuple(labels[number] for number in order[1:] if logs[number] - logs[best] <= reach[number])
    row = division.labels.index(labels[best])
    columns = [list(division.worlds).index(world) for world in worlds]
    chance = division.means([labels[best]], worlds)[0] / division.of_reference(CHANCE)[columns]
    return Leader(
        labels[best],
        alike,
        _geometric(division.to_oracle[row, columns]),
        _geometric(chance),
        tuple(world.label for world in worlds),
    )


def _geometric(ratios: Floats) -> float:
    return float(np.exp(np.log(ratios).mean()))


def _log_means(division: Division, labels: Sequence[str], worlds: Sequence[BoardWorld]) -> Floats:
    """(B, A) the mean over resampled worlds of ln(regret) of each agent, from resampled runs."""
    count = len(worlds)
    weights = np.random.default_rng(SEED).multinomial(count, np.full(count, 1 / count), size=RESAMPLES) / count
    total = np.zeros((RESAMPLES, len(labels)))
    for world, weight in zip(worlds, weights.T, strict=True):
        finals = np.stack([division.finals[label, world.label] for label in labels], axis=1)  # (R, A)
        total += weight[:, None] * np.log(np.maximum(bootstrap_means(finals), LEAST))
    return total


def _spreads(samples: Floats) -> Floats:
    """(A, A) the standard deviations of the differences of the columns of (B, A) samples."""
    covariance = np.atleast_2d(np.cov(samples.T))
    variances = np.diagonal(covariance)
    return np.sqrt(np.maximum(variances[:, None] + variances - 2 * covariance, 0))


def _factor(samples: Floats) -> float:
    """The half-width, in standard deviations, of intervals that hold for all pairs of columns of (B, A) samples."""
    spreads, off = _spreads(samples), samples - samples.mean(axis=0)
    largest = np.zeros(len(samples))
    for number, spread in enumerate(spreads):
        apart = np.abs(off - off[:, [number]])
        np.maximum(largest, (apart / np.where(spread > TINY, spread, np.inf)).max(axis=1), out=largest)
    return float(np.quantile(largest, LEVEL))


MANY = 6  # names of agents that are written out
TOLD = {INFORMED: "Told what it asks for,", UNINFORMED: "Told T and K alone,"}


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
    def sentence(self) -> str:
        """The advice in words."""
        said = {name: _in_words(leader) for name, leader in self.leaders.items()}
        if len(said) == 2 and len(set(said.values())) == 1:
            return f"Told the facts of the world or not, use {said[INFORMED]}."
        return " ".join(f"{TOLD[name]} use {words}." for name, words in said.items())


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


def general_advice(standings: Sequence[DivisionStandings]) -> list[str]:
    """The best and the safest agents over all kinds of worlds, and the worth of knowledge."""
    by_name = {each.division.name: each for each in standings if each.rows}
    found = [sentence for each in by_name.values() for sentence in (_first(each), _safest(each))]
    if len(by_name) == 2 and set(by_name[INFORMED].labels) & set(by_name[UNINFORMED].labels):
        found.append(_worth_of_knowledge(by_name[INFORMED].division, by_name[UNINFORMED].division))
    return found


def _first(standings: DivisionStandings) -> str:
    row, worlds = standings.rows[0], len(standings.division.counting)
    alike = [each.label for each, same in zip(standings.rows, standings.alike[0], strict=True) if same][1:]
    known = {INFORMED: "If you can tell an agent what it asks for", UNINFORMED: "If you know nothing but T and K"}
    rivals = f"over these families of worlds {', '.join(alike)} cannot be told apart from it"
    return (
        f"{known[standings.division.name]}, use {row.label}: it has the best mean rank of {len(standings.rows)} agents "
        f"({row.rank:.1f}, interval {row.low:.1f} to {row.high:.1f}), was best on {row.best_on} of {worlds} worlds and "
        f"{_reach(row, worlds)}; {rivals if alike else 'all others can be told apart from it'}."
    )


def _reach(row: LeaderboardRow, worlds: int) -> str:
    return (
        f"had at most {CLOSE:.0f} times the least regret on {row.close_on} of {worlds}, "
        f"at worst {row.worst:.1f} times ({row.worst_on})"
    )


def _safest(standings: DivisionStandings) -> str:
    row, worlds = min(standings.rows, key=lambda each: each.worst), len(standings.division.counting)
    return (
        f"The safest {standings.division.name} agent is {row.label} (place {row.place}): "
        f"it {_reach(row, worlds)}, the least of all these worst cases."
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


def orders_of(division: Division) -> list[tuple[str, list[str]]]:
    """The agents in the order of each rule, the best first."""
    elsewhere = division.on([world for world in division.worlds if world.family != PAPER])
    every_form = replace(division, competes=[True] * len(division.labels))
    rules: list[tuple[str, Callable[[], list[str]]]] = [
        (AS_STATED, lambda: standings_of(division).labels),
        ("mean rank, every world with the same weight", lambda: _by(division, lambda each: _ranks(each).mean(axis=1))),
        ("geometric mean of regret / best", lambda: _by(division, _log_ratio)),
        ("largest regret / best on any world", lambda: _by(division, lambda each: _to_least(each).max(axis=1))),
        ("only the first half of the runs", lambda: _by(division.with_runs(True), _mean_rank)),
        ("only the second half of the runs", lambda: _by(division.with_runs(False), _mean_rank)),
        ("without the paper's worlds", lambda: _by(elsewhere, _mean_rank) if elsewhere.worlds else []),
        ("further forms of an agent have places too", lambda: _by(every_form, _mean_rank)),
    ]
    return [(rule, order()) for rule, order in rules]


def _by(division: Division, score: Callable[[Division], Floats]) -> list[str]:
    return [division.ranked[number] for number in np.argsort(score(division), kind="stable")]


def _counting(division: Division) -> Floats:
    return division.means(division.ranked, [division.worlds[number] for number in division.counting])


def _ranks(division: Division) -> Floats:
    return ranks_of(_counting(division))


def _to_least(division: Division) -> Floats:
    means = _counting(division)
    return np.asarray(means / means.min(axis=0))


def _mean_rank(division: Division) -> Floats:
    return weighted(_ranks(division), division.families)


def _log_ratio(division: Division) -> Floats:
    return weighted(np.log(_to_least(division)), division.families)


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
    orders = {each.division.name: orders_of(each.division) if each.rows else [] for each in standings}
    return Findings(
        standings,
        general_advice(standings),
        advice_on_topics([each.division for each in standings]),
        {name: {rule: order[:TOP] for rule, order in found} for name, found in orders.items()},
        {each.division.name: stability(each) for each in standings},
    )


def stability(standings: DivisionStandings) -> str:
    """The dependence of the order on the luck of the runs: the two halves of them compared."""
    if standings.halves is None or len(standings.rows) < 2:
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
