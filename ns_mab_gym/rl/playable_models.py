"""Which models can play bandits, and how: everything that must be refused is refused before the first round."""

from __future__ import annotations

from typing import Any

from gymnasium.spaces import Box, Discrete

from ..agents.core.arguments import shown
from .algorithm_table import class_of
from .model_files import noted_recipe
from .observation_layers import recipe_of
from .policy_export import ExportedModel
from .recipe import Recipe

__all__ = ["ensure_playable", "is_a", "played_deterministically", "trained_recipe"]

# a class of algorithms whose policy is no distribution: what is random about it.
GREEDY = {
    "DQN": "its exploration is part of its training",
    "QRDQN": "its exploration is part of its training",
    "ARS": "only its search for weights is random",
}


def is_a(model: Any, name: str) -> bool:
    """Whether a model's class, or one that it is derived from, has this name; also for a model that was exported."""
    return name == class_of(model) or any(kind.__name__ == name for kind in type(model).__mro__)


def ensure_playable(model: Any) -> None:
    """Raise an error unless this is a model for bandits whose observations can be made again."""
    if not all(hasattr(model, name) for name in ("predict", "policy", "action_space", "observation_space")):
        raise TypeError(
            f"SB3Agent takes a model of Stable-Baselines3, got {shown(model)}; SB3Agent.load(path) loads a saved one"
        )
    if not isinstance(model.action_space, Discrete) or not isinstance(model.observation_space, Box):
        raise TypeError(
            f"a bandit agent needs a model with Discrete actions and Box observations, this {class_of(model)} has "
            f"{model.action_space} and {model.observation_space}"
        )
    if isinstance(model, ExportedModel):
        return
    normalised = model.get_vec_normalize_env()
    if normalised is not None and normalised.norm_obs:
        raise ValueError("the model was trained on normalised observations; train with VecNormalize(norm_obs=False)")


def trained_recipe(model: Any) -> Recipe:
    """How the observations of a model are made; empty if nobody knows, or if nothing was done to them."""
    if isinstance(model, ExportedModel):
        return model.recipe
    venv = model.get_env()
    recipe = noted_recipe(model) if venv is None else recipe_of(venv)
    if venv is not None and is_a(model, "MaskablePPO") and "ArmAvailability" not in (name for name, _ in recipe):
        _refuse_masks_of_others(venv)
    return recipe


def _refuse_masks_of_others(venv: Any) -> None:
    from sb3_contrib.common.maskable.utils import is_masking_supported

    if is_masking_supported(venv):
        raise ValueError(
            "the model was trained with masks that nobody can ask for while it plays (ActionMasker, say), since agents "
            'learn from info["mask"] which arms can be played; train on ns_mab_gym.wrappers.ArmAvailability'
        )


def played_deterministically(model: Any, wanted: bool | None) -> bool:
    """Whether a model plays the arm that it thinks best, rather than drawing one; raises an error if it cannot draw."""
    greedy = next((name for name in GREEDY if is_a(model, name)), None)
    if wanted is not None and not isinstance(wanted, bool):
        raise TypeError(f"deterministic must be True, False or None, got {shown(wanted)}")
    if greedy is not None and wanted is False:
        raise ValueError(f"{greedy} is played greedily, deterministic=True: {GREEDY[greedy]}")
    return greedy is not None if wanted is None else wanted
