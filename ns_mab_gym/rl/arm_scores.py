"""What the policies of Stable-Baselines3 think of each arm: probabilities or values, for many observations at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

__all__ = ["Scores", "States", "scores_of"]

States = tuple[torch.Tensor, torch.Tensor] | None  # the memory of a recurrent policy, (layers, N, width) twice
# The (N, K) scores of N observations, of which a deterministic policy plays the largest, and the next states:
# of (observations, states, whether the episodes begin).
Scores = Callable[[torch.Tensor, States, bool], tuple[torch.Tensor, States]]
OWNERS = {"stable_baselines3", "sb3_contrib", __name__.partition(".")[0]}


def _drawing(policy: Any, observations: torch.Tensor, states: States, begins: bool) -> tuple[torch.Tensor, States]:
    return policy.get_distribution(observations).distribution.probs, states


def _remembering(policy: Any, observations: torch.Tensor, states: States, begins: bool) -> tuple[torch.Tensor, States]:
    n = len(observations)
    if states is None:
        layers, _, width = policy.lstm_hidden_state_shape
        states = torch.zeros(layers, n, width), torch.zeros(layers, n, width)
    starts = torch.full((n,), float(begins))
    distribution, following = policy.get_distribution(observations, states, starts)
    return distribution.distribution.probs, following


def _valuing(policy: Any, observations: torch.Tensor, states: States, begins: bool) -> tuple[torch.Tensor, States]:
    return policy.q_net(observations), states


def _quantiles(policy: Any, observations: torch.Tensor, states: States, begins: bool) -> tuple[torch.Tensor, States]:
    return policy.quantile_net(observations).mean(dim=1), states


def _searching(policy: Any, observations: torch.Tensor, states: States, begins: bool) -> tuple[torch.Tensor, States]:
    return policy.action_net(policy.extract_features(observations, policy.features_extractor)), states


# a class of policies: how its scores are computed, as its own predict computes them.
KINDS: dict[str, Callable[..., tuple[torch.Tensor, States]]] = {
    "stable_baselines3.common.policies:ActorCriticPolicy": _drawing,
    "stable_baselines3.dqn.policies:DQNPolicy": _valuing,
    "sb3_contrib.common.recurrent.policies:RecurrentActorCriticPolicy": _remembering,
    "sb3_contrib.common.maskable.policies:MaskableActorCriticPolicy": _drawing,
    "sb3_contrib.qrdqn.policies:QRDQNPolicy": _quantiles,
    "sb3_contrib.ars.policies:ARSPolicy": _searching,
}


def scores_of(model: Any) -> Scores | None:
    """The scores by which a model chooses; None if it chooses in a way of its own, or not on the CPU."""
    policy = model.policy
    methods = (type(model).predict, type(policy).predict, type(policy)._predict)
    own_way = any(method.__module__.partition(".")[0] not in OWNERS for method in methods)
    names = (f"{kind.__module__}:{kind.__name__}" for kind in type(policy).__mro__)
    score = next((KINDS[name] for name in names if name in KINDS), None)
    if own_way or score is None or policy.device.type != "cpu":
        return None
    return lambda observations, states, begins: score(policy, observations, states, begins)
