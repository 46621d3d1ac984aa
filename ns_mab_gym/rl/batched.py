"""Many runs of a model at once: N environments in arrays, and one pass through the network for each round of them all.

Run i of a batch is the one that the model plays alone with the i-th pair of seeds:

- The environments are the native vector environment with the twins of the single one's wrappers, equal to the bit.
- A policy that draws its arm takes from a stream of the run's own exactly the numbers that it takes when it plays
  alone: torch draws from K probabilities by dividing them by K exponential variables, and taking the largest.
- A product of matrices may add up in another order than one of a matrix and a vector, so that scores differ in their
  last bits, relatively by less than 1e-6. Where the two best arms of a run are close, its scores are computed again,
  for this run alone. The memory of a recurrent policy goes on from what it was in the batch: torch's recurrent layers
  give a row of a batch the bits that it has alone, at least on the machines tried.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import islice, repeat
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
CLOSE = 1e-4  # scores that differ by less, in units of the largest, are computed again; float32 has errors of 1e-7
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


def batched_layers(env: gym.Env[Any, Any]) -> list[Any] | None:
    """Return the wrappers of an environment that can be built N times: those that remember, then those that arrange.

    None if the environment is foreign, is rendered, or has a wrapper without twin.
    """
    bandit, layers = env.unwrapped, [layer for layer in inside_out(env) if not isinstance(layer, TRANSPARENT)]
    inner = sum(type(layer) in TWINS for layer in layers)
    known = all(type(layer) in (TWINS if i < inner else SHAPES) for i, layer in enumerate(layers))
    custom = any(getattr(layer, "padding_type", None) == "_custom" for layer in layers)
    return layers if type(bandit) is NSBanditEnv and bandit.render_mode is None and known and not custom else None


def batch_size(env: gym.Env[Any, Any]) -> int:
    """Return the number of runs on an environment that a batch has room for; 0 if they must be played one by one."""
    if (layers := batched_layers(env)) is None:
        return 0
    world = env.unwrapped.world  # type: ignore[attr-defined]
    each = RUN_BYTES + ARM_BYTES * world.n_arms + NUMBER_BYTES * int(np.prod(env.observation_space.shape or ()))
    each += 16 * sum(int(layer._saved_kwargs.get("window", 0)) for layer in layers)
    if world.random:
        each += 16 * world.n_arms * world.horizon  # the instance, and what its world needs to draw it
    return int(min(max(available_memory() / SHARE // each, 1), MOST))


# Scores of arms: probabilities or values, of which a deterministic policy plays the largest.

States = tuple[torch.Tensor, torch.Tensor] | None  # the memory of a recurrent policy, (layers, N, width) twice
Scores = Callable[[torch.Tensor, States, bool], tuple[torch.Tensor, States]]
OWNERS = {"stable_baselines3", "sb3_contrib", __name__.partition(".")[0]}


def _drawing(policy: Any, shown: torch.Tensor) -> torch.Tensor:
    return policy.get_distribution(shown).distribution.probs  # type: ignore[no-any-return]


# the class that has a policy's rule: its scores of N observations, (N, K), computed as its own predict computes them.
RULES: dict[str, Callable[[Any, torch.Tensor], torch.Tensor]] = {
    "ActorCriticPolicy": _drawing,
    "MaskableActorCriticPolicy": _drawing,
    "DQNPolicy": lambda policy, shown: policy.q_net(shown),
    "QRDQNPolicy": lambda policy, shown: policy.quantile_net(shown).mean(dim=1),
    "ARSPolicy": lambda policy, shown: policy.action_net(policy.extract_features(shown, policy.features_extractor)),
}


def _remembering(policy: Any, shown: torch.Tensor, states: States, begins: bool) -> tuple[torch.Tensor, States]:
    n = len(shown)
    if states is None:
        layers, _, width = policy.lstm_hidden_state_shape
        states = torch.zeros(layers, n, width), torch.zeros(layers, n, width)
    distribution, following = policy.get_distribution(shown, states, torch.full((n,), float(begins)))
    return distribution.distribution.probs, following


def scores_of(model: Any) -> Scores | None:
    """Return the scores by which a model chooses; None if it chooses in a way of its own, or not on the CPU.

    They take N observations, the memories, and whether episodes begin; they return the scores and the next memories.
    """
    policy = model.policy
    methods = (type(model).predict, type(policy).predict, type(policy)._predict)
    if policy.device.type != "cpu" or any(method.__module__.partition(".")[0] not in OWNERS for method in methods):
        return None
    owner = methods[-1].__qualname__.partition(".")[0]
    if owner == "RecurrentActorCriticPolicy":
        return partial(_remembering, policy)
    rule = RULES.get(owner)
    return None if rule is None else lambda shown, states, begins: (rule(policy, shown), None)


# Play.


def exponentials(seeds: list[int], n_arms: int) -> Iterator[torch.Tensor]:
    """Yield (N, K) exponential variables, each row from the stream of its seed; overwritten by the next."""
    drawn = torch.empty(len(seeds), n_arms)
    streams = [(row, torch.Generator().manual_seed(seed)) for row, seed in zip(drawn, seeds, strict=True)]
    while True:
        for row, generator in streams:
            row.exponential_(1.0, generator=generator)
        yield drawn


@cache
def draws_are_known() -> bool:
    """Return whether this version of torch draws from probabilities as described above."""
    probabilities = torch.softmax(torch.arange(7.0) / 3, dim=0)
    alone = torch.Generator().manual_seed(0)
    return all(
        int(torch.multinomial(probabilities, 1, True, generator=alone)) == int((probabilities / drawn[0]).argmax())
        for drawn in islice(exponentials([0], 7), 50)
    )


@torch.no_grad()
def chosen(
    scores: Scores, shown: torch.Tensor, states: States, begins: bool, noise: torch.Tensor
) -> tuple[Array, States]:
    """Return the arm of each run, the largest of its scores divided by its noise, and the next memories."""
    found, following = scores(shown, states, begins)
    ranked = found / noise
    arms, best = ranked.argmax(dim=1), ranked.topk(min(2, ranked.shape[1]), dim=1).values
    sure = best[:, 0] - best[:, -1] > CLOSE * ranked.abs().amax(dim=1)
    for run in torch.nonzero(~sure).ravel().tolist():
        only = slice(run, run + 1)
        memory = None if states is None else (states[0][:, only].contiguous(), states[1][:, only].contiguous())
        arms[run] = (scores(shown[only], memory, begins)[0] / noise[only]).argmax()
    return arms.numpy(), following


def play_rounds(
    model: Any, env: gym.Env[Any, Any], seeds: list[tuple[int, int]], deterministic: bool
) -> Iterator[Round]:
    """Yield the rounds of runs with these pairs of seeds.

    The model's scores are known, and the environment fits a batch. The arm with the highest score is played if
    ``deterministic``, else one is drawn.
    """
    bandit: Any = env.unwrapped
    envs: Any = NSBanditVectorEnv(len(seeds), world=bandit.world, reward=bandit.law)
    shapes, scores, policy, states = [], scores_of(model), model.policy, None
    for layer in batched_layers(env) or ():
        if twin := TWINS.get(type(layer)):
            envs = twin(envs, **layer._saved_kwargs)
        else:
            shapes.append(SHAPES[type(layer)](layer))
    assert scores is not None
    policy.set_training_mode(False)
    drawn = exponentials([own for _, own in seeds], int(model.action_space.n))
    noises = repeat(torch.ones(len(seeds), 1)) if deterministic else drawn
    observations, _ = envs.reset(seed=[env for env, _ in seeds])
    for t, noise in zip(range(bandit.world.horizon), noises, strict=False):
        for shape in shapes:
            observations = shape(observations, t == 0)
        arms, states = chosen(scores, policy.obs_to_tensor(observations)[0], states, t == 0, noise)
        observations, rewards, _, truncated, infos = envs.step(arms)
        yield Round(arms, rewards, (infos["final_info"] if truncated[0] else infos)["regret"])
