"""Exported models: the weights of a policy and a description of it in JSON, from which it is built again.

A saved model of Stable-Baselines3 holds pickled objects, which can run any code when they are loaded. An export is
written by ``torch.save`` and read with ``torch.load(weights_only=True)``, which runs none; the classes that are built
are those of a fixed table.
"""

from __future__ import annotations

import importlib
import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

import torch
from gymnasium.spaces import Box, Discrete
from stable_baselines3.common.torch_layers import FlattenExtractor
from torch import nn

from .algorithm_settings import name_of
from .observations import Recipe, checked_recipe

KIND = "ns-mab-gym policy 2"
# name of the algorithm: the module and the class of the one policy that is built.
POLICIES = {
    "ppo": ("stable_baselines3.common.policies", "ActorCriticPolicy"),
    "a2c": ("stable_baselines3.common.policies", "ActorCriticPolicy"),
    "trpo": ("stable_baselines3.common.policies", "ActorCriticPolicy"),
    "dqn": ("stable_baselines3.dqn.policies", "DQNPolicy"),
    "recurrent-ppo": ("sb3_contrib.common.recurrent.policies", "RecurrentActorCriticPolicy"),
    "maskable-ppo": ("sb3_contrib.common.maskable.policies", "MaskableActorCriticPolicy"),
    "qr-dqn": ("sb3_contrib.qrdqn.policies", "QRDQNPolicy"),
    "ars": ("sb3_contrib.ars.policies", "ARSPolicy"),
}
LINEAR = ("sb3_contrib.ars.policies", "ARSLinearPolicy")  # an ARSPolicy without hidden layers
ACTIVATIONS: dict[str, type[nn.Module]] = {
    kind.__name__: kind for kind in (nn.Tanh, nn.ReLU, nn.LeakyReLU, nn.ELU, nn.GELU, nn.SiLU, nn.Sigmoid, nn.Softplus)
}

ARGUMENTS = {  # those of policies that a file may set
    "net_arch", "activation_fn", "normalize_images", "n_quantiles", "with_bias",
    "lstm_hidden_size", "n_lstm_layers", "shared_lstm", "enable_critic_lstm",
}  # fmt: skip
LONGEST, MOST_LAYERS = 65_536, 100  # characters of a description, layers that remember


class ExportedModel:
    """A policy that was built from its export; it plays as the model that was exported.

    Args:
        algo: a name in :func:`ns_mab_gym.rl.algorithms`.
        policy: the policy.
        recipe: how its observations are made.
    """

    def __init__(self, algo: str, policy: Any, recipe: Recipe) -> None:
        self.algo, self.policy, self.recipe = algo, policy, recipe
        self.observation_space, self.action_space = policy.observation_space, policy.action_space

    def predict(self, observation: Any, **given: Any) -> tuple[Any, Any]:
        """Return the arm, and the hidden state of a recurrent policy."""
        arm, state = self.policy.predict(observation, **given)
        return arm, state


def export_policy(model: Any, recipe: Recipe) -> bytes:
    """Return the content of a file that holds a model's policy; raises a ValueError if it is not a standard one.

    Args:
        model: a trained model, or an :class:`ExportedModel`.
        recipe: how its observations are made.
    """
    described = {
        "kind": KIND, "algorithm": name_of(model), "arms": int(model.action_space.n), "recipe": recipe,
        "arguments": _arguments(model),
    }  # fmt: skip
    space, written = model.observation_space, io.BytesIO()
    bounds = {"low": torch.tensor(space.low), "high": torch.tensor(space.high)}
    torch.save({"description": json.dumps(described), **bounds, "weights": dict(model.policy.state_dict())}, written)
    read_export(written.getvalue(), "the export")  # what cannot be read again is not worth writing
    return written.getvalue()


def _arguments(model: Any) -> dict[str, Any]:
    """Return the arguments from which the policy can be built again; raises a ValueError if they do not suffice."""
    policy, algo = model.policy, name_of(model)
    kind, activation = type(policy), policy.activation_fn
    named = (kind.__module__, kind.__name__)
    reasons = {
        f"its policy, {kind.__name__}, is not the standard one of {algo!r}":
            (POLICIES["ars"] if named == LINEAR else named) != POLICIES.get(algo),
        f"it looks at observations through {policy.features_extractor_class.__name__}":
            policy.features_extractor_class is not FlattenExtractor or policy.features_extractor_kwargs,
        f"its activation is {activation.__name__}, not one of {list(ACTIVATIONS)}":
            ACTIVATIONS.get(activation.__name__) is not activation,
        "it uses use_sde or lstm_kwargs": getattr(policy, "use_sde", False) or getattr(policy, "lstm_kwargs", None),
    }  # fmt: skip
    if why := next((reason for reason, applies in reasons.items() if applies), None):
        raise ValueError(
            f"this model cannot be exported: {why}; save it with SB3Agent.save, which needs trust to be loaded"
        )
    layers = policy.net_arch
    widths = {name: list(each) for name, each in layers.items()} if isinstance(layers, Mapping) else list(layers)
    made: dict[str, Any] = {"net_arch": widths, "activation_fn": activation.__name__}
    if algo == "ars":
        return made | {"with_bias": policy.action_net[-1].bias is not None}
    made["normalize_images"] = bool(policy.normalize_images)
    if algo == "qr-dqn":
        made["n_quantiles"] = policy.n_quantiles
    if algo == "recurrent-ppo":
        lstm = policy.lstm_actor
        made |= {"lstm_hidden_size": lstm.hidden_size, "n_lstm_layers": lstm.num_layers}
        made |= {"shared_lstm": policy.shared_lstm, "enable_critic_lstm": policy.enable_critic_lstm}
    return made


def is_export(content: bytes) -> bool:
    """Return whether these bytes are a file of ``torch.save`` rather than a saved model."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return any(name.endswith("/data.pkl") for name in archive.namelist())
    except Exception:  # whatever zipfile makes of bytes that are no zip
        return False


def read_export(content: bytes, path: str) -> ExportedModel:
    """Return the model of an export; raises a ValueError that says what is wrong with it.

    Args:
        content: the bytes of the file.
        path: where the file is, for messages.
    """
    try:
        read = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
        return _built(read["description"], read["low"].numpy(), read["high"].numpy(), read["weights"])
    except Exception as error:  # of torch or JSON, whatever the bytes provoke
        first = (str(error).splitlines() or [""])[0] or type(error).__name__
        raise ValueError(f"{path!r} cannot be read as an exported model: {first}") from None


def _built(text: str, low: Any, high: Any, weights: Mapping[str, torch.Tensor]) -> ExportedModel:
    described = json.loads(text[:LONGEST])
    if described["kind"] != KIND or described["algorithm"] not in POLICIES:
        raise ValueError(f"its description is not that of a {KIND!r} of {', '.join(POLICIES)}")
    algo, given, recipe = described["algorithm"], described["arguments"], checked_recipe(described["recipe"])
    if not given.keys() <= ARGUMENTS or given["activation_fn"] not in ACTIVATIONS:
        raise ValueError("its policy has arguments or an activation that are not known")
    if given.get("n_lstm_layers", 1) > MOST_LAYERS:
        raise ValueError(f"its policy has more than {MOST_LAYERS} layers that remember")
    if not all(weight.dtype == torch.float32 and bool(weight.isfinite().all()) for weight in weights.values()):
        raise ValueError("its weights must be finite numbers, float32")
    given["activation_fn"] = ACTIVATIONS[given["activation_fn"]]
    schedule = () if algo == "ars" else (lambda _: 0.0,)
    module, kind = POLICIES[algo]
    with torch.random.fork_rng(devices=[]):  # a new policy draws its first weights from torch's global stream
        spaces = Box(low, high, low.shape, low.dtype.type), Discrete(described["arms"])
        policy = getattr(importlib.import_module(module), kind)(*spaces, *schedule, **given)
    policy.load_state_dict(weights)
    policy.set_training_mode(False)
    return ExportedModel(algo, policy, recipe)
