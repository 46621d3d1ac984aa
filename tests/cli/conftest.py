"""What the tests of the commands share: the fixtures of the studies, and a look at errors."""

from pathlib import Path

import pytest

from ..studies.conftest import python

__all__ = ["ROOT", "here", "one_error", "python"]

ROOT = Path(__file__).parent.parent.parent


OWN = '''
"""A module of the user's own."""

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from ns_mab_gym.agents import Agent, rule
from ns_mab_gym.rewards import Law
from ns_mab_gym.worlds import World


class Stubborn:
    """Plays one arm for ever: a plain class with three methods.

    Rule:
        the same arm in every round.

    Attributes:
        arm: which one.
    """

    def __init__(self, n_arms, arm=0):
        self.arm = arm

    def reset(self, seed=None):
        pass

    def act(self, observation=None):
        return self.arm

    def observe(self, arm, reward):
        pass


class Clock(NamedTuple):
    rounds: np.ndarray


def act(state, mask, rng):
    return np.arange(mask.size)[state.rounds[0] % mask.size]  # a rule of the user's may make arrays


def observe(state, arm, reward):
    state.rounds[0] += 1


rule(Clock, act, observe)


@dataclass(eq=False)
class InTurn(Agent):
    """Plays the arms in turn: derived from Agent, with a rule that is compiled."""

    start: int = 0

    def _new_state(self):
        return Clock(np.array([self.start]))


@dataclass(frozen=True, kw_only=True)
class Level(World):
    """Two arms that stand still, the second worse by the gap."""

    horizon: int = 40
    gap: float = 0.25

    @property
    def n_arms(self):
        return 2

    def _means(self, rng):
        return np.tile([0.75, 0.75 - self.gap], (self.horizon, 1))


@dataclass(frozen=True, kw_only=True)
class Sure(Law):
    """A reward is its mean, plus a bonus."""

    support: ClassVar = (0.0, 1.0)
    bonus: float = 0.0

    @property
    def subgaussian(self):
        """λ = 0."""
        return 0.0

    def reward(self, mu, luck):
        return mu + self.bonus


class Wanting:
    """An agent that cannot act."""

    def reset(self, seed=None):
        pass

    def observe(self, arm, reward):
        pass


NUMBER = 3
'''


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working folder with a module of the user's own in it."""
    (tmp_path / "own_zoo.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.fixture
def one_error(capsys):
    """A function that gives what was said on the error stream, which must be one line in the style of all commands."""

    def said(command):
        error = capsys.readouterr().err
        assert error.startswith(f"{command}: error: "), error
        assert error.count("\n") == 1
        assert error.endswith("\n")
        return error.removeprefix(f"{command}: error: ").strip()

    return said
