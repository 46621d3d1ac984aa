"""Many runs of a model at once: N environments in arrays, and one pass through the network for each round of them all.

Run i of a batch is the one that the model plays alone with the i-th pair of seeds:

- The environments are the native vector environment with the twins of the single one's wrappers, equal to the bit.
- A policy that draws its arm takes from a stream of the run's own exactly the numbers that it takes when it plays
  alone: torch draws from K probabilities by dividing them by K exponential variables, and taking the largest.
- A product of matrices may add up in another order than one of a matrix and a vector, so that scores differ in their
  last bits, relatively by less than 1e-6. Only in a round in which the two best arms are that close can the arm differ.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
import torch
from gymnasium.wrappers import FlattenObservation, FrameStackObservation, OrderEnforcing, PassiveEnvChecker

from ..agents.core.arguments import available_memory
from ..envs.bandit import NSBanditEnv
from ..envs.vector import NSBanditVectorEnv
from ..play.simulate import Round
from ..wrappers import LastRounds, VectorLastRounds, VectorWindowedStatistics, WindowedStatistics
from .observations import inside_out

Array = npt.NDArray[Any]
MOST = 512  # runs in a batch; more of them do not make a run cheaper
SHARE = 4  # a batch may take this part of the free memory
RUN_BYTES, ARM_BYTES, NUMBER_BYTES = 50_000, 100, 200  # of a run, each of its arms and each number of its observation
TWINS: dict[type, Callable[..., Any]] = {
    WindowedStatistics: VectorWindowedStatistics,
    LastRounds: VectorLastRounds,
}
TRANSPARENT = (OrderEnforcing, PassiveEnvChecker)  # which gym.make adds by itself

# Environments.


# Takes the observations of N environments and whether they are the first; returns them as the wrapper arranges them.
Shape = Callable[[Array, bool], Array]


def _frames(wrapper: Any) -> Shape:
    """Return the last observations of N environments, as FrameStackObservation shows those of one."""
    frames: deque[Array] = deque(maxlen=int(wrapper.stack_size))

    def stacked(observations: Array, first: bool) -> Array:
        if first:
            before = observations if wrapper.padding_type == "reset" else np.zeros_like(observations)
            frames.extend([before] * wrapper.stack_size)
        frames.append(observations)
        return np.stack(frames, axis=1)

    return stacked


SHAPES: dict[type, Callable[[Any], Shape]] = {
    FrameStackObservation: _frames,
    FlattenObservation: lambda wrapper: lambda observations, first: observations.reshape(len(observations), -1),
}


@dataclass(frozen=True)
class BatchPlan:
    """The parts of an environment that is to be built N times.

    Attributes:
        bandit: the environment without wrappers.
        memories: the wrappers that remember rounds, the innermost first.
        shapes: the wrappers that arrange observations, around the others.
        size: the number of numbers in an observation.
    """

    bandit: NSBanditEnv
    memories: tuple[gym.Wrapper[Any, Any, Any, Any], ...]
    shapes: tuple[gym.Wrapper[Any, Any, Any, Any], ...]
    size: int

    @classmethod
    def of(cls, env: gym.Env[Any, Any]) -> BatchPlan | None:
        """Return the plan of an environment; None if it is foreign, is rendered, or has a wrapper without twin."""
        bandit, layers = env.unwrapped, [layer for layer in inside_out(env) if not isinstance(layer, TRANSPARENT)]
        kinds = [type(layer) for layer in layers]
        inner = sum(kind in TWINS for kind in kinds)
        if type(bandit) is not NSBanditEnv or bandit.render_mode is not None:
            return None
        if not all(kind in TWINS for kind in kinds[:inner]) or not all(kind in SHAPES for kind in kinds[inner:]):
            return None
        if any(getattr(layer, "padding_type", None) == "_custom" for layer in layers):
            return None
        size = int(np.prod(env.observation_space.shape or ()))
        return cls(bandit, tuple(layers[:inner]), tuple(layers[inner:]), size)

    def runs_at_once(self) -> int:
        """Return the number of runs that a batch has room for; at least one."""
        world = self.bandit.world
        each = RUN_BYTES + ARM_BYTES * world.n_arms + NUMBER_BYTES * self.size
        windows = [int(layer._saved_kwargs.get("window", 0)) for layer in self.memories]  # type: ignore[attr-defined]
        each += 16 * sum(windows)
        if world.random:
            each += 16 * world.n_arms * world.horizon  # the instance, and what its world needs to draw it
        return int(min(max(available_memory() / SHARE // each, 1), MOST))


# Scores of arms: probabilities or values, of which a deterministic policy plays the largest.

States = tuple[torch.Tensor, torch.Tensor] | None  # the memory of a recurrent policy, (layers, N, width) twice
# (policy, observations, states, whether the episodes begin) -> (N, K) scores of N observations, and the next states.
Rule = Callable[[Any, torch.Tensor, States, bool], tuple[torch.Tensor, States]]
Scores = Callable[[torch.Tensor, States, bool], tuple[torch.Tensor, States]]
OWNERS = {"stable_baselines3", "sb3_contrib", __name__.partition(".")[0]}


def _remembering(policy: Any, observations: torch.Tensor, states: States, begins: bool) -> tuple[torch.Tensor, States]:
    n = len(observations)
    if states is None:
        layers, _, width = policy.lstm_hidden_state_shape
        states = torch.zeros(layers, n, width), torch.zeros(layers, n, width)
    starts = torch.full((n,), float(begins))
    distribution, following = policy.get_distribution(observations, states, starts)
    return distribution.distribution.probs, following


def _memoryless(scores: Callable[[Any, torch.Tensor], torch.Tensor]) -> Rule:
    return lambda policy, observations, states, begins: (scores(policy, observations), states)


_drawing = _memoryless(lambda policy, shown: policy.get_distribution(shown).distribution.probs)
# a class of policies: its scores, computed as its own predict computes them.
RULES: dict[str, Rule] = {
    "stable_baselines3.common.policies:ActorCriticPolicy": _drawing,
    "stable_baselines3.dqn.policies:DQNPolicy": _memoryless(lambda policy, shown: policy.q_net(shown)),
    "sb3_contrib.common.recurrent.policies:RecurrentActorCriticPolicy": _remembering,
    "sb3_contrib.common.maskable.policies:MaskableActorCriticPolicy": _drawing,
    "sb3_contrib.qrdqn.policies:QRDQNPolicy": _memoryless(lambda policy, shown: policy.quantile_net(shown).mean(dim=1)),
    "sb3_contrib.ars.policies:ARSPolicy": _memoryless(
        lambda policy, shown: policy.action_net(policy.extract_features(shown, policy.features_extractor))
    ),
}


def scores_of(model: Any) -> Scores | None:
    """Return the scores by which a model chooses; None if it chooses in a way of its own, or not on the CPU."""
    policy = model.policy
    methods = (type(model).predict, type(policy).predict, type(policy)._predict)
    own_way = any(method.__module__.partition(".")[0] not in OWNERS for method in methods)
    names = (f"{kind.__module__}:{kind.__name__}" for kind in type(policy).__mro__)
    rule = next((RULES[name] for name in names if name in RULES), None)
    if own_way or rule is None or policy.device.type != "cpu":
        return None
    return lambda observations, states, begins: rule(policy, observations, states, begins)


# Play.


class Streams:
    """The random numbers of N policies that draw their arms.

    Args:
        seeds: their seeds.
        n_arms: K.
    """

    def __init__(self, seeds: list[int], n_arms: int) -> None:
        self._generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        self._drawn = torch.empty(len(seeds), n_arms)
        self._rows = list(self._drawn)

    def exponentials(self) -> torch.Tensor:
        """Return (N, K) exponential variables, each row from its own stream; overwritten by the next."""
        for row, generator in zip(self._rows, self._generators, strict=True):
            row.exponential_(1.0, generator=generator)
        return self._drawn


@cache
def draws_are_known() -> bool:
    """Return whether this version of torch draws from probabilities as described above."""
    probabilities = torch.softmax(torch.arange(7.0) / 3, dim=0)
    alone, streams = torch.Generator().manual_seed(0), Streams([0], 7)
    return all(
        int(torch.multinomial(probabilities, 1, True, generator=alone))
        == int((probabilities / streams.exponentials()[0]).argmax())
        for _ in range(50)
    )


def play_rounds(model: Any, plan: BatchPlan, seeds: list[tuple[int, int]], deterministic: bool) -> Iterator[Round]:
    """Yield the rounds of runs with these pairs of seeds.

    Args:
        model: the model; its scores are known.
        plan: the environment of each run.
        seeds: the pair of seeds of each run.
        deterministic: whether the arm with the highest score is played, or one is drawn.
    """
    envs: Any = NSBanditVectorEnv(len(seeds), world=plan.bandit.world, reward=plan.bandit.law)
    for wrapper in plan.memories:
        envs = TWINS[type(wrapper)](envs, **wrapper._saved_kwargs)  # type: ignore[attr-defined]
    shapes = [SHAPES[type(wrapper)](wrapper) for wrapper in plan.shapes]
    scores = scores_of(model)
    assert scores is not None
    policy, states = model.policy, None
    policy.set_training_mode(False)
    streams = None if deterministic else Streams([own for _, own in seeds], int(model.action_space.n))
    observations, _ = envs.reset(seed=[env for env, _ in seeds])
    for t in range(plan.bandit.world.horizon):
        for shape in shapes:
            observations = shape(observations, t == 0)
        with torch.no_grad():
            found, states = scores(policy.obs_to_tensor(observations)[0], states, t == 0)
            arms = (found if streams is None else found / streams.exponentials()).argmax(dim=1).numpy()
        observations, rewards, _, truncated, infos = envs.step(arms)
        yield Round(arms, rewards, (infos["final_info"] if truncated[0] else infos)["regret"])
