"""Models as plain data: the weights of a policy and a description of it, from which it is built again.

A saved model of Stable-Baselines3 holds pickled objects, which can run any code when they are loaded. An export holds
arrays and a text in JSON, in an ``.npz`` file that is read without pickle. The classes that are built are those of a
fixed table, and everything is checked before memory is asked for.
"""

from __future__ import annotations

import importlib
import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from gymnasium.spaces import Box, Discrete
from stable_baselines3.common.torch_layers import FlattenExtractor

from .algorithm_table import name_of
from .policy_shapes import ACTIVATIONS, Shape, shape_from, weights_needed
from .recipe import Recipe, checked_recipe

__all__ = ["ExportedModel", "export", "is_export", "read_export"]

DESCRIPTION, LOW, HIGH, WEIGHTS = "description", "observations.low", "observations.high", "weights."
LONGEST = 65_536  # bytes of the description
KIND = "ns-mab-gym policy 1"
# name of the algorithm: the module and the class of the one policy that is built, which plays as its aliases do.
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
# policies that differ from those above only in what they are made with.
ALIASES = {("sb3_contrib.ars.policies", "ARSLinearPolicy"): ("sb3_contrib.ars.policies", "ARSPolicy")}
Array = npt.NDArray[Any]


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

    def predict(self, observation: Array, **given: Any) -> tuple[Any, Any]:
        """The arm, and the hidden state of a recurrent policy."""
        arm, state = self.policy.predict(observation, **given)
        return arm, state


def export(model: Any, recipe: Recipe) -> bytes:
    """The content of an ``.npz`` file that holds a model's policy.

    Args:
        model: a trained model, or an :class:`ExportedModel`.
        recipe: how its observations are made.
    """
    described = {"kind": KIND, "algorithm": name_of(model), "recipe": recipe, **_described(model)}
    weights = {WEIGHTS + name: value.cpu().numpy() for name, value in model.policy.state_dict().items()}
    text = np.frombuffer(json.dumps(described).encode(), np.uint8)
    space = model.observation_space
    written = io.BytesIO()
    np.savez(written, **{DESCRIPTION: text, LOW: space.low, HIGH: space.high, **weights})
    read_export(written.getvalue(), "the export")  # what cannot be read again is not worth writing
    return written.getvalue()


def _described(model: Any) -> dict[str, Any]:
    """What is needed to build the policy again; raises a ValueError if that is not enough."""
    policy = model.policy
    algo, kind = name_of(model), type(policy)
    named = (kind.__module__, kind.__name__)
    if ALIASES.get(named, named) != POLICIES.get(algo):
        raise ValueError(_unfit(f"its policy, {kind.__name__}, is not the standard one of {algo!r}"))
    if policy.features_extractor_class is not FlattenExtractor or policy.features_extractor_kwargs:
        raise ValueError(_unfit(f"it looks at observations through {policy.features_extractor_class.__name__}"))
    if ACTIVATIONS.get(policy.activation_fn.__name__) is not policy.activation_fn:
        raise ValueError(_unfit(f"its activation is {policy.activation_fn.__name__}, not one of {list(ACTIVATIONS)}"))
    if getattr(policy, "use_sde", False) or getattr(policy, "lstm_kwargs", None):
        raise ValueError(_unfit("it uses use_sde or lstm_kwargs"))
    shape = Shape.of(policy)
    return {"arms": int(model.action_space.n), "shape": shape._asdict()}


def _unfit(why: str) -> str:
    return f"this model cannot be exported: {why}; save it with SB3Agent.save, which needs trust to be loaded elsewhere"


def is_export(content: bytes) -> bool:
    """Whether these bytes are an export rather than a saved model."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return f"{DESCRIPTION}.npy" in archive.namelist()
    except Exception:  # whatever zipfile makes of bytes that are no zip
        return False


def read_export(content: bytes, path: str) -> ExportedModel:
    """The model of an export; raises a ValueError that says what is wrong with it.

    Args:
        content: the bytes of the file.
        path: where the file is, for messages.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _built(archive, len(content))
    except Exception as error:  # of zipfile, NumPy, JSON or torch, whatever the bytes provoke
        first = (str(error).splitlines() or [""])[0] or type(error).__name__
        raise ValueError(f"{path!r} cannot be read as an exported model: {first}") from None


def _built(archive: zipfile.ZipFile, size: int) -> ExportedModel:
    described = json.loads(_array(archive, DESCRIPTION, size)[:LONGEST].tobytes())
    if not isinstance(described, Mapping) or described.get("kind") != KIND:
        raise ValueError(f"its description is not that of a {KIND!r}")
    algo, arms = described.get("algorithm"), described.get("arms")
    if not isinstance(algo, str) or algo not in POLICIES:
        raise ValueError(f"unknown algorithm {algo!r}")
    if type(arms) is not int or arms < 1:
        raise ValueError(f"arms must be a positive integer, got {arms!r}")
    recipe = checked_recipe(described.get("recipe"))
    low, high = _array(archive, LOW, size), _array(archive, HIGH, size)
    if low.shape != high.shape or low.dtype != high.dtype or low.dtype.kind not in "fiu" or not low.size:
        raise ValueError("its bounds of observations do not fit together")
    shape = shape_from(algo, described.get("shape"))
    if 4 * (needed := weights_needed(algo, shape, low.size, arms)) > size:
        raise ValueError(f"its description is of {needed:,} weights, more than the file holds")
    observations = Box(low, high, low.shape, low.dtype.type)
    policy = _policy(algo, shape, observations, Discrete(arms))
    policy.load_state_dict(_weights(archive, policy.state_dict(), size))
    policy.set_training_mode(False)
    return ExportedModel(algo, policy, recipe)


def _policy(algo: str, shape: Shape, observations: Box, actions: Discrete) -> Any:
    """A new policy; torch's global stream, from which its first weights are drawn, is left as it was."""
    module, kind = POLICIES[algo]
    with torch.random.fork_rng(devices=[]):
        schedule = () if algo == "ars" else (lambda _: 0.0,)
        return getattr(importlib.import_module(module), kind)(observations, actions, *schedule, **shape.arguments(algo))


def _weights(archive: zipfile.ZipFile, wanted: Mapping[str, torch.Tensor], size: int) -> dict[str, torch.Tensor]:
    there = {name.removesuffix(".npy") for name in archive.namelist() if name.startswith(WEIGHTS)}
    if there != {WEIGHTS + name for name in wanted}:
        raise ValueError("its weights are not those of the policy that it describes")
    found = {}
    for name, weight in wanted.items():
        array = _array(archive, WEIGHTS + name, size)
        if array.shape != tuple(weight.shape) or array.dtype != np.float32:
            raise ValueError(f"{name} must be float32 of shape {tuple(weight.shape)}, got {array.dtype} {array.shape}")
        if not np.isfinite(array).all():
            raise ValueError(f"{name} holds a number that is not finite")
        found[name] = torch.from_numpy(array.copy())
    return found


def _array(archive: zipfile.ZipFile, name: str, size: int) -> Array:
    """An array of the archive, which must be stored as it is: so nothing in it is larger than the file."""
    entries = [entry for entry in archive.infolist() if entry.filename == f"{name}.npy"]
    if len(entries) != 1:
        raise ValueError(f"it must hold one array called {name!r}, it holds {len(entries)}")
    if entries[0].compress_type != zipfile.ZIP_STORED or entries[0].file_size > size:
        raise ValueError(f"{name} is compressed; save it as SB3Agent.export does")
    data = io.BytesIO(archive.read(entries[0]))
    version = np.lib.format.read_magic(data)
    headers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in headers:
        raise ValueError(f"{name} is of an unknown version of NumPy's format")
    shape, fortran, dtype = headers[version](data)
    if dtype.hasobject or fortran or dtype.itemsize == 0 or dtype.newbyteorder("=") != dtype:
        raise ValueError(f"{name} must be an array of plain numbers, got {dtype}")
    return np.frombuffer(data.getvalue()[data.tell() :], dtype).reshape(shape)
