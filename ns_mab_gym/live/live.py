"""An agent in service: decisions are asked for one by one or in batches, and rewards come late, in any order, or never.

Everything that is answered is in a file first (:mod:`ns_mab_gym.live.file`). The agent is a pure function of what the
journal of that file has: its seed, the decisions that it made, and the rewards that it was shown, in their order.
"""

from __future__ import annotations

import bisect
import contextlib
import hashlib
import itertools
import json
import math
import os
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from ..agents.core.arguments import fraction, number, plain_text, positive, positive_int, shown
from ..agents.core.kernel import BoolArray, functions_of, observe, states_in
from ..agents.core.knowledge import Knowledge, MissingKnowledgeError
from ..agents.core.protocol import Agent, arrays_of
from ..agents.core.registry import kind, make, unpacked, write_text
from ..agents.parts.alarms import CAPACITY, log_in
from ..compilation import compiled
from ..logs.durations import seconds_of
from ..logs.log import Log
from .file import LiveFile, LiveFileError, save_state, saved_state

START = "changepoint-ucb"  # an agent that needs to be told nothing
DAY = 86_400.0  # seconds
NAMELESS = "a new file needs the names of the arms, as in arms=['blue', 'green']"
MOST_AT_ONCE = 100_000  # decisions or rewards of one call
OFTEN, BYTES = 1_000, 500  # the state is saved after so many choices and rewards, and one more for so many bytes of it
FAR = 100  # transactions; with more to repeat, a process takes the saved state of another one
MANY = 5_000  # rewards at once for which it pays to compile the agent's rule


class LiveError(ValueError):
    """A request that an agent in service cannot fulfil; nothing has changed."""


class UnknownDecisionError(LiveError):
    """A reward was given for an id that no decision has."""


class ConflictingRewardError(LiveError):
    """A second, different reward was given for a decision."""


class Decision(NamedTuple):
    """One answer: play this arm, and give its reward with this id.

    Attributes:
        id: 1, 2, 3, … in the order of decisions.
        arm: the name of the arm.
        probability: the probability with which this arm was chosen, by the agent's rule and the holdout together.
        holdout: whether it was chosen by the holdout, not by the agent.
    """

    id: int
    arm: str
    probability: float
    holdout: bool


class Learned(NamedTuple):
    """The numbers of rewards of one call that were new, known already, and too late to count."""

    new: int
    repeated: int
    late: int


@dataclass(frozen=True)
class ArmEstimate:
    """Decisions for an arm, and the rewards that came.

    Attributes:
        arm: its name.
        retired: whether it is played no more.
        decisions: how often it was chosen.
        rewards: how many rewards of these count, those that expired with a value among them.
        waiting: of how many the reward may still come.
        mean: the mean of these rewards; NaN without any.
        error: its standard error; NaN with fewer than two.
        believed: the mean that the agent itself expects in the next decision; NaN if it does not tell.
    """

    arm: str
    retired: bool
    decisions: int
    rewards: int
    waiting: int
    mean: float
    error: float
    believed: float


def name_of(given: object) -> str:
    """Return the name of an arm, which may be given as a number, such as a price."""
    try:
        name = str(given)
    except ValueError:  # an integer with more digits than Python spells
        name = shown(given)
    if not plain_text("the name of an arm", name, longest=100):
        raise ValueError("the name of an arm is empty; write a text")
    return name


def names_of(arms: Iterable[Any] | None) -> tuple[str, ...]:
    """Return the names of arms; none if they are not given."""
    try:
        names = () if arms is None else tuple(map(name_of, () if isinstance(arms, str | bytes) else arms))
    except TypeError:
        names = ("",)
    if arms is not None and (len(names) < 2 or len(set(names)) < len(names)):
        raise ValueError(f"arms must be a list of two or more different names, got {shown(arms)}")
    return names


def _observe_all(
    state: Any, binarize: bool, rng: np.random.Generator, arms: npt.NDArray[np.int64], rewards: npt.NDArray[np.float64]
) -> None:
    for i in range(arms.size):
        reward = rewards[i]
        if binarize:
            reward = 1.0 if rng.random() < reward else 0.0
        observe(state, arms[i], reward)


observe_all = compiled(_observe_all, called="an agent in service")


class Live:
    """An agent that makes decisions in service, and remembers every one that it has answered.

    Threads may share it, and several processes may open the same file; each repeats what the others did.

    Args:
        agent: a name such as "sw-ucb", with parameters as in "beta-swts:binarize=true", or a class.
        arms: the names of the arms; None takes those of the file.
        path: the file, made if it is absent. Another agent, other arms or settings than in the file are an error.
        window: the time that the agent's memory spans, such as "7d", and over which ``estimates`` are made. An agent
            with a window remembers as many decisions; others take them for T in their formulas, as ``notes`` say.
        horizon: the time that formulas take for T instead.
        per_day: the number of decisions expected in a day, by which time is turned into decisions.
        reward_range: the lowest and the highest reward. The agent sees rewards scaled to [0, 1]; others are errors.
            With None it sees rewards as they are.
        expire: the time after which a reward that has not come counts as ``expired_reward``; None waits for ever.
        expired_reward: the reward of a decision whose time ran out; None lets it count as no reward at all.
        holdout: the share of decisions in which the agent has no part, and whose rewards it is not shown.
        holdout_arm: the arm of these; None for a uniformly random open one.
        seed: of the agent and the holdout; random if not given.
        rebuild: make the agent anew from all remembered rewards, by the settings given here: another agent, another
            window, or the rate of decisions that was measured, if ``per_day`` is not given.
        power_safe: wait with every answer until the disk has it. Without, a crash or ``kill -9`` of the process loses
            nothing, but a power failure can lose the last answers before it.
        clock: gives the time in seconds since 1970.
    """

    def __init__(
        self,
        agent: Any = START,
        arms: Iterable[Any] | None = None,
        path: str | PathLike[str] = "",
        *,
        window: Any = None,
        horizon: Any = None,
        per_day: float | None = None,
        reward_range: tuple[float, float] | None = (0.0, 1.0),
        expire: Any = None,
        expired_reward: float | None = 0.0,
        holdout: float = 0.0,
        holdout_arm: Any = None,
        seed: int | None = None,
        rebuild: bool = False,
        power_safe: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not isinstance(path, str | PathLike) or str(path).strip() in ("", ":memory:"):
            raise ValueError(f"path must be the name of a file that outlives the process, got {shown(path)}")
        name, parameters = unpacked(agent)
        found = kind(name)
        title = name if isinstance(name, str) else f"{found.__module__}:{found.__qualname__}"
        self._given, self.clock, self._pace = agent, clock, None if per_day is None else positive("per_day", per_day)
        self.expire = None if expire is None else seconds_of("expire", expire)
        self.holdout = fraction("holdout", holdout)
        self.holdout_arm = None if holdout_arm is None else name_of(holdout_arm)
        told = names_of(arms)
        if reward_range is not None:
            ends = (
                [number("reward_range", end) for end in reward_range] if isinstance(reward_range, tuple | list) else []
            )
            if len(ends) != 2 or not ends[0] < ends[1]:
                raise ValueError(f"reward_range must be the lowest and the highest reward, got {shown(reward_range)}")
            reward_range = ends[0], ends[1]
        self._settings: dict[str, Any] = {
            "agent": write_text(title, sorted(parameters.items())),
            "arms": list(told),
            "window": None if window is None else seconds_of("window", window),
            "horizon": None if horizon is None else seconds_of("horizon", horizon),
            "per_day": self._pace,
            "reward_range": None if reward_range is None else list(reward_range),
            "seed": None if seed is None else positive_int("seed", seed, least=0),
        }
        self._loaded: Agent | None = None
        self.expired_reward = None if expired_reward is None or expire is None else self._reward(expired_reward, None)
        self._mask, self._number, self._since, self._often, self._fast = np.ones(0, np.bool_), 0, 0, OFTEN, False
        self._names, self._rounds = told, self._rounds_of(self._pace)
        if not os.path.exists(path):
            if not told:
                raise LiveError(NAMELESS)
            self._made(len(told), self._rounds)  # so that a mistake shows before there is a file
        self._file = LiveFile(Path(path), self._fill, power_safe)
        try:
            self._compare(rebuild)
            with self._writing(rebuilding=rebuild) as (db, now):
                if rebuild:
                    self._settings["per_day"] = self._pace or self._measured(db, now)
                    self._rounds = self._rounds_of(self._settings["per_day"])
                    self._rebuild(db, now, len(self._names))
            if self.holdout_arm is not None and self.holdout_arm not in self.arms:
                raise LiveError(f"holdout_arm must be one of {', '.join(self.arms)}, got {shown(holdout_arm)}")
        except BaseException:
            self._file.close()
            raise

    # The agent.

    @property
    def _agent(self) -> Agent:
        assert self._loaded is not None  # within a transaction
        return self._loaded

    def _rounds_of(self, per_day: float | None) -> dict[str, int | None]:
        """Return what window and horizon come to in decisions, at so many a day."""
        window, horizon = self._settings["window"], self._settings["horizon"] or self._settings["window"]
        spans = {"window": window, "horizon": horizon}
        if per_day is None:
            return dict.fromkeys(spans)
        return {key: None if span is None else max(1, round(span / DAY * per_day)) for key, span in spans.items()}

    def _made(self, n_arms: int, rounds: dict[str, int | None]) -> Agent:
        """Return the agent for so many arms, tuned for what a window of time comes to in decisions."""
        name, given = unpacked(self._given)
        found: Any = kind(name)
        title, reward_range = self._settings["agent"], self._settings["reward_range"]
        if not issubclass(found, Agent):
            raise TypeError(f"{title} is not derived from ns_mab_gym.agents.Agent, and cannot be saved and repeated")
        if not found.handles_delay:
            raise LiveError(f"{title} has no rule for rewards that arrive late; use {START}, beta-swts or sw-ucb")
        parameters, notes = dict(given), list[str]()
        law = Knowledge() if reward_range is None else Knowledge(subgaussian=0.5, support=(0.0, 1.0))
        told: dict[str, Any] = {"knowledge": law, "blind": True}
        try:
            if "window" in found.tunable() and "window" not in given and self._settings["window"]:
                if rounds["window"] is None:
                    raise MissingKnowledgeError
                parameters["window"] = rounds["window"]
                notes.append(f"{title} remembers {rounds['window']:,} decisions, which the window comes to")
            made: Agent = make(name, n_arms, rounds["horizon"], **told, **parameters)
            if made.accepts == "binary" and reward_range not in (None, [0.0, 1.0]) and "binarize" not in given:
                parameters["binarize"] = True
                notes.append(f"{title} takes 0 or 1: it sees a coin flip, with the scaled reward as its probability")
                made = make(name, n_arms, rounds["horizon"], **told, **parameters)
            with contextlib.suppress(MissingKnowledgeError):
                if make(name, n_arms, **told, **parameters).parameters == made.parameters:
                    rounds = {**rounds, "horizon": None}  # it takes none
        except MissingKnowledgeError:
            raise LiveError(
                f"{title} must be told how long to remember: give a window and the decisions expected in a day, as in "
                f"window='7d', per_day=5000; or take {START}, which needs neither"
            ) from None
        if rounds["horizon"]:
            notes.append(f"the formulas of {title} take T = {rounds['horizon']:,} decisions")
        elif self._settings["window"] and "window" not in parameters:
            notes.append(f"{title} has no use for a window, which is that of estimates alone")
        made.check_rewards(
            (-math.inf, math.inf) if reward_range is None else (0.0, 1.0), binary=reward_range is not None
        )
        if self.expired_reward is not None:
            self._reward(self.expired_reward, made)
        self.notes = tuple(notes)
        return made

    def _fill(self, db: sqlite3.Connection) -> None:
        """Write what a new file begins with."""
        if not self._names:
            raise LiveError(NAMELESS)
        if self._settings["seed"] is None:
            self._settings["seed"] = secrets.randbits(53)
        db.executemany("INSERT INTO settings VALUES (?, ?)", [(k, json.dumps(v)) for k, v in self._settings.items()])
        db.executemany("INSERT INTO arms VALUES (?, ?, 0)", enumerate(self._names))
        made = self._made(len(self._names), self._rounds)
        made.reset(self._settings["seed"])
        save_state(db, 0, {"rounds": self._rounds, "open": [True] * len(self._names)}, made.state_dict())

    def _compare(self, rebuild: bool) -> None:
        """Take the settings of the file for those that are not given; others are an error, unless it is rebuilt."""
        kept = {name: json.loads(value) for name, value in self._file.read("SELECT name, value FROM settings")}
        rows = self._file.read("SELECT name, retired FROM arms ORDER BY place")
        every, left = [name for name, _ in rows], [name for name, retired in rows if not retired]
        if self._names and list(self._names) not in (kept["arms"], every, left):
            raise LiveError(
                f"{str(self._file.path)!r} has the arms {', '.join(left)}, not {', '.join(self._names)}; use add() and "
                f"retire(), or name a new file"
            )
        mine = self._settings | {"arms": kept["arms"]}
        for name in ("seed", "per_day"):
            if mine[name] is None and not (rebuild and name == "per_day"):
                mine[name] = kept[name]
        if (other := [name for name in mine if mine[name] != kept[name]]) and not rebuild:
            raise LiveError(
                f"{str(self._file.path)!r} was made with {', '.join(f'{name} = {kept[name]}' for name in other)}, not "
                f"{', '.join(f'{mine[name]}' for name in other)}; give what it was made with, or rebuild=True to make "
                f"the agent anew from all remembered rewards"
            )
        self._settings, self._names = mine, tuple(every)

    @contextlib.contextmanager
    def _writing(self, *, rebuilding: bool = False) -> Iterator[tuple[sqlite3.Connection, float]]:
        """One transaction, for an agent that knows what other processes did; with the time, which never goes back."""
        before = -1
        with self._file.turn:  # which no other thread has before an agent that is ahead of the file is dropped
            try:
                with self._file.transaction() as db:
                    if not rebuilding:
                        self._catch_up(db)
                    before = self._number
                    last = db.execute("SELECT time FROM decisions ORDER BY id DESC LIMIT 1").fetchone()
                    now = max(float(self.clock()), last[0] if last else 0.0)
                    if not rebuilding:
                        self._expire(db, now)
                    yield db, now
                    if self._since >= self._often:
                        self._save(db)
            except BaseException:
                if self._number != before:
                    self._loaded = None
                raise

    def _note(self, db: sqlite3.Connection, now: float, what: str, about: Any) -> None:
        """Write a line of the journal; the agent changes only after it, so that a failure in between is noticed."""
        self._number += 1
        db.execute("INSERT INTO journal VALUES (?, ?, ?, ?)", (self._number, now, what, json.dumps(about)))

    def _catch_up(self, db: sqlite3.Connection) -> None:
        """Repeat what the journal has and this agent has not seen."""
        newest = db.execute("SELECT max(number) FROM journal").fetchone()[0] or 0
        if self._loaded is not None and newest == self._number:
            return
        if self._loaded is None or db.execute("SELECT number FROM state").fetchone()[0] > self._number + FAR:
            self._load(db)
        while self._number < newest:
            query = "SELECT number, what, about FROM journal WHERE number > ? ORDER BY number"
            for number_, what, about in db.execute(query, (self._number,)).fetchall():
                if what == "rebuild":
                    self._load(db)  # of this number or a later one
                    break
                self._repeat(db, number_, what, json.loads(about))
                self._number = number_

    def _load(self, db: sqlite3.Connection) -> None:
        try:
            number_, about, state = saved_state(db)
            kept = dict(db.execute("SELECT name, value FROM settings").fetchall())
            for name in ("agent", "reward_range", "seed"):
                if self._settings[name] != json.loads(kept[name]):
                    raise ValueError(f"{name} = {kept[name]}, here {json.dumps(self._settings[name])}")
            self._rounds = about["rounds"]
            agent = self._made(len(about["open"]), self._rounds)
            agent.load_state_dict(state)
        except (LiveError, sqlite3.Error):
            raise
        except Exception as error:  # of zipfile, NumPy, JSON, or another agent's state
            raise LiveFileError(
                f"the agent in {str(self._file.path)!r} cannot be loaded ({error}); it was saved by another version of "
                f"the code, or another process made another agent of it; rebuild=True makes it anew"
            ) from error
        self._number = number_
        self._names = tuple(name for (name,) in db.execute("SELECT name FROM arms ORDER BY place"))
        self._take(agent, about["open"])

    def _take(self, agent: Agent, playable: Sequence[bool]) -> None:
        self._loaded, self._mask, self._log = agent, np.array(playable, np.bool_), log_in(agent.state)
        rules = [each for state in states_in(agent.state) for each in functions_of(type(state))]
        self._compilable = all(each.__module__.startswith("ns_mab_gym.") for each in rules)
        self._since, size = 0, sum(each.nbytes for each in arrays_of(agent.state).values())
        self._often = OFTEN + size // BYTES

    def _save(self, db: sqlite3.Connection) -> None:
        about = {"rounds": self._rounds, "open": self._mask.tolist()}
        save_state(db, self._number, about, self._agent.state_dict())
        self._since = 0

    def _repeat(self, db: sqlite3.Connection, number_: int, what: str, about: Any) -> None:
        """Let the agent do what it did in a transaction of the journal."""
        if what == "decide":
            query = "SELECT arm FROM decisions WHERE id BETWEEN ? AND ? AND NOT holdout ORDER BY id"
            for (arm,) in db.execute(query, (about[0], sum(about) - 1)):
                if self._agent.act(mask=self._open) != arm:
                    raise LiveFileError(
                        f"{str(self._file.path)!r} was written by other code, by which the agent chose otherwise; "
                        f"rebuild=True makes it anew from all remembered rewards"
                    )
                self._since += 1
        elif what in ("retire", "open"):
            self._mask[about] = what == "open"
        else:
            self._show(self._rewards(db, "j.number = ?", number_))

    def _rewards(self, db: sqlite3.Connection, which: str, *values: Any) -> list[tuple[int, float | None]]:
        """Arms and rewards in the order in which the agent was shown them."""
        return db.execute(
            f"SELECT d.arm, d.reward FROM journal j, json_each(j.about) e JOIN decisions d ON d.id = e.value "
            f"WHERE j.what IN ('learn', 'expire') AND NOT d.holdout AND {which} ORDER BY j.number, e.key",
            values,
        ).fetchall()

    def _show(self, rewards: Sequence[tuple[int, float | None]]) -> None:
        """Show rewards to the agent; None tells it that there will be none."""
        agent, self._since = self._agent, self._since + len(rewards)
        if self._compilable and (self._fast or len(rewards) >= MANY):
            came = [(arm, reward) for arm, reward in rewards if reward is not None]
            arms, values = np.array([arm for arm, _ in came], np.int64), np.array([reward for _, reward in came])
            scaled = self._scaled(values)
            if scaled.size >= MANY:  # of fewer, each was checked when it came
                agent.check_rewards((scaled.min(), scaled.max()), bool(np.isin(scaled, (0.0, 1.0)).all()))
            observe_all(agent.state, agent.binarize, agent.rng, arms, scaled)
            if arms.size:  # what Agent.observe does besides
                agent.pending[:] = np.maximum(0, agent.pending - np.bincount(arms, minlength=agent.n_arms))
                agent._asked = -1
            rewards = [each for each in rewards if each[1] is None]
        for arm, reward in rewards:
            if reward is None:
                agent.lost(arm)
            else:
                agent.observe(arm, self._scaled(reward))

    def _learn(self, db: sqlite3.Connection, now: float, what: str, ids: Sequence[int]) -> None:
        """Show the agent the rewards of these decisions, and note its alarms."""
        self._note(db, now, what, ids)
        before = 0 if self._log is None else int(self._log.rows[0, 0])
        self._show(self._rewards(db, "j.number = ?", self._number))
        if self._log is not None and (after := int(self._log.rows[0, 0])) > before:
            new = self._log.rows[1 + before : 1 + min(after, CAPACITY)].tolist()
            db.executemany(
                "INSERT INTO alarms VALUES (?, ?, ?)", [(now, arm, everything) for _, arm, everything in new]
            )

    def _rebuild(self, db: sqlite3.Connection, now: float, n_arms: int) -> None:
        """Make the agent anew: it is shown every remembered reward, in the order in which they came."""
        self._number = db.execute("SELECT max(number) FROM journal").fetchone()[0] or 0
        closed = {place for (place,) in db.execute("SELECT place FROM arms WHERE retired")}
        self._note(db, now, "rebuild", n_arms)
        agent = self._made(n_arms, self._rounds)
        if closed and not agent.handles_mask:
            raise LiveError(f"{self.agent} has no rule for arms that cannot be played; add the retired arms first")
        for end in db.execute("SELECT min(reward), max(reward) FROM decisions").fetchone():
            if end is not None:
                self._reward(end, agent)  # it was taken in with the settings of before
        agent.reset(int(np.random.SeedSequence([self._settings["seed"], self._number]).generate_state(1)[0]))
        self._take(agent, [place not in closed for place in range(n_arms)])
        self._show(self._rewards(db, "d.reward NOT NULL"))
        waiting = "SELECT arm FROM decisions WHERE reward IS NULL AND NOT expired AND NOT holdout"
        for (arm,) in db.execute(waiting):
            self._agent.pulled(arm)
        db.executemany(
            "UPDATE settings SET value = ? WHERE name = ?", [(json.dumps(v), k) for k, v in self._settings.items()]
        )
        self._save(db)

    def _expire(self, db: sqlite3.Connection, now: float) -> None:
        """Let decisions whose time has run out count as ``expired_reward``."""
        if (expire := self.expire) is None:
            return
        waiting = db.execute("SELECT id, time FROM decisions WHERE reward IS NULL AND NOT expired ORDER BY id")
        gone = [id_ for id_, _ in itertools.takewhile(lambda row: row[1] <= now - expire, waiting)]
        if gone:
            rows = [(self.expired_reward, now, id_) for id_ in gone]
            db.executemany("UPDATE decisions SET expired = 1, reward = ?, answered = ? WHERE id = ?", rows)
            self._learn(db, now, "expire", gone)

    # Requests.

    def decide(self, n: int = 1) -> list[Decision]:
        """Make n decisions, as the agent's rule does while it sees no rewards in between."""
        n = positive_int("n", n, most=MOST_AT_ONCE)
        with self._writing() as (db, now):
            first = 1 + (db.execute("SELECT max(id) FROM decisions").fetchone()[0] or 0)
            self._note(db, now, "decide", [first, n])
            made = [self._decided(id_) for id_ in range(first, first + n)]
            db.executemany(
                "INSERT INTO decisions (id, time, arm, probability, holdout, expired) VALUES (?, ?, ?, ?, ?, 0)",
                [(id_, now, arm, probability, holdout) for id_, arm, probability, holdout in made],
            )
        return [Decision(id_, self._names[arm], chance, holdout) for id_, arm, chance, holdout in made]

    def _decided(self, id_: int) -> tuple[int, int, float, bool]:
        """Make one decision; those of the holdout follow from the seed and the id, and leave the agent as it is."""
        law, held, self._since = self._agent.probabilities(self._open), False, self._since + 1
        if self.holdout > 0:
            digest = hashlib.blake2b(f"{self._settings['seed']} {id_}".encode(), digest_size=16).digest()
            coin, choice = (int.from_bytes(half, "big") / 2**64 for half in (digest[:8], digest[8:]))
            of_holdout = self._mask / self._mask.sum()
            if self.holdout_arm in self.arms:  # another process may have retired it
                of_holdout = np.array([float(name == self.holdout_arm) for name in self._names])
            held = coin < self.holdout
            law = self.holdout * of_holdout + (1 - self.holdout) * law
        if held:
            places = np.flatnonzero(of_holdout)
            arm = int(places[int(choice * places.size)])
        else:
            arm = self._agent.act(mask=self._open)
        return id_, arm, float(law[arm]), held

    def learn(self, rewards: Iterable[tuple[int | str, float]]) -> Learned:
        """Take in rewards of decisions by their ids: late, in any order, all of them or none.

        The same reward of a decision again changes nothing. A reward whose time had run out is noted in the file, and
        counts for nothing. An id that no decision has, a second and different reward, and a reward out of range are
        errors that name them.
        """
        given = [(self._id(id_), self._reward(reward, self._loaded)) for id_, reward in self._pairs(rewards)]
        new, repeated, late, unknown = list[int](), 0, 0, list[int]()
        with self._writing() as (db, now):
            for id_, reward in given:
                query = "SELECT reward, expired, late FROM decisions WHERE id = ?"
                if (row := db.execute(query, (id_,)).fetchone()) is None:
                    unknown.append(id_)
                    continue
                known, expired = row[2] if row[1] else row[0], row[1]
                if known is not None and known != reward:
                    raise ConflictingRewardError(
                        f"decision {id_} has the reward {known:g} already, got {reward:g}; a reward counts once, and "
                        f"nothing of this call was taken in"
                    )
                if known is not None:
                    repeated += 1
                elif expired:
                    db.execute("UPDATE decisions SET late = ? WHERE id = ?", (reward, id_))
                    late += 1
                else:
                    db.execute("UPDATE decisions SET reward = ?, answered = ? WHERE id = ?", (reward, now, id_))
                    new.append(id_)
            if unknown:
                few = ", ".join(map(str, unknown[:5])) + (f" and {len(unknown) - 5} more" if len(unknown) > 5 else "")
                raise UnknownDecisionError(f"there is no decision {few}; nothing of this call was taken in")
            if new:
                self._learn(db, now, "learn", new)
        return Learned(len(new), repeated, late)

    def _pairs(self, rewards: Any) -> list[Any]:
        try:
            pairs = [(id_, reward) for id_, reward in rewards]
        except (TypeError, ValueError):
            raise TypeError(f"rewards must be pairs of an id and a reward, got {shown(rewards)}") from None
        if len(pairs) > MOST_AT_ONCE:
            raise ValueError(f"at most {MOST_AT_ONCE:,} rewards at once, got {len(pairs):,}")
        return pairs

    def _id(self, given: Any) -> int:
        text = given.strip() if isinstance(given, str) else given
        if isinstance(text, str) and text.isascii() and text.isdigit() and len(text) < 19:
            return int(text)
        if isinstance(given, bool | str) or not isinstance(given, int | np.integer) or not 0 <= given < 2**63:
            raise UnknownDecisionError(f"there is no decision {shown(given)}; nothing of this call was taken in")
        return int(given)

    @property
    def _scale(self) -> tuple[float, float]:
        """The lowest reward, and the width of the range."""
        low, high = self._settings["reward_range"] or (0.0, 1.0)
        return low, high - low

    def _reward(self, given: Any, agent: Agent | None) -> float:
        """A reward as a float, if it lies in the range, and the agent has a rule for it."""
        reward = number("a reward", float(given) if isinstance(given, bool | np.bool_) else given)
        if self._settings["reward_range"] is not None:
            low, high = self._settings["reward_range"]
            if not low <= reward <= high:
                raise LiveError(f"a reward must lie in reward_range, from {low:g} to {high:g}, got {reward:g}")
        if agent is not None:
            scaled = self._scaled(reward)
            agent.check_rewards((scaled, scaled), scaled in (0.0, 1.0))
        return reward

    def _scaled(self, reward: Any) -> Any:
        """A reward, or an array of them, as the agent sees it."""
        low, width = self._scale
        return (reward - low) / width

    def add(self, name: Any) -> None:
        """Open an arm: a new one, for which the agent is made anew from all rewards, or one that was retired."""
        name = name_of(name)
        with self._writing() as (db, now):
            if name in self.arms:
                raise LiveError(f"there is an arm {name!r} already")
            if name in self._names:
                self._switch(db, now, name, "open")
            else:
                db.execute("INSERT INTO arms VALUES (?, ?, 0)", (len(self._names), name))
                self._rebuild(db, now, len(self._names) + 1)
                self._names = (*self._names, name)

    def retire(self, name: Any) -> None:
        """Play an arm no more; rewards of its decisions still count, and it can be opened again with ``add``."""
        name = name_of(name)
        with self._writing() as (db, now):
            if name not in self.arms:
                raise LiveError(f"there is no open arm {shown(name)}; there are {', '.join(self.arms)}")
            if len(self.arms) == 1 or name == self.holdout_arm:
                raise LiveError(f"{name!r} is the last open arm, or that of the holdout, and stays open")
            if not self._agent.handles_mask:
                raise LiveError(f"{self._settings['agent']} has no rule for arms that cannot be played; use {START}")
            self._switch(db, now, name, "retire")

    def _switch(self, db: sqlite3.Connection, now: float, name: str, what: str) -> None:
        place = self._names.index(name)
        self._note(db, now, what, place)
        db.execute("UPDATE arms SET retired = ? WHERE place = ?", (what == "retire", place))
        self._mask[place] = what == "open"

    # Readings.

    def estimates(self, window: Any = None) -> list[ArmEstimate]:
        """Return what is known of each arm from the decisions of a window; of all, if neither it nor the agent has one.

        Decisions of the holdout are counted here like others.
        """
        with self._writing() as (db, now):
            first, beliefs = self._first(db, now, window), np.full(len(self._names), math.nan)
            if tell := getattr(self._agent, "estimates", None):
                low, width = self._scale
                beliefs = low + width * tell()[0]
            names, mask = self._names, self._mask.copy()
        rows = self._file.read(
            "SELECT arm, count(*), count(reward), total(reward), total(reward * reward), "
            "total(reward IS NULL AND NOT expired) FROM decisions WHERE id >= ? GROUP BY arm", first,
        )  # fmt: skip
        found = {arm: counts for arm, *counts in rows}
        made = []
        for place, name in enumerate(names):
            decisions, n, total, squares, waiting = found.get(place, (0, 0, 0.0, 0.0, 0))
            mean = total / n if n else math.nan
            error = math.sqrt(max(0.0, squares / n - mean * mean) / (n - 1)) if n > 1 else math.nan
            retired, believed = not mask[place], float(beliefs[place])
            made.append(ArmEstimate(name, retired, decisions, n, int(waiting), mean, error, believed))
        return made

    def gain(self, window: Any = None) -> tuple[float, float]:
        """Return the mean reward of the agent's decisions minus that of the holdout's, and its standard error."""
        with self._writing() as (db, now):
            first = self._first(db, now, window)
        query = (
            "SELECT count(*), avg(reward), avg(reward * reward) FROM decisions "
            "WHERE holdout = ? AND reward NOT NULL AND id >= ?"
        )
        (n, mean, squares), (m, other, others) = (self._file.read(query, held, first)[0] for held in (0, 1))
        if min(n, m) < 2:
            return math.nan, math.nan
        variances = (squares - mean**2) / (n - 1), (others - other**2) / (m - 1)
        return mean - other, math.sqrt(max(0.0, sum(variances)))

    def alarms(self) -> list[tuple[float, str | None]]:
        """Return when the agent noticed a change, and of which arm; None if of no one in particular."""
        rows = self._file.read("SELECT time, arm, name FROM alarms LEFT JOIN arms ON arm = place ORDER BY alarms.rowid")
        return [(time_, name) for time_, _, name in rows]

    def shares(self, every: Any = "1d") -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return the beginnings of the spans of time that have decisions, and the share of each arm, retired or not.

        The holdout is left out. A span begins at a multiple of its length since 1970.
        """
        length = seconds_of("every", every)
        rows = self._file.read(
            "SELECT CAST(time / ? AS INTEGER) AS span, arm, count(*) FROM decisions WHERE NOT holdout "
            "GROUP BY span, arm",
            length,
        )
        spans, places = np.unique([span for span, _, _ in rows], return_inverse=True)
        counts = np.zeros((spans.size, len(self._every_arm())))
        for place, (_, arm, count) in zip(places, rows, strict=True):
            counts[place, arm] = count
        return spans * length, counts / counts.sum(axis=1, keepdims=True)

    def log(self) -> Log:
        """Return all decisions whose reward counts, with the probabilities of the choices, to be analysed."""
        rows = self._file.read(
            "SELECT time, arm, reward, probability, answered - time FROM decisions WHERE reward NOT NULL ORDER BY id"
        )
        times, arms, rewards, chances, delays = np.array(rows, np.float64).reshape(-1, 5).T
        whole = arms.astype(np.int64)
        return Log(times, whole, rewards, self._every_arm(), propensities=chances, delays=delays, dated=True)

    def _every_arm(self) -> tuple[str, ...]:
        """The names of all arms in the file: another process may have added one."""
        return tuple(name for (name,) in self._file.read("SELECT name FROM arms ORDER BY place"))

    @property
    def per_day(self) -> float:
        """Decisions in a day, as measured over the window; NaN without two of them."""
        with self._writing() as (db, now):
            return self._measured(db, now) or math.nan

    def _measured(self, db: sqlite3.Connection, now: float) -> float | None:
        first = self._first(db, now, None)
        rows = db.execute("SELECT count(*), min(time) FROM decisions WHERE id >= ?", (first,)).fetchone()
        return float(rows[0] / (now - rows[1]) * DAY) if rows[0] > 1 and now > rows[1] else None

    def _first(self, db: sqlite3.Connection, now: float, window: Any) -> int:
        """The id of the first decision in the window that ends now."""
        span = self._settings["window"] if window is None else seconds_of("window", window)
        if span is None:
            return 1
        every = range(1, 1 + (db.execute("SELECT max(id) FROM decisions").fetchone()[0] or 0))
        query = "SELECT time FROM decisions WHERE id = ?"
        return 1 + bisect.bisect_left(every, now - span, key=lambda id_: db.execute(query, (id_,)).fetchone()[0])

    def compile(self) -> None:
        """Compile the agent's rule, which takes seconds once on a machine, so that it learns faster; nothing else."""
        with self._writing():
            agent = self._made(len(self._names), self._rounds)
        if self._compilable:
            observe_all(agent.state, agent.binarize, agent.rng, np.zeros(0, np.int64), np.zeros(0))
        self._fast = True

    def close(self) -> None:
        """Save the agent's state, so that the next opening need not repeat anything, and close the file."""
        try:
            if self._loaded is not None and self._since:
                with self._writing() as (db, _):
                    self._save(db)
        finally:
            self._file.close()

    def __enter__(self) -> Self:
        """Return the agent in service, which is closed at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _open(self) -> BoolArray | None:
        return None if self._mask.all() else self._mask

    @property
    def agent(self) -> str:
        """The agent with its parameters, as text."""
        return str(self._settings["agent"])

    @property
    def arms(self) -> tuple[str, ...]:
        """The names of the arms that can be played."""
        return tuple(name for name, playable in zip(self._names, self._mask, strict=True) if playable)
