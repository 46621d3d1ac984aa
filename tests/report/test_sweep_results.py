"""What sweeps show on a world: the runs' final regrets in order, and the values that formulas would choose."""

import math

import numpy as np
import pytest

from ns_mab_gym.figures.regret import Swept
from ns_mab_gym.runs import Runs
from ns_mab_gym.specs import AgentSpec, WorldSpec, read_agents
from ns_mab_gym.studies.results import Results
from ns_mab_gym.studies.study import Experiment, Study
from ns_mab_gym.studies.tables import swept_on
from ns_mab_gym.theory import recommend_window
from ns_mab_gym.worlds import Abrupt

HORIZON = 600


def runs(final: float) -> Runs:
    pulls = np.full((2, 10), HORIZON // 10)
    regret = np.array([[final - 1.0], [final + 1.0]])
    return Runs(np.array([HORIZON]), regret, pulls, pulls, [(1, 2), (3, 4)], [{}, {}], 0.1)


def swept(world: WorldSpec, *agents: AgentSpec) -> list[Swept]:
    """The sweeps of agents whose n-th has a mean final regret of n."""
    experiment = Experiment(worlds=(world,), agents=agents, runs=2)
    curves = {agent.label: runs(float(n)) for n, agent in enumerate(agents)}
    entries = {agent.label: agent for agent in agents}
    results = Results(Study("s", (experiment,)), {world.label: curves}, {world.label: entries})
    return swept_on(results, experiment, world)


ABRUPT = WorldSpec.of("NSBandit-Abrupt-v0", horizon=HORIZON)


def test_values_ascend_with_their_regrets_and_theory_is_marked():
    [found] = swept(ABRUPT, AgentSpec.of("ts"), *read_agents("beta-swts:window=200|50"))
    assert (found.label, found.parameter, found.values) == ("beta-swts", "window", [50, 200])
    assert [finals.tolist() for finals in found.finals] == [[1, 3], [0, 2]]  # 200 came first, after ts
    suggested = math.floor(4 * math.sqrt(HORIZON * math.log(HORIZON)))  # the paper's formula
    recommended = recommend_window(Abrupt(horizon=HORIZON).means(), "beta-swts").window
    assert found.marks == {"tuned": suggested, "recommended": recommended}
    assert recommended != suggested


def test_marks_belong_to_the_other_parameters_that_are_fixed():
    [gamma] = swept(ABRUPT, *read_agents("gamma-swgts:gamma=0.1|0.5,window=80"))
    assert gamma.marks == {"tuned": 1.0}  # min{1/(4λ²), 1} for λ = ½; no theory recommends a γ
    [windows] = swept(ABRUPT, *read_agents("gamma-swgts:window=80|90,gamma=0.1"))
    means = Abrupt(horizon=HORIZON).means()
    assert windows.marks["recommended"] == recommend_window(means, "gamma-swgts", gamma=0.1).window
    [other] = swept(ABRUPT, *read_agents("sw-ucb:window=80|90"))
    assert list(other.marks) == ["tuned"]  # the heuristic is about the paper's two samplers


def test_on_a_random_world_only_what_does_not_hang_on_the_instance_is_marked():
    world = WorldSpec.of("piecewise", horizon=HORIZON, n_arms=3)
    [window] = swept(world, *read_agents("beta-swts:window=200|50"))
    assert window.marks == {"tuned": math.floor(4 * math.sqrt(HORIZON * math.log(HORIZON)))}
    [batch] = swept(world, *read_agents("rexp3:batch=20|50"))  # tuned from V_T, which differs
    assert batch.marks == {}


@pytest.mark.parametrize("words", ["beta-swts:window=20|50", "random:binarize=true|false"])
def test_an_environment_that_does_not_tell_its_means_has_no_marks(words):
    found = swept(WorldSpec.of("CartPole-v1"), *read_agents(words))
    assert [each.marks for each in found] == ([{}] if "window" in words else [])
