"""Trained models beside the zoo, on instances that they have not seen: rivals, worlds, intervals and tables.

Rivals play by their own formulas, and tuned on other instances than those of training and of the evaluation.

Several trainings of one algorithm that differ in their seed are S models, all of which play the same R runs. Then
both the seeds and the runs are samples, crossed with each other, and the variance of a mean over both is at most the
variance over the seeds' means, divided by S, plus that over the runs' means, divided by R (the part that belongs to
neither is counted twice). The interval is Student's t with the degrees of freedom of Satterthwaite (1946). One model
says nothing about other seeds: then intervals are those of runs, for all rivals together, as in
:func:`ns_mab_gym.compare`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from ..comparison import compare
from ..means import Floats
from ..rl.agent import SB3Agent
from ..rl.training import Trained, Training
from ..runs import Runs
from ..specs import AgentSpec, WorldSpec, read_agents
from ..statistics import FEWEST, LEVEL, Interval, bootstrap_t, t_quantile
from ..studies.runner import check_study
from ..studies.study import Experiment, Study
from ..theory.text_tables import table
from ..tuning.search import SPACES
from ..tuning.tune import tune
from ..worlds.paper import Abrupt
from ..worlds.world import World

Row = dict[str, Any]
RIVALS = ("kl-ucb", "sw-ucb", "beta-swts", "ts", "switching-ts", "glr-ts", "d-ucb", "random", "oracle-restart")
TUNING_SEED = 1_000_033  # the seeds of the races are derived from it, those of evaluations are not
SEED = 7_700_017  # the seeds of the evaluation are derived from it, those of training are not
HELD_OUT, ABRUPT, INSTANCE = "held-out instances", "the paper's abrupt world", "the training instance"
HEADS = ("agent", "regret", "more than learning, 95 %", "learning", "steps", "seconds")
OF_RIVAL = ("agent", "runs", "regret", "se", "parameters", "steps", "seconds")
AGAINST = ("more", "low", "high", "learning")

# Rivals.


class Rival(NamedTuple):
    """An agent beside a trained model.

    Attributes:
        label: its name in tables and figures.
        agent: its name, or its class.
        parameters: those that are given; the others come from its paper's formula.
        steps: the number of steps that its tuning took.
        seconds: the time that its tuning took.
    """

    label: str
    agent: Any
    parameters: Mapping[str, Any]
    steps: int = 0
    seconds: float = 0.0


def rivals_of(world: WorldSpec, named: Sequence[str] | None) -> tuple[list[Rival], list[str]]:
    """Return the rivals that play a world, and why some of the usual ones do not; a named one that cannot is an error.

    Args:
        world: the world.
        named: the agents as words, such as ``"sw-ucb:xi=0.6"``; those of ``RIVALS`` that can play it, if None.
    """

    def checked(entries: Sequence[AgentSpec]) -> list[Rival]:
        check_study(Study("Rivals", (Experiment(worlds=(world,), agents=tuple(entries), runs=1),)))
        return [Rival(entry.label, entry.name, entry.kwargs) for entry in entries]

    if named is not None:
        return checked([entry for words in named for entry in read_agents(words)]), []
    found: list[Rival] = []
    refused: list[str] = []
    for entry in map(AgentSpec.of, RIVALS):
        try:
            found += checked([entry])
        except ValueError as error:
            refused.append(str(error))
    return found, refused


def tuned(rivals: Sequence[Rival], env: gym.Env[Any, Any], runs: int) -> list[Rival]:
    """Return the rivals and, after each that has something to tune and no parameters of the user's, its tuned twin.

    Args:
        rivals: the agents.
        env: the environment of training; of a random world, every run of a race is another instance.
        runs: the number of runs that each race may take.
    """
    both: list[Rival] = []
    for rival in rivals:
        both.append(rival)
        if rival.agent in SPACES and not rival.parameters:
            found = tune(env, rival.agent, runs=runs, seed=TUNING_SEED)
            steps = found.spent.runs * env.unwrapped.world.horizon  # type: ignore[attr-defined]
            both.append(Rival(f"{rival.label}, tuned", rival.agent, found.parameters, steps, found.spent.seconds))
    return both


class Placed(NamedTuple):
    """The outcome of an agent of the zoo in a race.

    Attributes:
        agent: its name.
        tuned: its mean regret with the parameters that were found.
        untuned: the same with those of its own formula; None if it has none.
        parameters: those that were found; empty if its formula was best.
    """

    agent: str
    tuned: float
    untuned: float | None
    parameters: dict[str, Any]


def zoo_race(
    world: WorldSpec, env: gym.Env[Any, Any], runs: int, agents: Sequence[str] = tuple(SPACES)
) -> list[Placed]:
    """Tune all agents that can play a world and judge them on other instances; returns them, the least regret first.

    The race chooses the rivals of a trained model and flatters none of them: the evaluation plays yet other instances.

    Args:
        world: the world.
        env: an environment of it.
        runs: the number of runs that the tuning of each may take.
        agents: their names.
    """
    placed: list[Placed] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that some of them do not learn this world is what the race shows
        for name in agents:
            try:
                rivals_of(world, [name])
            except ValueError:
                continue  # it cannot play such rewards, or such a world
            found = tune(env, name, runs=runs, seed=TUNING_SEED)
            regret = found.regret.mean
            by_formula = found.formula.regret.mean if found.formula is not None else None
            placed.append(Placed(name, regret, by_formula if found.parameters else regret, found.parameters))
    return sorted(placed, key=lambda each: each.tuned)


def strongest(race: Sequence[Placed], count: int) -> list[str]:
    """Return the names of the ``count`` best tuned agents, and of the best untuned one if it is not among them."""
    best = [each.agent for each in race[:count]]
    untuned = {each.agent: each.untuned for each in race if each.untuned is not None}
    return list(dict.fromkeys([*best, *sorted(untuned, key=untuned.__getitem__)[:1]]))


# Worlds.


@dataclass(frozen=True, kw_only=True)
class Shuffled(World):
    """Another world's means with the arms in another order, begun at another round, drawn anew for every run.

    Round t of an instance is round t + s of the base, where s is drawn from 0 to T − 1 and the base is played in a
    circle; arm i is arm π(i) of the base. What is always true of the base stays true: how far arms are apart, how fast
    they move, how long phases last; but for the one jump where the end of the base meets its beginning. What a
    learner could know by heart does not: which arm is good, and when.

    Attributes:
        horizon: T, that of the base.
        base: a world that is not random.
    """

    random = True

    base: World = field(default_factory=Abrupt)

    def __post_init__(self) -> None:
        """Take the horizon of the base."""
        if self.base.random:
            raise ValueError(f"{self.base.name!r} draws its instances anew already; play it as it is")
        object.__setattr__(self, "horizon", self.base.horizon)
        super().__post_init__()

    @property
    def n_arms(self) -> int:
        """K, that of the base."""
        return self.base.n_arms

    def _means(self, rng: np.random.Generator) -> Floats:
        arms, start = rng.permutation(self.n_arms), int(rng.integers(self.horizon))
        return np.roll(self.base.instance()[:, arms], -start, axis=0)


class Case(NamedTuple):
    """A comparison of models with the zoo: its title, the environment, and a note on it."""

    title: str
    env: gym.Env[Any, Any]
    note: str = ""


def training_env(training: Training) -> gym.Env[Any, Any]:
    """Return the environment of a training, alone and without what the model's observations are made with."""
    return gym.make(training.env, **training.env_kwargs)


def cases_of(training: Training) -> list[Case]:
    """Return the cases on which a training is judged, held-out instances first.

    Instances of a random world are drawn from other seeds than those of training. Of a world whose means are always the
    same, the model has seen the very means: there it is judged on instances with the arms in another order, begun at
    another round, and the training instance is played beside them under its own name.
    """
    env: Any = training_env(training)
    world, law = env.unwrapped.world, env.unwrapped.law
    cases = [Case(HELD_OUT, env)]
    if not world.random:
        shuffled = gym.make("NSBandit-v0", world=Shuffled(base=world), reward=law)
        note = "the world's means with the arms in another order, begun at another round"
        cases = [Case(HELD_OUT, shuffled, note), Case(INSTANCE, env, "the model has seen these very means")]
    abrupt: Any = gym.make("NSBandit-Abrupt-v0", horizon=world.horizon, reward=law)
    if abrupt.unwrapped.world.n_arms == world.n_arms and abrupt.unwrapped.world != world:
        cases.append(Case(ABRUPT, abrupt, "not one of the distribution that the model was trained on"))
    return cases


# Intervals.


def crossed(samples: Floats) -> tuple[float, Interval]:
    """Return the standard error of a mean over training seeds and runs, and its 95 % interval; NaN if unknown.

    Args:
        samples: (S, R) a row for each training seed, a column for each run that all seeds played.
    """
    mean, parts = float(samples.mean()), []
    for axis, size in ((1, len(samples)), (0, samples.shape[1])):
        if size > 1:
            parts.append((float(samples.mean(axis=axis).var(ddof=1)) / size, size - 1))
    total = sum(part for part, _ in parts)
    if len(samples) < 2:
        return total**0.5 if parts else math.nan, Interval(mean, math.nan, math.nan)
    if total == 0:
        return 0.0, Interval(mean, mean, mean)
    freedom = math.floor(total**2 / sum(part**2 / free for part, free in parts))
    reach = t_quantile((1 - LEVEL) / 2, freedom) * total**0.5
    return total**0.5, Interval(mean, mean - reach, mean + reach)


def verdicts_of(models: Floats, rivals: Mapping[str, Floats]) -> list[Row]:
    """Return a row on every rival beside the trained models, the least regret first.

    ``"more"``, with an interval from ``"low"`` to ``"high"``, is by how much its regret exceeds the mean of the models;
    ``"learning"`` is ``"wins"`` if the interval is above 0, ``"loses"`` if it is below, and otherwise ``"undecided"``.

    Args:
        models: (S, R) the final regrets of S models in R runs.
        rivals: (R,) the final regrets of each rival in the same runs.
    """
    differences = np.stack([final - models for final in rivals.values()])  # (rivals, S, R)
    if len(models) > 1 or models.size < FEWEST:
        intervals = [crossed(each)[1] for each in differences]
    else:  # for all rivals together, from the largest |t| of bootstrapped runs
        _, errors, t = bootstrap_t(differences[:, 0].T)
        means, reach = differences.mean(axis=(1, 2)), float(np.quantile(np.abs(t).max(axis=1), LEVEL)) * errors
        intervals = [Interval(*map(float, (mean, mean - r, mean + r))) for mean, r in zip(means, reach, strict=True)]
    rows: list[Row] = []
    for (label, final), (more, low, high) in zip(rivals.items(), intervals, strict=True):
        rows.append({
            "agent": label, "runs": len(final), "regret": float(final.mean()),
            "se": float(final.std(ddof=1)) / len(final) ** 0.5 if len(final) > 1 else math.nan,
            "more": more, "low": low, "high": high,
            "learning": "wins" if low > 0 else "loses" if high < 0 else "undecided",
        })  # fmt: skip
    return sorted(rows, key=lambda row: float(row["regret"]))


# Comparisons.


def played_together(
    case: Case, models: Mapping[str, SB3Agent], rivals: Sequence[Rival], runs: int, n_jobs: int | None = None
) -> dict[str, Runs]:
    """Return the runs of all models and rivals, by label, on the same instances with the same luck."""
    players: dict[str, Any] = {**models, **{rival.label: (rival.agent, dict(rival.parameters)) for rival in rivals}}
    played = compare({case.title: case.env}, players, runs=runs, seed=SEED, n_jobs=n_jobs, on_misfit="skip")
    return dict(played.runs[case.title])


def rows_of(name: str, trained: Mapping[str, Trained], rivals: Sequence[Rival], runs: Mapping[str, Runs]) -> list[Row]:
    """Return the numbers of a case as plain values: the trained models together, then the rivals, least regret first.

    Args:
        name: the name of the models together.
        trained: the models by the labels with which they played.
        rivals: the others; those that could not play are left out.
        runs: of each of them, by label.
    """
    models, each = np.stack([runs[label].final for label in trained]), list(trained.values())  # (S, R)
    se, (regret, low, high) = crossed(models)
    together: Row = {
        "agent": name, "runs": models.shape[1], "regret": regret, "se": se, "low": low, "high": high,
        "by_seed": models.mean(axis=1).tolist(), "steps": [one.steps for one in each],
        "seconds": [one.seconds for one in each],
    }  # fmt: skip
    named = {rival.label: rival for rival in rivals if rival.label in runs}
    rows = verdicts_of(models, {label: runs[label].final for label in named})
    for row in rows:
        rival = named[row["agent"]]
        row |= {"parameters": dict(rival.parameters), "steps": rival.steps, "seconds": rival.seconds}
    return [together, *rows]


def compare_algorithms(
    case: Case, trained: Mapping[str, Mapping[int, Trained]], rivals: Sequence[Rival], runs: int
) -> dict[str, list[Row]]:
    """Return the numbers of the models of several algorithms and of rivals, on the same luck, as plain values.

    Returns:
        Under ``"models"`` a row for each algorithm, over its training seeds, and under ``"rivals"`` one for each rival,
        the least regret first: ``"learning"`` says by how much it exceeds the models of each algorithm.

    Args:
        case: where they play.
        trained: the models of each algorithm by their training seeds.
        rivals: the others.
        runs: the number of runs of each.
    """
    labelled = {
        name: {f"{name}, seed {seed}": each for seed, each in by_seed.items()} for name, by_seed in trained.items()
    }
    agents = {label: each.agent for models in labelled.values() for label, each in models.items()}
    played = played_together(case, agents, rivals, runs)
    rows = {name: rows_of(name, models, rivals, played) for name, models in labelled.items()}
    of_rivals: list[Row] = []
    for same in zip(*(beside for _, *beside in rows.values()), strict=True):  # a rival beside each algorithm
        against = {name: {key: row[key] for key in AGAINST} for name, row in zip(rows, same, strict=True)}
        of_rivals.append({**{key: same[0][key] for key in OF_RIVAL}, "learning": against})
    return {"models": [models for models, *_ in rows.values()], "rivals": of_rivals}


# Tables.


def text_of(title: str, horizon: int, rows: Sequence[Mapping[str, Any]], seeds: Sequence[int], note: str = "") -> str:
    """Return the numbers of a case as a table in plain text, with what they mean."""
    models, *rivals = rows
    runs, ordered = models["runs"], sorted(rows, key=lambda row: float(row["regret"]))
    lines = [f"{title}: regret after {horizon:,} rounds, mean ± standard error of {runs:,} runs"]
    lines += [f"({note})"] if note else []
    lines.append(table([HEADS, *map(_cells, ordered)]))
    if rivals:
        against = {word: [row["agent"] for row in rivals if row["learning"] == word] for word in ("wins", "loses")}
        told = [f"{word} against {'; '.join(names)}" for word, names in against.items() if names]
        undecided = "; ".join(row["agent"] for row in rivals if row["learning"] == "undecided")
        lines.append(f"learning {', '.join([*told, *([f'cannot be told from {undecided}'] if undecided else [])])}")
    if rivals and len(seeds) == 1:
        lines.append(
            f"no intervals: they need {FEWEST} runs or more"
            if runs < FEWEST
            else "in brackets: 95 % intervals of differences on the same luck, for all rivals together; they are about "
            "this one model: other training seeds give other models, --seed 0 1 2 shows how different"
        )
    elif rivals:
        lines.append(
            f"in brackets: 95 % intervals over {len(seeds)} training seeds and {runs:,} runs on the same luck "
            f"(Student's t), each by itself: of {len(rivals)} such, {0.05 * len(rivals):.1f} miss on average"
        )
    if len(seeds) > 1:
        means = np.array(models["by_seed"])
        listed = ", ".join(f"{mean:,.1f} (seed {seed})" for seed, mean in zip(seeds, means, strict=True))
        lines.append(f"{models['agent']} by training seed: {listed}; standard deviation {means.std(ddof=1):.1f}")
    return "\n".join(lines)


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    regret = f"{row['regret']:,.1f}" + ("" if math.isnan(row["se"]) else f" ± {row['se']:.1f}")
    if "by_seed" in row:
        steps, spent = sum(row["steps"]) / len(row["steps"]), sum(row["seconds"]) / len(row["seconds"])
        return row["agent"], regret, "", "", f"{steps:,.0f}", f"{spent:,.1f}"
    more = f"{row['more']:+,.1f}"
    if not math.isnan(row["low"]):
        more += f" [{row['low']:,.1f}, {row['high']:,.1f}]"
    cost = (f"{row['steps']:,}", f"{row['seconds']:,.1f}") if row["steps"] else ("–", "–")
    return row["agent"], regret, more.replace("-", "−"), row["learning"], *cost
