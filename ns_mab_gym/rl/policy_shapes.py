"""The shapes of the policies that can be exported: their layers, as plain numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from torch import nn

__all__ = ["ACTIVATIONS", "Shape", "shape_from", "weights_needed"]

ACTIVATIONS: dict[str, type[nn.Module]] = {
    kind.__name__: kind for kind in (nn.Tanh, nn.ReLU, nn.LeakyReLU, nn.ELU, nn.GELU, nn.SiLU, nn.Sigmoid, nn.Softplus)
}
MOST_LAYERS = 100
WITHOUT_CRITIC = {"dqn", "qr-dqn", "ars"}


class Shape(NamedTuple):
    """What tells a policy from others of its class.

    Attributes:
        actor: the widths of the hidden layers that choose the arm.
        critic: those of the layers that value the situation; None for those of ``WITHOUT_CRITIC``.
        activation: a name in ``ACTIVATIONS``.
        normalize_images: whether observations that look like images are divided by 255.
        lstm: the width and the number of the layers that remember, whether the critic shares them, and whether it has
            its own; None if there are none.
        quantiles: how many quantiles of an arm's value QRDQN estimates; None for all others.
        biased: whether the layers of ARS add constants; None for all others.
    """

    actor: list[int]
    critic: list[int] | None
    activation: str
    normalize_images: bool
    lstm: tuple[int, int, bool, bool] | None
    quantiles: int | None = None
    biased: bool | None = None

    @classmethod
    def of(cls, policy: Any) -> Shape:
        """The shape of a policy of Stable-Baselines3."""
        layers, lstm = policy.net_arch, None
        named = layers if isinstance(layers, Mapping) else {"pi": layers, "vf": layers}
        actor = list(named.get("pi", []))
        critic = list(named.get("vf", [])) if hasattr(policy, "value_net") else None
        quantiles = policy.n_quantiles if hasattr(policy, "quantile_net") else None
        biased = policy.action_net[-1].bias is not None if _searches(policy) else None
        if hasattr(policy, "lstm_actor"):
            remembers = policy.lstm_actor
            lstm = remembers.hidden_size, remembers.num_layers, policy.shared_lstm, policy.enable_critic_lstm
        images = bool(policy.normalize_images)
        return cls(actor, critic, policy.activation_fn.__name__, images, lstm, quantiles, biased)

    def arguments(self, algo: str) -> dict[str, Any]:
        """The arguments with which such a policy is made."""
        layers = self.actor if self.critic is None else {"pi": self.actor, "vf": self.critic}
        made: dict[str, Any] = {"net_arch": layers, "activation_fn": ACTIVATIONS[self.activation]}
        if algo == "ars":
            return made | {"with_bias": self.biased}
        made["normalize_images"] = self.normalize_images
        if self.quantiles is not None:
            made["n_quantiles"] = self.quantiles
        if self.critic is not None:
            made["ortho_init"] = False  # its weights are replaced anyway
        if self.lstm is not None:
            made |= dict(zip(LSTM, self.lstm, strict=True))
        return made


def _searches(policy: Any) -> bool:
    """Whether this is a policy of ARS, whose layers are all in one."""
    return isinstance(getattr(policy, "action_net", None), nn.Sequential)


LSTM = ("lstm_hidden_size", "n_lstm_layers", "shared_lstm", "enable_critic_lstm")


def shape_from(algo: str, described: Any) -> Shape:
    """The shape in a description that anybody may have written; raises a ValueError if it is none."""
    if not isinstance(described, Mapping) or {*described, *Shape._field_defaults} != set(Shape._fields):
        raise ValueError(f"the shape of its policy must have {', '.join(Shape._fields)}")
    shape = Shape(**described)
    for name, layers in (("actor", shape.actor), ("critic", shape.critic)):
        if layers is not None and not _are_widths(layers):
            raise ValueError(f"{name} must be a list of the widths of layers, got {str(layers)[:60]}")
    if (shape.critic is None) != (algo in WITHOUT_CRITIC) or shape.actor is None:
        raise ValueError(f"{algo!r} has an actor, and a critic unless it is one of {', '.join(sorted(WITHOUT_CRITIC))}")
    quantiles = [] if shape.quantiles is None else [shape.quantiles]
    if len(quantiles) != (algo == "qr-dqn") or not _are_widths(quantiles):
        raise ValueError("quantiles must be a positive integer, and belong to 'qr-dqn' alone")
    if type(shape.biased) is not (bool if algo == "ars" else type(None)):
        raise ValueError("biased must be true or false, and belongs to 'ars' alone")
    if not isinstance(shape.activation, str) or shape.activation not in ACTIVATIONS:
        raise ValueError(f"unknown activation {str(shape.activation)[:60]!r}; known are {', '.join(ACTIVATIONS)}")
    if not isinstance(shape.normalize_images, bool):
        raise ValueError("normalize_images must be true or false")
    return shape._replace(lstm=_lstm(algo, shape.lstm))


def _lstm(algo: str, given: Any) -> tuple[int, int, bool, bool] | None:
    if (given is None) != (algo != "recurrent-ppo"):
        raise ValueError("lstm belongs to 'recurrent-ppo', and to no other algorithm")
    if given is None:
        return None
    if not isinstance(given, Sequence) or len(given) != len(LSTM):
        raise ValueError(f"lstm must be {', '.join(LSTM)}")
    width, layers, shared, own = given
    if not (_are_widths([width, layers]) and layers <= MOST_LAYERS and type(shared) is type(own) is bool):
        raise ValueError(f"lstm must be two positive integers and two truth values, got {str(given)[:60]}")
    if shared and own:
        raise ValueError("the critic shares the memory of the actor or has its own, not both")
    return width, layers, shared, own


def _are_widths(layers: Any) -> bool:
    return isinstance(layers, list) and len(layers) <= MOST_LAYERS and all(type(n) is int and n > 0 for n in layers)


def weights_needed(algo: str, shape: Shape, observed: int, arms: int) -> int:
    """How many weights such a policy has, without those that it may have beside the layers described.

    Args:
        algo: the algorithm.
        shape: its shape.
        observed: how many numbers an observation has.
        arms: the number of arms.
    """
    first, memory = observed, 0
    if shape.lstm is not None:
        first, layers, _, own = shape.lstm
        memory = 4 * first * (observed + first + 2) + (layers - 1) * 4 * first * (2 * first + 2)
        memory *= 1 + own
    actor = _dense([first, *shape.actor, arms * (shape.quantiles or 1)], biased=shape.biased is not False)
    if shape.critic is not None:
        return memory + actor + _dense([first, *shape.critic, 1])
    return actor if algo == "ars" else 2 * actor  # the others have a target network of the same shape


def _dense(widths: Sequence[int], *, biased: bool = True) -> int:
    return sum((one + biased) * other for one, other in pairwise(widths))
