"""A check of agents of one's own against the protocol."""

from __future__ import annotations

import copy
import random
from typing import Any

import numpy as np
import numpy.typing as npt

from .arguments import UnplayableArmError, playable, positive_int, shown
from .protocol import AgentProtocol


class AgentCheckError(AssertionError):
    """An agent breaks the protocol; the message lists how."""


def check_agent(agent: AgentProtocol, n_arms: int, *, rounds: int = 200) -> None:
    """Play an agent on a small Bernoulli bandit and raise an error that lists what it gets wrong.

    Args:
        agent: an object with ``reset(seed)``, ``act(observation=None)`` and ``observe(arm, reward)``.
        n_arms: the number of arms that it was made for.
        rounds: how long to play.
    """
    n_arms = positive_int("n_arms", n_arms, least=2)
    rounds = positive_int("rounds", rounds)
    missing = [name for name in ("reset", "act", "observe") if not callable(getattr(agent, name, None))]
    if missing:
        raise AgentCheckError(
            f"{shown(agent)} has no method {', '.join(f'{m}()' for m in missing)}; it needs all three"
        )
    problems: list[str] = []
    try:
        first = _play(agent, n_arms, rounds, 1, problems)
        again = _play(agent, n_arms, rounds, 1, problems)
        if first != again:
            problems.append(
                "reset(seed=1) twice gave two different games: draw only from a generator made in reset(seed)"
            )
        _check_saving(agent, n_arms, rounds, problems)
    except AgentCheckError:
        raise
    except Exception as error:
        problems.append(f"it raised {type(error).__name__}: {error}")
    if problems:
        raise AgentCheckError("\n".join([f"{shown(agent)}:", *(f"- {p}" for p in dict.fromkeys(problems))]))


def _play(agent: AgentProtocol, n_arms: int, rounds: int, seed: int, problems: list[str]) -> list[int]:
    """Play a short game and return its arms; mistakes are added to ``problems``."""
    luck = np.random.default_rng(seed)
    means = np.linspace(0.1, 0.9, n_arms)
    before = _global_generators()
    agent.reset(seed=seed)
    arms: list[int] = []
    for t in range(rounds):
        observation: npt.NDArray[np.float32] | None = None if t % 2 else np.zeros(n_arms + 2, np.float32)
        arm = agent.act(observation) if observation is not None else agent.act()
        try:
            arms.append(playable("", arm, n_arms, t + 1))
        except UnplayableArmError:
            wanted = f"it must return an integer from 0 to {n_arms - 1}"
            raise AgentCheckError(f"act() returned {shown(arm)}; {wanted}") from None
        if agent.observe(arms[-1], float(luck.random() < means[arms[-1]])) is not None:  # type: ignore[func-returns-value]
            problems.append("observe() returned something; it should return None")
    if _global_generators() != before:
        problems.append(
            "it draws from the global generator of numpy or random: use one of its own, made in reset(seed)"
        )
    return arms


def _global_generators() -> tuple[object, ...]:
    """The states of numpy's and Python's global generators; a few draws change numpy's position, but not its key."""
    numpys = np.random.get_state(legacy=False)  # noqa: NPY002
    words = numpys["state"]
    return words["key"].tobytes(), words["pos"], numpys["has_gauss"], numpys["gauss"], random.getstate()


def _check_saving(agent: Any, n_arms: int, rounds: int, problems: list[str]) -> None:
    """If the agent can be saved, check that a copy loaded from its saved state plays on exactly as it does."""
    if not hasattr(agent, "state_dict"):
        return
    other = copy.deepcopy(agent)
    agent.reset(seed=2)
    for t in range(rounds // 2):
        agent.observe(agent.act(), float(t % 2))
    saved = copy.deepcopy(agent.state_dict())
    for key, value in saved.items():
        if not isinstance(value, str | int | float | np.ndarray) or getattr(value, "dtype", None) == np.dtype(object):
            problems.append(f"state_dict()[{key!r}] is {type(value).__name__}: save only numbers, strings and arrays")
    other.reset(seed=3)
    other.load_state_dict(saved)
    for t in range(rounds // 2):
        arm, twin = agent.act(), other.act()
        if arm != twin:
            problems.append("after load_state_dict(state_dict()) it plays differently: save the generator too")
            return
        agent.observe(arm, float(t % 3 == 0))
        other.observe(arm, float(t % 3 == 0))
