"""The grid of detectors and agents: its named points, its spelling, its errors."""

from __future__ import annotations

import numpy as np
import pytest
from examples import HOUSE, example_agent

from ns_mab_gym import agents
from ns_mab_gym.agents.core.arguments import read_call, spell_call
from ns_mab_gym.agents.core.kernel import states_in
from ns_mab_gym.agents.detecting import DETECTORS
from ns_mab_gym.agents.parts.alarms import alarms_in
from ns_mab_gym.agents.parts.exploration import (
    EXPLORATION,
    Exploration,
    Explorer,
    advance,
    explored,
    forget_exploration,
)

K = 3
KL = {"base": "kl-ucb(c=0)", "growing": True}
UCB = {"base": "ucb1(xi=0.5)", "counting": "samples"}


def play(agent: agents.Agent, rounds: int = 800) -> list[int]:
    """The arms where the worst arm becomes the best after 400 rounds."""
    luck = np.random.default_rng(1)
    agent.reset(seed=2)
    arms = []
    for t in range(rounds):
        arms.append(agent.act())
        mean = (0.1, 0.5, 0.9)[arms[-1] if t < 400 else K - 1 - arms[-1]]
        agent.observe(arms[-1], float(luck.random() < mean))
    return arms


@pytest.mark.parametrize(
    ("name", "parameters", "grid"),
    [
        ("glr-ts", {}, {"base": "ts", "detector": "glr(splits=5)", "growing": True}),
        ("glr-klucb", {}, KL | {"detector": "glr", "restart": "local", "counting": "arm"}),
        ("glr-klucb", {"restart": "global"}, KL | {"detector": "glr(splits=5)"}),
        ("adr-ts", {}, {"base": "ts", "detector": "adwin", "exploration": "none"}),
        ("cusum-ucb", {}, UCB | {"detector": "cusum", "restart": "local", "exploration": "uniform"}),
    ],
)
def test_named_agents_are_points_of_the_grid(name, parameters, grid):
    """Tuned alike but for the rate, which is taken over, they play the same arms and sound the same alarms."""
    named = agents.make(name, K, 800, **parameters)
    rate = getattr(named, "rate", getattr(named, "alpha", 0.0))
    agent = agents.make("restarting", K, 800, rate=rate, **grid)
    assert play(agent) == play(named)
    assert alarms_in(agent.state).tolist() == alarms_in(named.state).tolist()
    assert len(alarms_in(agent.state)) > 0 or name == "cusum-ucb"


BASES = ["ts", "ucb1", "kl-ucb", "sw-ucb", "gamma-swgts", "rexp3", "ser4"]


@pytest.mark.parametrize(
    ("base", "detector"), [(base, [*DETECTORS][n % 5]) for n, base in enumerate([*BASES, *BASES[::-1]])]
)
def test_every_detector_goes_around_every_kind_of_agent(base, detector):
    for restart in ("local", "global"):
        agent = agents.make("restarting", K, 400, base=base, detector=detector, restart=restart)
        assert agent.base.startswith(base)
        assert agent.detector.startswith(f"{detector}(")
        play(agent, 120)
        assert alarms_in(agent.state) is not None


@pytest.mark.parametrize(("exploration", "forced"), [("in turn", 160 % 28), ("diminishing", 0)])
def test_after_an_alarm_turns_go_on_but_diminishing_exploration_begins_again(exploration, forced):
    """Alarm after round 160: the next round is 21st of a period of 28, or the first of a new turn that plays arm 1."""
    parameters = {"detector": "glr(delta=0.01)", "rate": 0.1067772, "exploration": exploration}
    agent = agents.make("restarting", K, 2_000, **parameters)
    agent.reset(seed=1)
    for t in range(160):
        agent.observe(1, float(t < 150))
    assert alarms_in(agent.state)["round"].tolist() == [160]
    assert 160 % 28 == 20
    for offset in range(20):
        place = forced + offset if exploration == "in turn" else offset
        arm = agent.act()
        if place % 28 < K:
            assert arm == place % 28
        agent.observe(arm, 1.0)


def test_options_inside_the_names_are_tuned_where_they_are_not_given():
    """1/√10 000 = 0.01, ln 10 000 = 9.21 blind, and ln(10 000/4) = 7.82 with four breakpoints."""
    agent = agents.make("restarting", K, 10_000, detector="glr(every=7)", base="kl-ucb( c = 1 )")
    assert agent.detector == "glr(delta=0.01, factor=1.0, every=7, splits=10, memory=1024)"
    assert agent.base == "kl-ucb(c=1.0)"
    blind = agents.make("restarting", K, 10_000, detector="cusum(warmup=30)")
    told = agents.make("restarting", K, 10_000, detector="cusum(warmup=30)", knowledge=agents.Knowledge(breakpoints=4))
    for each, threshold in ((blind, np.log(10_000)), (told, np.log(2_500))):
        name, options = read_call("detector", each.detector)
        assert (name, options["warmup"]) == ("cusum", 30)
        assert options["threshold"] == pytest.approx(threshold)
    given = agents.make("restarting", K, 10_000, detector="cusum(threshold=5, epsilon=0.1)", base="sw-ucb(window=50)")
    assert given.detector.startswith("cusum(threshold=5")
    assert given.base.startswith("sw-ucb(window=50")


def test_the_spelled_out_parameters_make_the_same_agent_without_any_knowledge():
    tuned = agents.make("restarting", K, 800, detector="cusum", base="sw-ucb")
    plain = {key: value for key, value in tuned.parameters.items() if key != "n_arms"}
    assert all(isinstance(value, str | float | bool) for value in plain.values())
    again = agents.Restarting(K, **plain)
    assert again.parameters == tuned.parameters == tuned.clone().parameters
    assert play(again) == play(tuned)


def test_rewards_and_masks_are_those_of_the_base():
    assert agents.make("restarting", K, 100).accepts == "binary"
    assert agents.make("restarting", K, 100, base="kl-ucb").accepts == "unit"
    assert agents.make("restarting", K, 100, base="ucb1").accepts == "unit"
    agents.make("restarting", K, 100, base="ucb1").observe(0, 0.5)
    with pytest.raises(ValueError, match=r"restarting takes rewards in \[0, 1\], got a reward of 1.5"):
        agents.make("restarting", K, 100, base="ucb1").observe(0, 1.5)
    with pytest.raises(ValueError, match="restarting has no rule for arms that cannot be played"):
        agents.make("restarting", K, 100, base="rexp3").act(mask=np.array([True, False, True]))


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("ts", "ts", {}),
        ("ts()", "ts", {}),
        (" kl-ucb (c = 0)", "kl-ucb", {"c": 0}),
        ("a.b:C(x=-1.5, y='z', w=None)", "a.b:C", {"x": -1.5, "y": "z", "w": None}),
    ],
)
def test_reading_calls(text, name, options):
    assert read_call("base", text) == (name, options)
    assert read_call("base", spell_call(name, options)) == (name, options)


@pytest.mark.parametrize(
    "text", ["", "ts(", "ts)", "kl-ucb(0)", "ts(x=open)", "ts(**{})", "ts(x=1)(y=2)", "a b", "ts(x=1, x=2)"]
)
def test_calls_that_cannot_be_read(text):
    with pytest.raises(
        ValueError, match=r"base must be a name, with options in brackets if it has any, as in 'kl-ucb\(c"
    ):
        agents.make("restarting", K, 100, base=text)


def test_what_is_missing_without_a_horizon():
    words = (
        r"detector 'cusum' needs threshold; give it as in 'cusum\(threshold=…\)', or let ns_mab_gym.agents.make tune"
    )
    with pytest.raises(TypeError, match=words):
        agents.Restarting(K, detector="cusum", rate=0.1)
    with pytest.raises(TypeError, match="base 'sw-ucb' needs window; give it as in"):
        agents.Restarting(K, base="sw-ucb", detector="glr(delta=0.1)", rate=0.1)


# Exploration reaches every arm, the last one too, and no more often than it says.


def plan(explorer: Explorer, n_arms: int, rounds: int, mask: np.ndarray | None = None) -> list[int]:
    """Which arm is explored in each round, -1 for none, if no alarm is sounded."""
    is_open = np.ones(n_arms, np.bool_) if mask is None else mask
    rng, arms = np.random.default_rng(1), []
    for _ in range(rounds):
        arms.append(int(explored(explorer, is_open, rng)))
        advance(explorer, n_arms, alarm=False)
    return arms


def explorer_of(name: str, n_arms: int) -> Explorer | None:
    """The part of the agent that explores, if it has one and it is at work."""
    found = [state for state in states_in(example_agent(name, n_arms).state) if isinstance(state, Explorer)]
    return found[0] if found and found[0].kind != EXPLORATION["none"] else None


EXPLORING = [name for name in HOUSE if explorer_of(name, 3) is not None]


@pytest.mark.parametrize("name", EXPLORING)
@pytest.mark.parametrize("n_arms", [2, 20])
def test_every_agent_that_explores_reaches_every_arm(name, n_arms):
    """Whatever the agent within would play; each arm is due 20 times, or about that."""
    explorer = explorer_of(name, n_arms)
    rate = min(1.0, explorer.rate)
    seen = plan(explorer, n_arms, rounds=int(20 * n_arms / rate))
    assert set(seen) - {-1} == set(range(n_arms))


def test_the_agents_that_explore():
    assert {"cusum-ucb", "pht-ucb", "m-ucb", "br-mab"} <= set(EXPLORING)


def test_in_turn_by_hand():
    """K = 3: with a rate of 0.4, P = ⌊7.5⌋ = 7; with 0.9, ⌊3.33⌋ is too little, so P = K + 1 = 4."""
    assert plan(Exploration("in turn", 0.4).new_state(), 3, 17) == [0, 1, 2, -1, -1, -1, -1] * 2 + [0, 1, 2]
    assert plan(Exploration("in turn", 0.9).new_state(), 3, 9) == [0, 1, 2, -1] * 2 + [0]
    assert plan(Exploration("in turn", 1e-100).new_state(), 3, 9) == [0, 1, 2] + [-1] * 6


def turns(explorer: Explorer, n_arms: int, rounds: int) -> list[int]:
    """The rounds, counted from 1, in which turns begin."""
    arms = plan(explorer, n_arms, rounds)
    begins = [s for s, arm in enumerate(arms, 1) if arm == 0]
    for s in begins:
        assert arms[s - 1 : s - 1 + n_arms] == list(range(n_arms))[: rounds - s + 1]
    assert sum(arm >= 0 for arm in arms) == sum(min(n_arms, rounds - s + 1) for s in begins)
    return begins


def test_diminishing_by_hand():
    """K = 3, α = 1, u ← ⌈u + 3√u + 9/4⌉: 1, ⌈6.25⌉ = 7, ⌈17.19⌉ = 18, ⌈32.98⌉ = 33, ⌈52.48⌉ = 53."""
    explorer = Exploration("diminishing", 1.0).new_state()
    assert turns(explorer, 3, 60) == [1, 7, 18, 33, 53]
    advance(explorer, 3, alarm=True)
    assert turns(explorer, 3, 10) == [1, 7]
    forget_exploration(explorer)
    assert turns(explorer, 3, 10) == [1, 7]


def test_diminishing_turns_do_not_overlap():
    """With α = 100 the formula says that the next turn begins before this one has ended: it begins at its end."""
    assert turns(Exploration("diminishing", 100.0).new_state(), 3, 30) == list(range(1, 31, 3))
    assert turns(Exploration("diminishing", 1e-100).new_state(), 3, 30) == [1]


def test_a_closed_arm_leaves_its_turn_to_the_agent():
    mask = np.array([True, False, True])
    assert plan(Exploration("in turn", 0.5).new_state(), 3, 8, mask) == [0, -1, 2, -1, -1, -1, 0, -1]
    assert set(plan(Exploration("uniform", 1.0).new_state(), 3, 200, mask)) == {0, -1, 2}


def test_a_rate_of_zero_draws_nothing():
    rng, other = np.random.default_rng(1), np.random.default_rng(1)
    for kind in EXPLORATION:
        assert explored(Exploration(kind, 0.0).new_state(), np.ones(3, np.bool_), rng) == -1
    assert rng.random() == other.random()
