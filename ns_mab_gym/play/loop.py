"""The two loops that play one episode: in Python, for any agent and environment, and compiled, for rules of the suite.

The compiled loop calls the agents' own functions as machine code; both give the same trajectories, bit for bit.
"""

from __future__ import annotations

import hashlib
import threading
from array import array
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from ..agents.core.arguments import UnplayableArmError, playable, positive_int, seed_number, shown
from ..agents.core.kernel import act, functions_of, imagine, inlined, observe, states_in
from ..agents.core.protocol import Agent, AgentProtocol
from ..agents.parts.alarms import alarms_of, log_in
from ..compilation import compiled
from ..means import Floats, Ints
from ..quantile import beta_quantile
from ..rewards import Bernoulli, Beta, Empirical, Gaussian, Law
from ..runs import seed_pair
from ..sources import modules_behind
from ..specs import check_plays

# The mark of a wrapper, the trait of an agent that can play it, and the feedback in words.
FEEDBACK = (
    ("delays_rewards", "handles_delay", "rewards that arrive late"),
    ("masks_arms", "handles_mask", "arms that cannot be played"),
)
PAIR = "or give a pair, the environment's seed and the agent's"
BERNOULLI, GAUSSIAN, BETA, SHIFTED, SCALED = range(5)  # the last two are empirical
# Constants of each compiled loop, which drops what it does not need:
QUANTILES = True  # whether rewards are drawn through the quantiles of Beta laws, which take a second to compile
LATE = False  # whether pulls are under way that the rule counts


@dataclass(frozen=True)
class Trajectory:
    """One episode.

    Attributes:
        arms: (T,) the arm of each round.
        rewards: (T,) the reward of each round.
        regret: (T,) the cumulative dynamic pseudo-regret Σ_s (μ*_s − μ_{I_s,s}); None if the environment's ``info``
            does not contain the means.
        pulls: (K,) how often each arm was played.
        suboptimal_pulls: (K,) N_{i,T}, how often each arm was played while its mean was below the best; None as above.
        alarms: (n,) the alarms of an agent with a detector, an array with the fields ``round``, ``arm`` and
            ``everything`` (see :class:`ns_mab_gym.Runs`); None for other agents.
    """

    arms: Ints
    rewards: Floats
    regret: Floats | None
    pulls: Ints
    suboptimal_pulls: Ints | None
    alarms: npt.NDArray[np.void] | None = None


def run_episode(
    env: gym.Env[Any, Any], agent: AgentProtocol, seed: int | tuple[int, int] | None = None, *, progress: bool = False
) -> Trajectory:
    """Play one episode.

    Rewards that arrive late (``info["feedback"]``, see :class:`ns_mab_gym.wrappers.DelayedRewards`) are observed when
    they arrive; the agent is told which arms can be played (``info["mask"]``, see
    :class:`ns_mab_gym.wrappers.ArmAvailability`).

    Args:
        env: an environment with a discrete action space.
        agent: an object with ``reset``, ``act`` and ``observe``.
        seed: the environment's and the agent's seed, or one number from which both are derived (the first run of
            ``simulate`` with that seed); fresh ones if not given.
        progress: show a progress bar.
    """
    start = first_action(env)
    n_arms = int(env.action_space.n)  # type: ignore[attr-defined]
    check_match(env, agent)
    if isinstance(seed, tuple | list) and len(seed) == 2:
        env_seed, agent_seed = seed_number(seed[0], "the environment's seed"), seed_number(seed[1], "the agent's seed")
    elif seed is None:
        env_seed = agent_seed = None
    else:
        env_seed, agent_seed = seed_pair(positive_int("seed", seed, least=0, most=None, hint=PAIR))
    observation, info = env.reset(seed=env_seed)
    agent.reset(seed=agent_seed)
    arms, rewards, gaps = array("q"), array("d"), array("d")  # lists would take four times the memory
    log = log_in(agent.state) if isinstance(agent, Agent) else None
    sounded: list[int] = []
    bar = None
    if progress:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            raise ImportError("a progress bar needs tqdm: pip install 'ns-mab-gym[experiments]'") from None
        bar = tqdm(total=getattr(getattr(env.unwrapped, "world", None), "horizon", None), unit=" rounds")
    name = getattr(agent, "name", type(agent).__name__)
    over = False
    while not over:
        try:
            chosen = agent.act(observation, **({"mask": info["mask"]} if "mask" in info else {}))
        except UnplayableArmError as error:
            raise error.in_round(len(arms) + 1) from None
        arm = playable(name, chosen, n_arms, len(arms) + 1)
        observation, reward, terminated, truncated, info = env.step(arm + start)
        for _, earlier_arm, late_reward in info.get("feedback", ((0, arm, float(reward)),)):
            agent.observe(earlier_arm, late_reward)
        arms.append(int(arm))
        rewards.append(float(reward))
        if log is not None and int(log.rows[0, 0]) > len(sounded):
            sounded += [len(arms)] * (int(log.rows[0, 0]) - len(sounded))
        if "regret" in info:
            gaps.append(float(info["regret"]))
        elif "mu" in info:
            gaps.append(float(np.max(info["mu"]) - info["mu"][arm]))
        over = bool(terminated or truncated)
        if bar is not None:
            bar.update()
    if bar is not None:
        bar.close()
    taken = np.array(arms, dtype=np.int64)
    regret = suboptimal = alarms = None
    if len(gaps) == len(arms):
        regret = np.cumsum(gaps)
        suboptimal = np.bincount(taken[np.array(gaps) > 0], minlength=n_arms)
    if log is not None:
        alarms = alarms_of(log)
        alarms["round"] = sounded[: len(alarms)]  # the agent counts rewards, of which some may arrive late
    return Trajectory(taken, np.array(rewards), regret, np.bincount(taken, minlength=n_arms), suboptimal, alarms)


def check_match(env: gym.Env[Any, Any], agent: AgentProtocol) -> None:
    """Raise an error before the run if the agent cannot play this environment."""
    check_plays(agent)
    n_actions, n_arms = int(env.action_space.n), getattr(agent, "n_arms", None)  # type: ignore[attr-defined]
    if n_arms is not None and n_arms != n_actions:
        raise ValueError(f"the agent was made for {n_arms} arms, the environment has {n_actions}")
    law = getattr(env.unwrapped, "law", None)
    if law is not None and isinstance(agent, Agent):
        agent.check_rewards(law.support, law.binary)
    layer: Any = env
    while isinstance(layer, gym.Wrapper):  # late rewards and closed arms need a rule
        for needs, trait, what in FEEDBACK:
            if getattr(type(layer), needs, False) and not getattr(agent, trait, False):
                raise ValueError(f"{getattr(agent, 'name', agent)} has no rule for {what}; use beta-swts or sw-ucb")
        layer = layer.env


def first_action(env: gym.Env[Any, Any]) -> int:
    """Return the first action of a discrete action space; raises an error for any other space."""
    if not isinstance(env, gym.Env):
        raise TypeError(f"an environment is what gym.make returns, got {shown(env)}")
    if not isinstance(env.action_space, gym.spaces.Discrete):
        raise TypeError(f"a bandit agent needs a Discrete action space, {env} has {env.action_space}")
    return int(env.action_space.start)


def law_code(law: Law) -> tuple[int, Floats] | None:
    """Return the number and the parameters of a reward law in the compiled loop; None for any other law."""
    if type(law) is Bernoulli:
        return BERNOULLI, np.zeros(1)
    if type(law) is Gaussian:
        return GAUSSIAN, np.array([law.scale], np.float64)
    if type(law) is Beta:
        return BETA, np.array([law.concentration], np.float64)
    if type(law) is Empirical:
        return SCALED if law.scaled else SHIFTED, law.shape.copy()
    return None


@inlined
def draw(law: int, parameters: Floats, mu: float, rng: np.random.Generator) -> float:
    """A reward with mean ``mu``, the number that :meth:`ns_mab_gym.rewards.Law.draw` returns; of any law but Beta."""
    if law == BERNOULLI:
        return 1.0 if rng.random() < mu else 0.0
    if law == GAUSSIAN:
        return mu + float(parameters[0]) * rng.standard_normal()
    value: float = parameters[int(rng.random() * parameters.size)]
    return mu * value if law == SCALED else mu + value


@inlined
def draw_beta(parameters: Floats, mu: float, rng: np.random.Generator) -> float:
    """A Beta reward with mean ``mu``, likewise."""
    return beta_quantile(rng.random(), parameters[0] * mu, parameters[0] * (1.0 - mu))


def _play(
    state: Any,
    view: Any,  # a copy of the state on which the rule acts while pulls are under way; else the state
    law: int,
    parameters: npt.NDArray[np.float64],
    binarize: bool,
    means: npt.NDArray[np.float64],  # (T, K)
    best: npt.NDArray[np.float64],  # (T,) the largest mean of each round
    mask: npt.NDArray[np.bool_],  # (K,) of ones: every arm is available
    luck: np.random.Generator,
    rng: np.random.Generator,
    rounds: npt.NDArray[np.int64],  # (C,) after which rounds to note the regret
    regret: npt.NDArray[np.float64],  # (C,) out
    pending: npt.NDArray[np.int64],  # (K,) pulls under way
    pulls: npt.NDArray[np.int64],  # (K,) out
    suboptimal: npt.NDArray[np.int64],  # (K,) out
    arms: npt.NDArray[np.int64],  # (T,) out, or empty; not empty if rewards are late
    rewards: npt.NDArray[np.float64],  # (T,) out, likewise
    order: npt.NDArray[np.int64],  # (T,) the rounds in the order in which their rewards arrive; empty if none is late
    known: npt.NDArray[np.int64],  # (T,) how many rewards have arrived after each round, or empty
    alarms: npt.NDArray[np.int64],  # the rows of the agent's log of alarms, whose rounds are set to those of the game
) -> tuple[int, float]:
    """Act, draw a reward and observe what arrives in every round; results go into the arrays marked as out.

    Returns (T, 0) at the end; (t, choice) if the choice after t rounds is no arm; and (−1 − t, 0) if it is None, which
    numba lets a rule return in some rounds only.
    """
    horizon, n_arms = means.shape
    total = 0.0
    noted, observed, sounded = 0, 0, 0
    for t in range(horizon):
        supposed = state
        if LATE and observed < t:
            imagine(view, state, pending)
            supposed = view
        chosen: Any = act(supposed, mask, rng)
        if chosen is None:
            return -1 - t, 0.0
        if not 0 <= chosen < n_arms or int(chosen) != chosen:
            return t, 1.0 * chosen  # not an arm: compiled code would read and write beyond the arrays
        arm = int(chosen)
        if LATE:
            pending[arm] += 1
        mu = means[t, arm]
        if QUANTILES:  # noqa: SIM108 - numba drops the branch of a statement, but not that of an expression
            reward = draw_beta(parameters, mu, luck)
        else:
            reward = draw(law, parameters, mu, luck)
        if arms.size > 0:
            arms[t] = arm
            rewards[t] = reward
        due = known[t] if order.size > 0 else t + 1
        while observed < due:
            paid, value = arm, reward
            if order.size > 0:
                paid, value = arms[order[observed]], rewards[order[observed]]
            if binarize:
                value = 1.0 if rng.random() < value else 0.0
            observe(state, paid, value)
            if LATE:
                pending[paid] -= 1
            observed += 1
        while sounded < alarms[0, 0]:
            sounded += 1
            if sounded < alarms.shape[0]:
                alarms[sounded, 0] = t + 1
        total += best[t] - mu
        pulls[arm] += 1
        if mu < best[t]:
            suboptimal[arm] += 1
        if rounds[noted] == t + 1:
            regret[noted] = total
            noted += 1
    return horizon, 0.0


def _replay(
    state: Any,
    binarize: bool,
    arms: npt.NDArray[np.int64],  # (N,) the arms of a log
    rewards: npt.NDArray[np.float64],  # (N,) their rewards
    kept: npt.NDArray[np.bool_],  # (N,) which of its decisions may be taken
    mask: npt.NDArray[np.bool_],  # (K,) of ones
    rng: np.random.Generator,
) -> tuple[int, float]:
    """Act, and observe the next decision of the log with that arm, to the end; how many were taken, and their sum."""
    taken, total, t = 0, 0.0, 0
    while True:
        arm: Any = act(state, mask, rng)
        while t < arms.size and (arms[t] != arm or not kept[t]):
            t += 1
        if t == arms.size:
            return taken, total
        reward = rewards[t]
        total += reward
        taken += 1
        t += 1
        if binarize:
            reward = 1.0 if rng.random() < reward else 0.0
        observe(state, int(arm), reward)


def replayed(agent: AgentProtocol, arms: Ints, rewards: Floats, kept: npt.NDArray[np.bool_]) -> tuple[int, float]:
    """Let an agent, reset before, choose from a log: how many decisions it took, and the sum of their rewards.

    Each of its choices waits for the next decision of the log with that arm which may be taken.
    """
    if isinstance(agent, Agent) and type(agent).act is Agent.act and type(agent).observe is Agent.observe:
        play = loop_for(tuple(type(state) for state in states_in(agent.state)), agent.name, replaying=True)
        mask = np.ones(agent.n_arms, np.bool_)
        taken, total = play(agent.state, agent.binarize, arms, rewards, kept, mask, agent.rng)
        return int(taken), float(total)
    taken, total, t = 0, 0.0, 0
    while True:
        arm = agent.act()
        while t < len(arms) and (arms[t] != arm or not kept[t]):
            t += 1
        if t == len(arms):
            return taken, total
        agent.observe(arm, float(rewards[t]))
        taken, total, t = taken + 1, total + float(rewards[t]), t + 1


@compiled
def best_means(means: npt.NDArray[np.float64], best: npt.NDArray[np.float64]) -> None:
    """Write the largest mean of each round into ``best``, (T,)."""
    horizon, n_arms = means.shape
    for t in range(horizon):
        largest = means[t, 0]
        for i in range(1, n_arms):
            largest = max(largest, means[t, i])
        best[t] = largest


_LOOPS: dict[tuple[Any, ...], Any] = {}
_MAKING = threading.Lock()


def loop_for(
    kinds: tuple[type, ...], agent: str, law: int = BERNOULLI, *, late: bool = False, replaying: bool = False
) -> Any:
    """Return the compiled loop for a state whose own class and nested states' classes are these, and for a reward law.

    It is cached on disk under the hash of all sources; see :mod:`ns_mab_gym.compilation`. If those do not determine the
    rule (it was defined in ``__main__`` or within a function), the loop is compiled for this process only.

    Args:
        kinds: the classes.
        agent: the agent's name, for the message that the loop is being compiled.
        law: the number of the law; Beta laws have a loop of their own.
        late: whether pulls are under way that the rule counts; they have one too.
        replaying: whether the loop goes through a log instead of a game.
    """
    rules = tuple(function for kind in kinds for function in functions_of(kind))
    quantiles = law == BETA
    key = kinds, rules, quantiles, late, replaying
    with _MAKING:
        if key in _LOOPS:
            return _LOOPS[key]
        made_from: tuple[Any, ...] = (*kinds, *rules)
        names = [f"{each.__module__}:{each.__qualname__}" for each in made_from]
        title = f"{kinds[0].__module__.replace('.', '_')}_{kinds[0].__name__}"
        digest = hashlib.sha256(" ".join(names).encode()).hexdigest()[:16]
        scope = globals() | {"QUANTILES": quantiles, "LATE": late}
        form = f"{'replay' if replaying else 'play'}_{'beta_' if quantiles else ''}{'late_' if late else ''}"
        played = FunctionType((_replay if replaying else _play).__code__, scope, f"{form}{title}_{digest}")
        played.__qualname__ = played.__name__  # numba names its cache files after it
        played.__module__ = _play.__module__
        others = [name for name in names if not name.startswith("ns_mab_gym.")]
        kept = not any(name.startswith("__main__:") or "<locals>" in name for name in others)
        modules = modules_behind({name.partition(":")[0] for name in others}) if kept else ()
        _LOOPS[key] = compiled(played, kept=kept, called=agent, modules=modules)
        return _LOOPS[key]
