"""What every agent of the registry must do, whatever its rule: a new agent is tested by being there."""

from __future__ import annotations

import copy
import dataclasses
import doctest
import inspect
import io
import math
import pickle
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from examples import HOUSE, example_agent, known

import ns_mab_gym as nsb
from ns_mab_gym import agents, simulate, theory, worlds
from ns_mab_gym.agents import Knowledge, MissingKnowledgeError
from ns_mab_gym.agents.core.kernel import RULES
from ns_mab_gym.agents.core.registry import SECTIONS
from ns_mab_gym.envs import NSBanditEnv

K = 4
every_agent = pytest.mark.parametrize("name", HOUSE)


def play(agent: agents.AgentProtocol, rounds: int, luck: np.random.Generator) -> list[int]:
    """Arms on a bandit whose best arm changes half way, with 0 or 1 for rewards."""
    arms = []
    for t in range(rounds):
        arms.append(agent.act())
        mean = 0.2 + 0.2 * (arms[-1] if t < rounds // 2 else K - 1 - arms[-1])
        agent.observe(arms[-1], float(luck.random() < mean))
    return arms


def assert_same_state(one: agents.Agent, two: agents.Agent) -> None:
    mine, other = one.state_dict(), two.state_dict()
    assert mine.keys() == other.keys()
    for key in mine:
        np.testing.assert_array_equal(mine[key], other[key], err_msg=key)


def test_without_a_seed_two_agents_do_not_share_their_luck(example):
    one, two = example("ts", K), example("ts", K)
    one.reset()
    two.reset()
    assert one.state_dict()["generator"].tolist() != two.state_dict()["generator"].tolist()


@every_agent
def test_copies_go_on_alike_and_apart(name, example):
    agent = example(name, K)
    agent.reset(seed=8)
    play(agent, 100, np.random.default_rng(1))
    copies = copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))
    played = play(agent, 100, np.random.default_rng(2))
    for other in copies:
        assert played == play(other, 100, np.random.default_rng(2))
        assert_same_state(agent, other)


@every_agent
def test_a_clone_has_the_parameters_and_nothing_else(name, example):
    agent = example(name, K, binarize=True)
    agent.reset(seed=8)
    play(agent, 100, np.random.default_rng(1))
    clone = agent.clone()
    assert clone.parameters.keys() == agent.parameters.keys()
    for key, value in agent.parameters.items():
        np.testing.assert_array_equal(clone.parameters[key], value)
    fresh = example(name, K, binarize=True)
    for each in (clone, fresh):
        each.reset(seed=3)
    assert_same_state(clone, fresh)


@every_agent
def test_only_open_arms_are_played(name, example):
    agent = example(name, K)
    agent.reset(seed=2)
    mask = np.array([False, True, False, True])
    if not agent.handles_mask:
        with pytest.raises(ValueError, match=f"{name} has no rule for arms that cannot be played; use beta-swts or"):
            agent.act(mask=mask)
        return
    for t in range(200):
        mask = np.roll([True, t % 3 > 0, False, False], t)
        arm = agent.act(mask=mask)
        assert mask[arm]
        agent.observe(arm, float(t % 2))


@every_agent
def test_its_card_is_complete(name):
    card = agents.card(name)
    assert agents.card(name) == card  # a second time: a module of that name would have taken its place
    kind = agents.kind(name)
    assert card.name == name
    assert card.summary.strip()
    assert set(card.facts) - {"weakness"} == {*map(str.lower, SECTIONS), "rewards", "probability", "late"}
    assert "not stated" not in card.facts.values()
    for section in SECTIONS:
        assert getattr(card, section.lower()).endswith((".", ")", ").")), f"{section} ends in mid-sentence"
    fields = [f.name for f in dataclasses.fields(kind)]
    assert list(card.parameters)[: len(fields)] == fields
    assert set(card.parameters) - set(fields) <= {"subgaussian"}
    printed = " ".join(str(card).split())
    assert printed.startswith(f"{name}: {card.summary}")
    for part in (*card.facts.values(), *card.parameters):
        assert " ".join(part.split()) in printed
    with pytest.raises(AttributeError, match="this card has no fact 'colour'; it has source, rule"):
        _ = card.colour


@every_agent
def test_its_card_lists_the_scale_of_rewards_if_it_is_tuned_from_it(name):
    """Also where it is no parameter of the class; ``explore-then-commit`` needs the means beside it."""
    told = {
        "variation": 2.0,
        "lipschitz": 0.01,
        "breakpoints": 1,
        "switches": 1,
        "means": np.tile([0.2, 0.5, 0.9], (4, 1)),
    }
    made = [
        agents.kind(name).tune(Knowledge(n_arms=3, horizon=10_000, subgaussian=scale, **told), {})
        for scale in (0.5, 1.0)
    ]
    tuned = agents.kind(name).accepts == "real" and made[0].items() != made[1].items()
    assert ("subgaussian" in agents.card(name).parameters) == tuned


@pytest.mark.parametrize("name", ["r-less-ucb", "ser4", "d-ucb", "m-ucb", "master", "bandit-over-windows"])
def test_the_card_of_an_agent_far_behind_says_why_with_its_regret(name):
    assert re.search(r"regret .*\d ± \d", agents.card(name).weakness)


@every_agent
def test_its_docstring_shows_it_at_work(name):
    """An example that the doctests run, which makes the agent or tunes it."""
    kind = agents.kind(name)
    examples = doctest.DocTestParser().get_examples(kind.__doc__)
    assert any(f"{kind.__name__}(" in each.source or f"{kind.__name__}.tune(" in each.source for each in examples)


@pytest.mark.parametrize("name", ["ts", "sw-ucb", "restarting"])
def test_binarized_rewards_are_coin_flips_with_the_reward_as_their_mean(name, example):
    """A Bernoulli of the reward, drawn from the agent's own generator: the agent sees 0 or 1 only."""
    agent, plain = example(name, K, binarize=True), example(name, K)
    agent.reset(seed=9)
    plain.reset(seed=9)
    rewards = [0.0, 0.3, 0.7, 1.0] * 30
    for reward in rewards:
        arm = agent.act()
        assert arm == plain.act()
        flip = float(plain.rng.random() < reward)
        assert reward > 0 or flip == 0.0
        assert reward < 1 or flip == 1.0
        agent.observe(arm, reward)
        plain.observe(arm, flip)
    left, right = agent.state_dict(), plain.state_dict()
    for key in left:
        if key != "parameter.binarize":
            np.testing.assert_array_equal(left[key], right[key])


ANY_REWARD = [name for name in HOUSE if agents.kind(name).accepts == "real"]


@pytest.mark.parametrize("factor", [2.0**-7, 2.0**9])
@pytest.mark.parametrize("name", ANY_REWARD)
def test_the_scale_of_rewards_makes_no_difference_once_it_is_told(name, factor):
    """Rewards, means and λ, a power of 2 times as large so that nothing is rounded: the same arms.

    γ ≤ 1, which the theorems of gamma-swgts ask for, keeps it from it below λ = ½.
    """
    if name == "gamma-swgts" and factor < 1:
        pytest.skip("its γ is at most 1")
    means = np.repeat([[0.2, 0.5, 0.8], [0.9, 0.4, 0.1]], 150, axis=0)
    noise = np.random.default_rng(5).standard_normal(300)
    played = []
    for size in (1.0, factor):
        known = replace(theory.knowledge(means * size), support=(-math.inf, math.inf))
        agent, arms = agents.make(name, knowledge=known, subgaussian=0.5 * size), []
        agent.reset(seed=3)
        for t in range(300):
            arms.append(agent.act())
            agent.observe(arms[-1], size * (means[t, arms[-1]] + 0.5 * noise[t]))
        played.append(arms)
    assert played[0] == played[1]
    assert len(set(played[0])) == 3 or name == "oracle"


@pytest.mark.parametrize("name", ANY_REWARD)
def test_a_card_says_what_the_scale_of_rewards_does(name):
    told = agents.card(name).knowledge
    assert "½ if it is not given" in told or "no scale of rewards matters" in told or name in ("random", "oracle")


@pytest.mark.parametrize("name", HOUSE)
def test_one_word_tells_the_scale_to_every_agent_for_any_reward(name):
    told = {"knowledge": agents.Knowledge(n_arms=3, horizon=100, switches=2, means=np.eye(3).repeat(34, axis=0)[:100])}
    if name not in ANY_REWARD:
        with pytest.raises(TypeError, match="has no parameter 'subgaussian'"):
            agents.make(name, subgaussian=60.0, **told)
        return
    agent = agents.make(name, subgaussian=60.0, **told)
    same = agents.make(name, knowledge=replace(told["knowledge"], subgaussian=60.0))
    strange = {key: value for key, value in agent.parameters.items() if key != "means"}
    assert strange == {key: value for key, value in same.parameters.items() if key != "means"}
    with pytest.raises(ValueError, match="subgaussian must be a finite number above 0, got 0"):
        agents.make(name, subgaussian=0, **told)


@pytest.mark.parametrize("name", [name for name in ANY_REWARD if name != "oracle"])
def test_a_blind_agent_is_told_the_law_of_rewards_but_not_how_the_means_move(name):
    known = theory.knowledge(np.repeat([[0.2, 0.5, 0.8], [0.9, 0.4, 0.1]], 50, axis=0))
    told = replace(known, subgaussian=60.0, support=(-90.0, 150.0))
    plain = agents.Knowledge(n_arms=3, horizon=100, subgaussian=60.0, support=(-90.0, 150.0))
    wanted = replace(plain, **agents.kind(name).assumes)
    assert agents.make(name, knowledge=told, blind=True).parameters == agents.make(name, knowledge=wanted).parameters


@pytest.mark.parametrize("blind", [False, True])
@pytest.mark.parametrize("sd", [0.05, 1.0, 60.0, 500.0])
@pytest.mark.parametrize("name", [name for name in ANY_REWARD if name not in ("oracle", "random")])
def test_no_agent_for_any_reward_is_worse_than_chance_on_any_scale(name, sd, blind):
    """Means of 7/6 to 16/6 standard deviations, in one phase: two whose bounds are wide are like random so soon.

    The share of random's regret, of 8 runs of 2 000 rounds; random's own scatters by 2 %.
    """
    world = worlds.Table(rows=np.tile(sd * np.linspace(7 / 6, 16 / 6, 5)[[2, 0, 4, 1, 3]], (2_000, 1)))
    env = NSBanditEnv(world, reward="gaussian", scale=sd)
    told = {"blind": True} if blind else {}
    regret = simulate(env, name, runs=8, seed=1, agent_kwargs=told).regret[:, -1].mean()
    chance = simulate(env, "random", runs=8, seed=1).regret[:, -1].mean()
    assert regret < (1.04 if name in ("ser4", "r-less-ucb") else 0.9) * chance


@every_agent
def test_an_agent_equals_itself_alone_and_takes_parameters_by_name(name, example):
    """Two agents with the same parameters know different things once they have played.

    A number without a name cannot be taken for another parameter, and parameters can be added.
    """
    agent = example(name)
    twin = agent.clone()
    assert agent == agent
    assert (agent == twin) is False
    assert {agent: 1, twin: 2} == {twin: 2, agent: 1}
    given = inspect.signature(agents.kind(name)).parameters.values()
    assert [each.name for each in given if each.kind is not each.KEYWORD_ONLY] == ["n_arms"]


# forget: the state of an agent after it forgot one arm, or all.

FORGETFUL = [name for name in HOUSE if "forget" in RULES[type(example_agent(name).state)]]
# Their memory is about the race between arms: to forget one arm is to start over.
RACES = {"rexp3", "ser4", "exp3", "exp3s", "exp3-ix", "tsallis-inf", "gradient-bandit"}
every_forgetful_agent = pytest.mark.parametrize("name", FORGETFUL)


def test_every_agent_that_learns_can_forget():
    assert set(HOUSE) - set(FORGETFUL) == {"random", "oracle"}
    with pytest.raises(NotImplementedError, match="RandomState cannot forget: give rule"):
        example_agent("random").forget()


UNREAD = (".arms", ".rewards", ".values", ".kept", ".recent")  # memories whose old content is no longer counted


@every_forgetful_agent
def test_after_forgetting_all_it_plays_like_a_new_agent(name):
    old, new = example_agent(name, K), example_agent(name, K)
    old.reset(seed=1)
    play(old, 450, np.random.default_rng(2))
    old.forget()
    new.reset(seed=3)
    for key, value in new.state_dict().items():
        if key.startswith("state.") and not key.endswith(UNREAD):
            np.testing.assert_array_equal(old.state_dict()[key], value, err_msg=key)
    old.rng = np.random.default_rng(3)
    assert play(old, 300, np.random.default_rng(4)) == play(new, 300, np.random.default_rng(4))


@every_forgetful_agent
def test_forgetting_one_arm_leaves_the_others(name):
    """Counts and sums equal those of a history in which the arm was never played; races start over."""
    agent = example_agent(name, K)
    agent.reset(seed=1)
    play(agent, 120, np.random.default_rng(2))
    if name in RACES:
        agent.forget(0)
        fresh = example_agent(name, K)
        for key, value in fresh.state_dict().items():
            if key.startswith("state."):
                np.testing.assert_array_equal(agent.state_dict()[key], value, err_msg=key)
        return
    before = agent.state_dict()
    agent.forget(0)  # whose number must not stand for all
    after = agent.state_dict()
    for key in (key for key in before if key.endswith((".pulls", ".sums"))):  # other memories have tests of their own
        expected = before[key].copy()
        expected[..., 0] = 0
        np.testing.assert_array_equal(after[key], expected)


@pytest.mark.parametrize("name", ["kl-ucb", "sw-kl-ucb"])
def test_where_the_search_for_the_largest_index_begins_is_forgotten_with_all_arms_alone(name):
    agent = example_agent(name, K)
    for _ in range(60):
        arm = agent.act()
        agent.observe(arm, 0.9 if arm == 2 else 0.1)
    last, odds = agent.state.last[0], agent.state.odds[0]
    assert last == 2
    assert odds > 0
    agent.forget(1)
    assert (agent.state.last[0], agent.state.odds[0]) == (last, odds)
    agent.forget()
    assert (agent.state.last[0], agent.state.odds[0]) == (0, 0.0)


# Told T, K and the law of rewards alone, every agent has parameters and plays, from the smallest sizes to large ones.

KNOW_THE_WORLD = {"oracle", "oracle-restart"}
BLIND = [name for name in HOUSE if name not in KNOW_THE_WORLD]
SIZES = [(2, 1), (2, 2), (10, 1), (200, 3), (10, 50), (200, 50_000), (2, 1_000_000)]


def assert_plays(agent: agents.Agent, rounds: int) -> None:
    """Its parameters are finite, and every arm that it plays exists."""
    for key, value in agent.parameters.items():
        assert not isinstance(value, float) or np.isfinite(value), f"{agent.name}: {key} = {value}"
    agent.reset(seed=1)
    for t in range(rounds):
        arm = agent.act()
        assert 0 <= arm < agent.n_arms
        agent.observe(arm, float((t + arm) % 3 == 0))


@pytest.mark.parametrize("name", BLIND)
def test_every_size(name):
    for n_arms, horizon in SIZES:
        agent = agents.make(name, n_arms, horizon, blind=True)
        assert_plays(agent, min(horizon, n_arms + 10))


@pytest.mark.parametrize("name", BLIND)
def test_informed_of_no_change_of_few_and_of_one_in_every_round(name):
    """The formulas are made for few changes, but must not break where a world drifts."""
    for n_arms, horizon in [(2, 1), (4, 400), (10, 1_000_000)]:
        for changes in sorted({0, min(1, horizon - 1), horizon // 16, horizon - 1}):
            told = Knowledge(
                n_arms=n_arms, horizon=horizon, breakpoints=changes, variation=0.01 * changes,
                lipschitz=0.01 * (changes > 0), switches=min(changes, 3), subgaussian=0.5,
            )  # fmt: skip
            agent = agents.make(name, knowledge=told)
            assert_plays(agent, min(horizon, 30))


@pytest.mark.parametrize("name", BLIND)
def test_blind_means_told_nothing_but_t_and_k(name):
    """What the world is like makes no difference; without the word, it is what the agent is told by arguments alone."""
    told, other = known(4, 400), dataclasses.replace(known(4, 400), breakpoints=77, variation=9.0, switches=5)
    blind = agents.make(name, knowledge=told, blind=True).parameters
    assert blind == agents.make(name, knowledge=other, blind=True).parameters
    if not agents.kind(name).assumes:
        assert blind == agents.make(name, 4, 400).parameters


def test_who_must_assume_something():
    """Their sources have no formula without it; without the word `blind` they say what is missing."""
    assert {name: dict(agents.kind(name).assumes) for name in HOUSE if agents.kind(name).assumes} == {
        "rexp3": {"variation": 1.0},
        "ser4": {"switches": 0},
    }
    assert agents.make("rexp3", 10, 50_000, blind=True).batch == 3862  # ⌈(10 ln 10)^(1/3) 50 000^(2/3)⌉
    for name in ("rexp3", "ser4"):
        with pytest.raises(MissingKnowledgeError):
            agents.make(name, 10, 50_000)
        assert "Blind:" in agents.card(name).tuning


@pytest.mark.parametrize("name", sorted(KNOW_THE_WORLD))
def test_who_knows_the_world_cannot_be_blind(name):
    with pytest.raises(ValueError, match=rf"{name} plays by the means and cannot be blind; leave out blind, or"):
        agents.make(name, knowledge=known(4, 400), blind=True)


def test_both_ways_to_play_blind():
    world = worlds.Abrupt(horizon=300)
    runs = nsb.simulate(world, "rexp3", runs=1, seed=2, agent_kwargs={"blind": True}, record="all")
    agent = agents.make("rexp3", 10, 300, blind=True)
    played = nsb.run_episode(nsb.envs.NSBanditEnv(world), agent, runs.seeds[0])
    np.testing.assert_array_equal(runs.arms[0], played.arms)
    assert runs.parameters[0]["batch"] == agent.batch
    assert runs.parameters[0] != nsb.simulate(world, "rexp3", runs=1, seed=2).parameters[0]


def test_blind_is_yes_or_no():
    with pytest.raises(
        TypeError, match="blind must be True or False, got 'yes'; on the command line, write blind=true"
    ):
        agents.make("ts", 3, 100, blind="yes")


# On a stationary bandit with means 0.1 and 0.9, every learning agent finds the better arm and stays with it: 95 % of
# the last fifth of T = 20 000 rounds, in each of five runs, windowed agents with τ = 2 000 included. The others explore
# by design for longer, and their tests play them arm by arm beside their definitions.
WORLD = worlds.Stationary(mu=(0.1, 0.9), horizon=20_000)
OTHERS = ("random", "ser4", "r-less-ucb", "master", "bandit-over-windows", "epsilon-greedy", "floor")
LEARNERS = [name for name in HOUSE if name not in OTHERS]


def shares(name: str, runs: int = 5, **parameters: float) -> np.ndarray:
    """The better arm's share of the last fifth, in each run."""
    played = simulate(WORLD, name, runs=runs, seed=1, record="all", agent_kwargs=parameters)
    return (played.arms[:, -4_000:] == 1).mean(axis=1)


@pytest.mark.parametrize("name", LEARNERS)
def test_stationary_worlds_are_learnt(name):
    assert shares(name).min() >= 0.95


def test_stationary_worlds_are_learnt_by_ser4_without_resets():
    assert shares("ser4", phi=0.0).min() == 1.0


def test_stationary_worlds_are_learnt_by_epsilon_greedy_but_for_epsilon():
    """Half of the random arms are the worse one: 0.5 % and 5 %, with five standard errors of 4 000 rounds."""
    for epsilon in (0.01, 0.1):
        worse = 1 - shares("epsilon-greedy", epsilon=epsilon)
        assert np.abs(worse - epsilon / 2).max() < 5 * math.sqrt(epsilon / 2 / 4_000)


def test_stationary_worlds_are_not_learnt_by_chance():
    """The test can tell: 4 000 rounds, five standard errors."""
    assert np.abs(shares("random") - 0.5).max() < 5 * math.sqrt(0.25 / 4_000)


# A saved state is loaded whole, if it is the agent's own and undamaged, or not at all: of every form of the states.

ARMS = 4
FORMS: dict[str, list[dict[str, Any]]] = {
    "gamma-swgts": [{"gamma": 0.5}, {"binarize": True}],
    "dsw-ts": [{"window": None}, {"gamma": 1.0, "window": 3}],
    "d-ts": [{"gamma": 0.6}],
    "ds-ts": [{"gamma": 0.2}],
    "fewa": [{"grid": "geometric"}],
    "raw-ucb": [{"grid": "geometric"}],
    "changepoint-ucb": [{"rate": 0.1, "hypotheses": 8}, {"prior": 0.1, "drift": 0.0}],
    "switching-ts": [
        *({"restart": "arm"}, {"hypotheses": 3}, {"restart": "arm", "hypotheses": 2, "hazard": 0.3}),
        *({"hazard": "learnt"}, {"hazard": "learnt", "hypotheses": 3}),
    ],
    "kalman-ts": [{"phi": 0.5}],
    "aff-ucb": [{"step": 0.1}],
    "aff-ts": [{"step": 0.1}],
    "cusum-ucb": [{"threshold": 1.0, "warmup": 5}],
    "br-mab": [{"threshold": 1.0, "warmup": 5}],
    "bandit-over-windows": [{"base": base} for base in ("beta-swts", "gamma-swgts", "sw-kl-ucb")] + [{"block": 1}],
    "master": [{"tolerance": 0.001}],
    "epsilon-greedy": [{"step": 0.0, "epsilon": 0.0, "decay": 2.0}, {"initial": 2.0}],
    "softmax": [{"step": 0.0, "initial": 0.5}, {"cooling": True}],
    "gradient-bandit": [{"baseline": False}],
    "exp3-ix": [{"eta": 0.0}, {"gamma": 0.1}],
    "tsallis-inf": [{"estimator": "iw"}],
    "predictive-sampling": [{"variance": "posterior", "phi": (0.9, 0.5, 0.99, 0.7)}],
    "floor": [{"base": "sw-ucb(window=20)"}],
    "restarting": [
        {"base": "ts", "detector": "cusum(threshold=1, warmup=5)", "exploration": "uniform", "rate": 0.1},
        {"base": "sw-ucb(window=20)", "detector": "adwin(delta=0.2, every=3, per_row=2)", "restart": "local"},
        {"base": "kl-ucb", "detector": "halves(samples=6, threshold=1)", "exploration": "diminishing", "rate": 1.0},
        {"base": "ucb1", "detector": "page-hinkley(threshold=1)", "counting": "arm"},
        {"base": "ucb1", "detector": "glr(delta=0.3, every=1, splits=1, memory=8)", "restart": "local"},
    ],
}
EVERY_FORM = [(name, parameters) for name in HOUSE for parameters in ({}, *FORMS.get(name, []))]


def in_the_middle(name: str, parameters: dict[str, Any], rounds: int, seed: int) -> agents.Agent:
    """An agent that has played so many rounds on a bandit whose arms change places after every 50."""
    agent = example_agent(name, ARMS, **parameters)
    agent.reset(seed=seed)
    play_on(agent, rounds, seed)
    return agent


def play_on(agent: agents.Agent, rounds: int, seed: int) -> list[int]:
    """The arms that an agent plays in the next rounds; fails on one that there is not."""
    luck, arms = np.random.default_rng(seed), []
    fractional = takes_fractions(agent)
    for t in range(rounds):
        arm = agent.act()
        assert 0 <= arm < agent.n_arms, f"it played arm {arm}"
        mean = 0.1 + 0.8 * ((arm + t // 50) % agent.n_arms) / agent.n_arms
        agent.observe(arm, min(1.0, mean + 0.1 * luck.random()) if fractional else float(luck.random() < mean))
        arms.append(arm)
    return arms


def takes_fractions(agent: agents.Agent) -> bool:
    """Whether an agent, or the agent within it, takes rewards between 0 and 1."""
    try:
        agent.check_rewards((0.0, 1.0), False)
    except ValueError:
        return False
    return True


def snapshot(agent: agents.Agent) -> dict[str, bytes]:
    """Everything that an agent knows, as bytes."""
    return {key: np.asarray(value).tobytes() for key, value in agent.state_dict().items()}


def through_a_file(saved: dict[str, Any]) -> Any:
    """The same in numpy's own file format, with pickle forbidden."""
    file = io.BytesIO()
    np.savez(file, **saved)
    file.seek(0)
    return np.load(file, allow_pickle=False)


def assert_refused(agent: agents.Agent, saved: Any, message: str) -> None:
    """It is not loaded, and the agent is what it was and plays as it would have."""
    before, twin = snapshot(agent), copy.deepcopy(agent)
    with pytest.raises((TypeError, ValueError), match=message):
        agent.load_state_dict(saved)
    assert snapshot(agent) == before
    assert play_on(agent, 20, 9) == play_on(twin, 20, 9)


@pytest.mark.parametrize(("name", "parameters"), EVERY_FORM, ids=lambda given: str(given).strip("{}")[:60])
def test_what_an_agent_saves_it_loads_unless_it_was_damaged(name, parameters):
    """In the middle of a run at several moments, between act and observe too, and after it was made to forget.

    It goes on bit for bit, and what was saved does not change with the agent.
    """
    agent = in_the_middle(name, parameters, 0, seed=1)
    other = agent.clone()
    for moment in range(6):
        play_on(agent, 7 * moment % 31 + 1, moment)
        if moment % 3 == 2:
            agent.act()
        if moment == 3 and name not in ("random", "oracle"):
            agent.forget(1)
        saved, before = agent.state_dict(), snapshot(agent)
        other.load_state_dict(through_a_file(saved))
        assert snapshot(other) == before
        assert play_on(agent, 5, moment) == play_on(other, 5, moment)
        assert {key: np.asarray(value).tobytes() for key, value in saved.items()} == before  # which stays what it was
    assert snapshot(other) == snapshot(agent)
    saved = agent.state_dict()
    last = [key for key in saved if key.startswith("state.") and saved[key].size][-1]
    saved[last].flat[0] = 1 + np.nan_to_num(saved[last].flat[0])
    with pytest.raises(ValueError, match="is damaged: its arrays do not have its digest"):
        other.load_state_dict(saved)
    assert snapshot(other) == snapshot(agent)


@pytest.mark.parametrize(("name", "parameters"), EVERY_FORM, ids=lambda given: str(given).strip("{}")[:60])
def test_what_an_agent_saves_after_late_rewards_and_past_the_horizon_it_loads(name, parameters):
    """Rewards come seven at a time in the opposite order, three times as many as T, in the end of one arm alone.

    A memory that is full refuses a reward and stays as it is.
    """
    agent = example_agent(name, ARMS, horizon=40, **parameters)
    agent.reset(seed=4)
    luck = np.random.default_rng(4)
    for batch in range(18):
        for arm in [agent.act() if batch < 9 else 1 for _ in range(7)][::-1]:
            before = snapshot(agent)
            if not takes(agent, arm, float(luck.random() < 0.5)):
                assert snapshot(agent) == before
    other = agent.clone()
    other.load_state_dict(through_a_file(agent.state_dict()))
    for _ in range(60):
        arm, reward = agent.act(), float(luck.random() < 0.5)
        assert other.act() == arm
        assert takes(other, arm, reward) == takes(agent, arm, reward)
    assert snapshot(other) == snapshot(agent)


def takes(agent: agents.Agent, arm: int, reward: float) -> bool:
    """Whether an agent has room for a reward, which it then takes in."""
    try:
        agent.observe(arm, reward)
    except ValueError as error:
        if "the memory of samples is full" not in str(error):
            raise
        return False
    return True


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda saved: None, "a saved ts is a dictionary as state_dict\\(\\) returns it, got NoneType"),
        (lambda saved: list(saved), "a saved ts is a dictionary .*, got list"),
        (lambda saved: {}, "not a saved ts: it has no 'agent', 'parameter.n_arms', 'parameter.binarize' and 11 more"),
        (lambda saved: saved | {"other": 1, 5: 2}, "not a saved ts: a ts has no 'other', 5; save it with"),
        (lambda saved: {k: v for k, v in saved.items() if k != "generator"}, "not a saved ts: it has no 'generator'; "),
        (lambda saved: agents.UCB1(ARMS).state_dict(), "not a saved ts but a saved ucb1: it has no 'state.means', "),
        (lambda saved: saved | {"agent": "x" * 999}, r"saved with agent = x{200}, this agent has ts; make it the same"),
        (
            lambda saved: saved | {"parameter.binarize": True},
            "saved with parameter.binarize = True, this agent has Fal",
        ),
        (lambda saved: saved | {"agent": None}, "saved agent holds object values; it must hold numbers, truth values"),
        (lambda saved: saved | {"state.means": None}, "saved state.means holds object values"),
        (lambda saved: saved | {"state.means": [[1.0], [1.0, 2.0]]}, "saved state.means cannot be read as an array"),
        (lambda saved: saved | {"state.means": np.zeros(ARMS, np.float32)}, r"saved state.means is float32\[4\], this"),
        (lambda saved: saved | {"state.means": np.zeros(ARMS + 1)}, r"saved state.means is float64\[5\], this agent's"),
        (lambda saved: saved | {"generator": np.zeros(6)}, r"saved generator is float64\[6\], this agent's is uint64"),
        (lambda saved: saved | {"generator": np.zeros(6, np.uint64)}, "the saved ts is damaged"),
        (lambda saved: saved | {"state.means": np.zeros(ARMS)}, "the saved ts is damaged: its arrays do not have its"),
        (lambda saved: saved | {"digest": "0" * 64}, "the saved ts is damaged"),
        (lambda saved: saved | {"digest": 7}, "the saved ts is damaged"),
    ],
)
def test_messages_name_what_is_wrong(change, message):
    agent = in_the_middle("ts", {}, 20, seed=1)
    assert_refused(agent, change(agent.state_dict()), message)


def test_files_with_pickled_objects():
    agent = in_the_middle("ts", {}, 20, seed=1)
    pickled = through_a_file(agent.state_dict() | {"state.means": np.array([{}], dtype=object)})
    assert_refused(agent, pickled, "saved state.means cannot be read as an array")


def test_constant_arrays_stay_constant():
    """For them compiled code has a type of its own."""
    agent = in_the_middle("oracle", {}, 5, seed=1)
    agent.load_state_dict(agent.state_dict())
    assert not agent.state.means.flags.writeable
    assert agent.state.rounds.flags.writeable
