"""The check before a study tells an agent what the run will tell it: what passes the check can be played."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
import pytest

import ns_mab_gym as nsb
from ns_mab_gym import agents, worlds
from ns_mab_gym.agents import Knowledge
from ns_mab_gym.agents.references import Random
from ns_mab_gym.specs import AgentSpec, WorldSpec
from ns_mab_gym.studies.runner import check_study
from ns_mab_gym.studies.study import Experiment, Study, experiment

TOLD: list[Knowledge] = []


@dataclass(eq=False)
class Curious(Random):
    """An agent whose formula needs every piece of knowledge, and which keeps what it was told."""

    name: ClassVar[str] = "curious"

    scale: float = field(default=0.0, kw_only=True)

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Any) -> dict[str, Any]:
        TOLD.append(knowledge)
        pieces = knowledge.need(cls.name, *(piece.name for piece in fields(Knowledge)))
        return {"scale": dict(zip((piece.name for piece in fields(Knowledge)), pieces, strict=True))["subgaussian"]}


@pytest.fixture
def curious(monkeypatch):
    monkeypatch.setitem(agents.core.registry.AGENTS._targets, "curious", Curious)
    TOLD.clear()


def study_of(world: str, **parameters: Any) -> Study:
    entry = WorldSpec.of(world, horizon=60, **parameters)
    return Study("", (Experiment(worlds=(entry,), agents=(AgentSpec.of("curious"),), runs=1),))


@pytest.mark.usefixtures("curious")
@pytest.mark.parametrize(
    ("world", "law", "scale"),
    [
        ("NSBandit-Abrupt-v0", {"reward": "bernoulli"}, 0.5),
        ("NSBandit-Smooth-v0", {"reward": "gaussian", "scale": 2.0}, 2.0),
        ("NSBandit-Piecewise-v0", {"reward": "beta", "concentration": 3.0}, 0.25),  # λ² = 1/(4(c + 1))
    ],
)
def test_the_check_tells_an_agent_every_piece_of_knowledge_the_scale_of_the_rewards_too(world, law, scale):
    check_study(study_of(world, **law))
    assert [told.subgaussian for told in TOLD] == [scale]


@pytest.mark.usefixtures("curious")
@pytest.mark.parametrize("world", ["NSBandit-Abrupt-v0", "NSBandit-Smooth-v0"])
def test_the_check_and_the_run_tell_an_agent_the_same(world):
    """In a world that is the same in every run; σ is the one that the world's author states."""
    check_study(study_of(world, reward="gaussian", scale=2.0))
    (checked,) = TOLD
    nsb.simulate(world, "curious", runs=1, env_kwargs={"horizon": 60, "reward": "gaussian", "scale": 2.0})
    assert TOLD[-1] is not checked
    assert TOLD[-1] == checked
    np.testing.assert_array_equal(TOLD[-1].means, checked.means)


@pytest.mark.usefixtures("curious")
def test_the_generic_loop_tells_an_agent_the_same_as_the_compiled_one():
    env = {"horizon": 60, "reward": "gaussian", "scale": 2.0}
    compiled = nsb.simulate("NSBandit-Piecewise-v0", "curious", runs=2, env_kwargs=env, n_jobs=1)
    told = TOLD[-2:]
    with pytest.warns(UserWarning, match="generic Python loop"):
        generic = nsb.simulate("NSBandit-Piecewise-v0", "curious", runs=2, env_kwargs=env | {"max_episode_steps": 60})
    assert TOLD[-2:] == told
    assert compiled.parameters == generic.parameters
    assert [parameters["scale"] for parameters in generic.parameters] == [2.0, 2.0]


RAISED = [KeyError("x"), SystemExit(3), MemoryError()]


class RaisingAgent:
    """An agent of a user's, whose constructor fails in any way."""

    def __init__(self, n_arms, which):
        raise RAISED[which]

    def reset(self, seed=None): ...
    def act(self, observation=None): ...
    def observe(self, arm, reward): ...


@dataclass(frozen=True, kw_only=True)
class RaisingWorld(worlds.Stationary):
    """Likewise a world."""

    which: int = 0

    def __post_init__(self):
        raise RAISED[self.which]


@pytest.mark.parametrize("which", range(len(RAISED)), ids=[type(error).__name__ for error in RAISED])
@pytest.mark.parametrize("what", ["agent", "world"])
def test_whatever_a_constructor_raises_is_told_with_its_owner(what, which):
    own = f"{__name__}:Raising{what.capitalize()}:which={which}"
    given = (["abrupt:horizon=50"], [own]) if what == "agent" else ([own], ["ts"])
    with pytest.raises(ValueError, match=rf"^{what} '{own}'( on 'abrupt:horizon=50')?: ") as refused:
        check_study(Study("", (experiment(*given),)))
    assert "\n" not in str(refused.value)
    assert isinstance(refused.value.__cause__, type(RAISED[which]))
