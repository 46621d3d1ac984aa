"""Compares trained models with the zoo on instances that they have not seen, and says so where they have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from ..choosing.comparison import compare
from ..choosing.leads import FEWEST
from ..means import Floats
from ..play.cores import job_count
from ..rl.sb3_agent import SB3Agent
from ..rl.training import Trained, Training
from ..runs import Runs
from ..theory.text_tables import table
from .learning_verdicts import Crossed, Verdict, crossed, verdicts_of
from .rivals import Rival
from .shuffled_world import Shuffled

__all__ = [
    "ABRUPT",
    "HELD_OUT",
    "INSTANCE",
    "SEED",
    "Case",
    "cases_of",
    "contest",
    "is_fixed",
    "rows_of",
    "text_of",
    "training_env",
]

SEED = 7_700_017  # the seeds of the evaluation are derived from it, those of training are not
HELD_OUT, ABRUPT, INSTANCE = "held-out instances", "the paper's abrupt world", "the training instance"
HEADS = ("agent", "regret", "more than learning, 95 %", "learning", "steps", "seconds")


class Case(NamedTuple):
    """Where models are compared with the zoo: a title, the environment, and what must be said of it."""

    title: str
    env: gym.Env[Any, Any]
    note: str = ""


def training_env(training: Training) -> gym.Env[Any, Any]:
    """The environment of a training, alone and without what the model's observations are made with."""
    return gym.make(training.env, **training.env_kwargs)


def is_fixed(env: gym.Env[Any, Any]) -> bool:
    """Whether every episode has the same means, which a model can learn by heart."""
    return not env.unwrapped.world.random  # type: ignore[attr-defined]


def cases_of(training: Training) -> list[Case]:
    """Where a training is judged: held-out instances first.

    Instances of a random world are drawn from other seeds than those of training. Of a world whose means are always the
    same, the model has seen the very means: there it is judged on instances with the arms in another order, begun at
    another round, and the training instance is played beside them under its own name.
    """
    env: Any = training_env(training)
    world, law = env.unwrapped.world, env.unwrapped.law
    cases = [Case(HELD_OUT, env)]
    if is_fixed(env):
        shuffled = gym.make("NSBandit-v0", world=Shuffled(base=world), reward=law)
        note = "the world's means with the arms in another order, begun at another round"
        cases = [Case(HELD_OUT, shuffled, note), Case(INSTANCE, env, "the model has seen these very means")]
    abrupt: Any = gym.make("NSBandit-Abrupt-v0", horizon=world.horizon, reward=law)
    if abrupt.unwrapped.world.n_arms == world.n_arms and abrupt.unwrapped.world != world:
        cases.append(Case(ABRUPT, abrupt, "not one of the distribution that the model was trained on"))
    return cases


def contest(
    case: Case, models: Mapping[str, SB3Agent], rivals: Sequence[Rival], runs: int, n_jobs: int | None = None
) -> dict[str, Runs]:
    """The runs of all models and rivals, by label, on the same instances with the same luck."""
    job_count(n_jobs)
    players: dict[str, Any] = {**models, **{rival.label: (rival.agent, dict(rival.parameters)) for rival in rivals}}
    played = compare({case.title: case.env}, players, runs=runs, seed=SEED, n_jobs=n_jobs, on_misfit="skip")
    return played.runs[case.title]


def rows_of(
    name: str, trained: Mapping[str, Trained], rivals: Sequence[Rival], runs: Mapping[str, Runs]
) -> list[dict[str, Any]]:
    """The numbers of a case as plain values: the trained models together, then the rivals, the least regret first.

    Args:
        name: what the models are called together.
        trained: the models by the labels with which they played.
        rivals: the others; those that could not play are left out.
        runs: of each of them, by label.
    """
    models = np.stack([runs[label].final for label in trained])  # (S, R)
    costs = {rival.label: rival for rival in rivals}
    beside = {label: runs[label].final for label in costs if label in runs}
    rows = [_row_of_models(name, trained, models)]
    return rows + [_row(verdict, costs[verdict.agent], models.shape[1]) for verdict in verdicts_of(models, beside)]


def _row_of_models(name: str, trained: Mapping[str, Trained], models: Floats) -> dict[str, Any]:
    together: Crossed = crossed(models)
    each = list(trained.values())
    return {
        "agent": name, "runs": models.shape[1], "regret": together.mean, "se": together.se,
        "low": together.interval.low, "high": together.interval.high,
        "by_seed": models.mean(axis=1).tolist(), "steps": [one.steps for one in each],
        "seconds": [one.seconds for one in each],
    }  # fmt: skip


def _row(verdict: Verdict, rival: Rival, runs: int) -> dict[str, Any]:
    return {
        "agent": verdict.agent, "runs": runs, "regret": verdict.regret, "se": verdict.se,
        "more": verdict.more.value, "low": verdict.more.low, "high": verdict.more.high, "learning": verdict.word,
        "parameters": dict(rival.parameters), "steps": rival.steps, "seconds": rival.seconds,
    }  # fmt: skip


def text_of(title: str, horizon: int, rows: Sequence[Mapping[str, Any]], seeds: Sequence[int], note: str = "") -> str:
    """The numbers of a case as a table in plain text, with what they mean."""
    models, *rivals = rows
    head = f"{title}: regret after {horizon:,} rounds, mean ± standard error of {models['runs']:,} runs"
    ordered = sorted(rows, key=lambda row: float(row["regret"]))
    lines = [head, *([f"({note})"] if note else []), table([HEADS, *map(_cells, ordered)])]
    if rivals:
        lines += [_summary(rivals), _about_intervals(len(seeds), models["runs"], len(rivals))]
    return "\n".join([*lines, *_about_seeds(models, seeds)])


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    regret = f"{row['regret']:,.1f}" + ("" if _missing(row["se"]) else f" ± {row['se']:.1f}")
    if "by_seed" in row:
        steps, spent = sum(row["steps"]) / len(row["steps"]), sum(row["seconds"]) / len(row["seconds"])
        return row["agent"], regret, "", "", f"{steps:,.0f}", f"{spent:,.1f}"
    more = f"{row['more']:+,.1f}"
    if not _missing(row["low"]):
        more += f" [{row['low']:,.1f}, {row['high']:,.1f}]"
    cost = (f"{row['steps']:,}", f"{row['seconds']:,.1f}") if row["steps"] else ("–", "–")
    return row["agent"], regret, more.replace("-", "−"), row["learning"], *cost


def _missing(value: float | None) -> bool:
    return value is None or bool(np.isnan(value))


def _summary(rivals: Sequence[Mapping[str, Any]]) -> str:
    """Against whom learning wins and loses."""
    against = {word: [row["agent"] for row in rivals if row["learning"] == word] for word in ("wins", "loses", "open")}
    told = [f"{word} against {'; '.join(names)}" for word, names in against.items() if names and word != "open"]
    told += [f"cannot be told from {'; '.join(against['open'])}"] if against["open"] else []
    return f"learning {', '.join(told)}"


def _about_intervals(seeds: int, runs: int, rivals: int) -> str:
    if seeds > 1:
        return (
            f"in brackets: 95 % intervals over {seeds} training seeds and {runs:,} runs on the same luck (Student's "
            f"t), each by itself: of {rivals} such, {0.05 * rivals:.1f} miss on average"
        )
    if runs < FEWEST:
        return f"no intervals: they need {FEWEST} runs or more"
    return (
        "in brackets: 95 % intervals of differences on the same luck, for all rivals together; they are about this one "
        "model: other training seeds give other models, --seed 0 1 2 shows how different"
    )


def _about_seeds(models: Mapping[str, Any], seeds: Sequence[int]) -> list[str]:
    if len(seeds) < 2:
        return []
    means = np.array(models["by_seed"])
    listed = ", ".join(f"{mean:,.1f} (seed {seed})" for seed, mean in zip(seeds, means, strict=True))
    return [f"{models['agent']} by training seed: {listed}; standard deviation {means.std(ddof=1):.1f}"]
