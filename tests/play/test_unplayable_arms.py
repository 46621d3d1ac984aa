"""Rules that choose what is no arm: refused by both loops in the same words, with the round, before it is played."""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

import ns_mab_gym as nsb
from ns_mab_gym import agents, worlds
from ns_mab_gym.agents.core.arguments import UnplayableArmError
from ns_mab_gym.agents.core.kernel import IntArray, rule
from ns_mab_gym.envs import NSBanditEnv

K, HORIZON = 10, 40
WORLD = worlds.Abrupt(horizon=HORIZON)


class WildState(NamedTuple):
    """What is chosen, and when."""

    chosen: Any  # (1,) integers or floats
    rounds: IntArray  # (1,) observed
    after: int


def act(state, mask, rng):
    return state.chosen[0] if state.rounds[0] >= state.after else state.chosen.dtype.type(0)


def observe(state, arm, reward):
    state.rounds[0] += 1


def forget(state, arm):
    pass


rule(WildState, act, observe, forget)


@dataclass(eq=False)
class Wild(agents.Agent):
    """Plays arm 1 for some rounds, and then what it is told to."""

    name: ClassVar[str] = "wild"

    chosen: Any = field(default=0, kw_only=True)
    after: int = field(default=0, kw_only=True)

    def _new_state(self) -> WildState:
        return WildState(np.array([self.chosen]), np.zeros(1, np.int64), self.after)


def refusals(agent: agents.Agent) -> tuple[str, str]:
    """What the compiled and the generic loop say."""
    with pytest.raises(UnplayableArmError) as compiled:
        nsb.simulate(WORLD, agent, runs=1)
    with pytest.raises(UnplayableArmError) as generic:
        nsb.run_episode(NSBanditEnv(WORLD), agent, 0)
    return str(compiled.value), str(generic.value)


@pytest.mark.parametrize("after", [0, 3, HORIZON - 1])
@pytest.mark.parametrize("chosen", [-1, K, -100, K + 1, 10**8, -(2**62), 2**62])
def test_integers_beyond_the_arms(chosen, after):
    said = f"wild chose {chosen} in round {after + 1}; an arm is an integer from 0 to 9, so mend the agent's act"
    assert refusals(Wild(K, chosen=chosen, after=after)) == (said, said)


@pytest.mark.parametrize("chosen", [2.5, -0.5, 9.5, math.nan, math.inf, -math.inf, 1e300, -5e-324, 10.0, -1.0])
def test_floats_that_are_no_arms(chosen):
    spelled = repr(int(chosen)) if chosen in (10.0, -1.0, 1e300) else repr(chosen)
    said = f"wild chose {spelled} in round 4; an arm is an integer from 0 to 9, so mend the agent's act"
    cut = [each.replace("…", "") for each in refusals(Wild(K, chosen=chosen, after=3))]
    assert cut == [said, said] or (chosen == 1e300 and cut[0] == cut[1])


@pytest.mark.parametrize("chosen", [0, 9, 9.0, np.uint8(9), True])
def test_whole_numbers_of_any_type_are_arms_in_both_loops(chosen):
    """numba may make a float of an integer: a rule must not depend on it."""
    agent = Wild(K, chosen=chosen)
    expected = [HORIZON if arm == int(chosen) else 0 for arm in range(K)]
    assert nsb.simulate(WORLD, agent, runs=1).pulls[0].tolist() == expected
    assert nsb.run_episode(NSBanditEnv(WORLD), agent, 0).pulls.tolist() == expected


class OddState(NamedTuple):
    """Nothing of interest."""

    rounds: IntArray


def choose_a_list(state, mask, rng):
    return [1]


def choose_nothing(state, mask, rng):
    pass


def observe_nothing(state, arm, reward):
    pass


def choose_nothing_at_times(state, mask, rng):
    return None if state.rounds[0] == 3 else 1


def choose_nothing_at_last(state, mask, rng):
    if state.rounds[0] < HORIZON - 1:
        return 0.0
    return None


def count_rounds(state, arm, reward):
    state.rounds[0] += 1


NO_NUMBERS = [
    (choose_a_list, "[1]", 1),
    (choose_nothing, "None", 1),
    (choose_nothing_at_times, "None", 4),
    (choose_nothing_at_last, "None", HORIZON),
]


def odd_agent(act):
    """An agent with this rule, and with a state of its own, as numba keeps the first rule that it sees."""

    class State(OddState):
        pass

    rule(State, act, count_rounds)

    @dataclass(eq=False)
    class Odd(agents.Agent):
        name = "odd"

        def _new_state(self):
            return State(np.zeros(1, np.int64))

    return Odd(K)


@pytest.mark.parametrize(("act", "chosen", "round_"), NO_NUMBERS)
def test_what_is_no_number(act, chosen, round_):
    said = f"odd chose {chosen} in round {round_}; an arm is an integer from 0 to 9, so mend the agent's act"
    assert refusals(odd_agent(act)) == (said, said)


def test_an_agent_within_another():
    """The outer rule hands on what the inner one chose; nobody uses it as an index before it is refused."""
    detector = "page-hinkley(threshold=9)"
    for chosen in (K, -1, 2**40):
        base = f"{__name__}:Wild(chosen={chosen}, after=7)"
        agent = agents.Restarting(K, base=base, detector=detector, exploration="none", rate=0)
        said = f"restarting chose {chosen} in round 8; an arm is an integer from 0 to 9, so mend the agent's act"
        assert refusals(agent) == (said, said)


@pytest.mark.parametrize("chosen", [K, -1, 2.0, 2.5, math.nan, "3", None, [1], True, np.bool_(True), 10**30, 1j])
def test_agents_without_a_rule(chosen):
    """Any object with three methods must return an integer, as ``check_agent`` says."""

    class Player:
        def reset(self, seed=None):
            self.left = 5

        def act(self, observation=None):
            self.left -= 1
            return chosen if self.left < 0 else np.int64(1)

        def observe(self, arm, reward):
            assert self.left >= 0, "what was refused is not played"

    with pytest.raises(UnplayableArmError, match=r"^Player chose .* in round 6; an arm is an integer from 0 to 9"):
        nsb.run_episode(NSBanditEnv(WORLD), Player(), 0)


def test_an_agent_alone_says_so_without_the_round():
    with pytest.raises(UnplayableArmError, match=r"^wild chose -1; an arm is an integer from 0 to 9, so mend"):
        Wild(K, chosen=-1).act()


def test_the_error_comes_back_from_other_processes():
    for error in (UnplayableArmError("a", "-1", 3), UnplayableArmError("a", "-1", 3, 7)):
        back = pickle.loads(pickle.dumps(error))
        assert (type(back), str(back)) == (type(error), str(error))
        assert str(back.in_round(2)) == str(error.in_round(2))


def _with_globals(state, mask, rng):
    return int(str(state.rounds[0])[0]) if len(globals()) else 0


def _with_a_dictionary(state, mask, rng):
    return np.argmax({0: mask[0]})  # an AttributeError in numba's own code


@pytest.mark.parametrize("act", [_with_globals, _with_a_dictionary])
def test_a_rule_that_numba_cannot_compile_is_refused_in_words(act):
    with pytest.raises(TypeError, match=r"^numba cannot compile the rule of odd: .*; write it with what numba knows"):
        nsb.simulate(WORLD, odd_agent(act), runs=1)


def test_a_rule_that_assigns_to_a_field_of_its_state_is_told_to_use_an_array():
    def act(state, mask, rng):
        state.rounds = state.rounds
        return 0

    said = "the rule of odd assigns to state.rounds, .*: make rounds an array"
    with pytest.raises(TypeError, match=f"^{said}"):
        nsb.simulate(WORLD, odd_agent(act), runs=1)
    with pytest.raises(agents.AgentCheckError, match=f"- {said}"):
        agents.check_agent(odd_agent(act), K)
