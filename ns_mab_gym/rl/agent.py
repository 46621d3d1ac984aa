"""Trained models as agents: playing, saving, exporting and loading them.

Everything that must be refused (a model that cannot play bandits, a file that is not trusted, an environment that does
not fit) is refused before the first round.

A saved model of Stable-Baselines3 holds pickled objects, which can run any code when they are loaded. An export is the
weights of a policy and a description of it in JSON, from which it is built again: written by ``torch.save`` and read
with ``torch.load(weights_only=True)``, which runs no code; the classes that are built are those of a fixed table.
"""

from __future__ import annotations

import io
import json
import os
import threading
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
import torch
from gymnasium.spaces import Box, Discrete
from stable_baselines3.common.torch_layers import FlattenExtractor
from stable_baselines3.common.vec_env import VecEnv
from torch import nn

from ..agents.core.arguments import shown
from ..files import KeptFile, content_of, write_atomically
from ..play.simulate import Round
from .algorithm_settings import ALGORITHMS, algorithm, class_of, name_of, policy_name
from .batched import TWINS, batch_size, draws_are_known, play_rounds, scores_of
from .observations import KINDS, Recipe, as_in_training, checked_recipe, in_words, layers_of, missing, recipe_of
from .vec_env import SB3VecEnv

STREAM = threading.Lock()  # torch has one generator for all threads
NOTE = "ns_mab_gym"  # the attribute of a saved model that records how it was trained
# a class of algorithms whose policy is no distribution: the part of it that is random.
GREEDY = {
    "DQN": "its exploration is part of its training",
    "QRDQN": "its exploration is part of its training",
    "ARS": "only its search for weights is random",
}
EXPORT = "ns-mab-gym policy 2"  # the format
ACTIVATIONS: dict[str, type[nn.Module]] = {
    kind.__name__: kind for kind in (nn.Tanh, nn.ReLU, nn.LeakyReLU, nn.ELU, nn.GELU, nn.SiLU, nn.Sigmoid, nn.Softplus)
}
ARGUMENTS = {  # those of policies that a file may set
    "net_arch", "activation_fn", "normalize_images", "n_quantiles", "with_bias",
    "lstm_hidden_size", "n_lstm_layers", "shared_lstm", "enable_critic_lstm",
}  # fmt: skip
LONGEST, MOST_LAYERS = 65_536, 100  # characters of a description, layers that remember


class SB3Agent:
    """A Stable-Baselines3 model that plays wherever agents play: ``run_episode``, ``simulate``, plots and reports.

    Everything it knows comes with the observation, so the environment must be wrapped as it was in training:
    :meth:`wrap` does that, and agents that need no observation can play the same environment too. The hidden
    state of a recurrent policy is kept from round to round. The policy draws from a random stream of the agent's
    own, seeded by ``reset(seed)``; torch's global stream is left as it was.

    ``simulate`` plays all runs at once, with one pass through the network for each round, and each run is the one that
    ``run_episode`` plays with its seeds. Runs are played one by one where an environment or its wrappers have no twin
    in arrays (foreign environments, late rewards, closed arms), and for policies with a ``predict`` of their own.

    Args:
        model: a trained model with discrete actions, of one of :func:`ns_mab_gym.rl.algorithms` or a class of your own.
        deterministic: play the likeliest arm instead of drawing one; ``None`` draws where the policy is a distribution
            (a policy trained to explore needs its randomness) and not for DQN, QRDQN and ARS, whose policies are
            deterministic.
        name: the name in plots and tables.
    """

    only_generic = True  # a network has no compiled form; simulate does not warn about it
    handles_delay = True  # late rewards reach it through the observation, as in training

    def __init__(self, model: Any, *, deterministic: bool | None = None, name: str | None = None) -> None:
        if not all(hasattr(model, part) for part in ("predict", "policy", "action_space", "observation_space")):
            raise TypeError(
                f"SB3Agent takes a model of Stable-Baselines3, got {shown(model)}; SB3Agent.load(path) loads one"
            )
        if not isinstance(model.action_space, Discrete) or not isinstance(model.observation_space, Box):
            raise TypeError(
                f"a bandit agent needs a model with Discrete actions and Box observations, this {class_of(model)} has "
                f"{model.action_space} and {model.observation_space}"
            )
        normalised = None if isinstance(model, ExportedModel) else model.get_vec_normalize_env()
        if normalised is not None and normalised.norm_obs:
            raise ValueError("the model was trained on normalised observations; use VecNormalize(norm_obs=False)")
        if deterministic is not None and not isinstance(deterministic, bool):
            raise TypeError(f"deterministic must be True, False or None, got {shown(deterministic)}")
        greedy = next((kind for kind in GREEDY if _is_a(model, kind)), None)
        if greedy is not None and deterministic is False:
            raise ValueError(f"{greedy} is played greedily, deterministic=True: {GREEDY[greedy]}")
        self.model = model
        self.algorithm = class_of(model)
        self.name = name or f"sb3-{name_of(model)}"
        self.deterministic = greedy is not None if deterministic is None else deterministic
        self.handles_mask = _is_a(model, "MaskablePPO")
        self.n_arms = int(model.action_space.n)
        self.recipe: Recipe = _trained_recipe(model)
        self.reset()

    def wrap(self, env: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
        """Return the environment with those wrappers that the model was trained with and that it lacks.

        An environment whose wrappers are others than those of the training is refused, and so is one that lacks a
        wrapper which cannot be added here. If it is not known how the model was trained, the environment is returned.
        """
        return as_in_training(env, self.recipe)

    def save(self, path: str | Path) -> None:
        """Save the model with a note of its algorithm and its observation wrappers, for :meth:`load`.

        The file can be trained further. It holds pickled objects, so loading it needs ``trust=True``.
        """
        model = self.model
        if isinstance(model, ExportedModel):
            raise ValueError("this agent comes from an export, which cannot be trained further; export it again")
        name, kind = name_of(model), type(model)
        if name not in ALGORITHMS or algorithm(name) is not kind:
            raise ValueError(
                f"{kind.__name__} is none of the algorithms that SB3Agent.load knows ({', '.join(ALGORITHMS)}); save "
                f"it with model.save(path), and play it again with SB3Agent({kind.__name__}.load(path))"
            )
        setattr(model, NOTE, {"algo": name, "recipe": self.recipe})
        content = io.BytesIO()
        model.save(content)
        _write(Path(path), ".zip", content.getvalue())

    def export(self, path: str | Path) -> None:
        """Write the weights and a description of the policy, enough to play, as ``.pt``: it is loaded without trust."""
        _write(Path(path), ".pt", export_policy(self.model, self.recipe))

    @classmethod
    def load(
        cls, path: str | Path, algo: str | None = None, *, trust: bool = False, env: Any = None, **options: Any
    ) -> SB3Agent:
        """Return the agent of a saved or exported model.

        Args:
            path: the file that :meth:`save`, :meth:`export`, or the model's own ``save`` wrote.
            algo: a name in :func:`ns_mab_gym.rl.algorithms`; only for files of the model's own ``save``.
            trust: whether a saved model may be loaded, which can run any code that is in it; an export needs no trust.
            env: an environment, single or vector, on which ``agent.model.learn()`` goes on; the wrappers of the
                training that it lacks are added. Not for exports.
            options: ``deterministic`` and ``name``.
        """
        if not isinstance(path, KeptFile) and not Path(path).suffix and not os.path.isfile(path):
            path = f"{path}.zip"  # as Stable-Baselines3 does
        content, named = content_of(path), str(path)
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                exported = any(name.endswith("/data.pkl") for name in archive.namelist())
                data = b"" if exported else archive.read("data")
        except Exception:  # whatever zipfile makes of other bytes
            raise ValueError(
                f"{named!r} is no model: neither saved by Stable-Baselines3 nor by SB3Agent.export"
            ) from None
        if exported:
            if env is None:
                return cls(read_export(content, named), **options)
            raise ValueError(f"{named!r} is an export, which cannot be trained further; load the saved model (.zip)")
        if not isinstance(trust, bool):
            raise TypeError(f"trust must be True or False, got {shown(trust)}")
        if not trust and not getattr(path, "trusted", False):
            raise ValueError(
                f"{named!r} is a saved model, and loading it can run any code that is in it; if you trust its author, "
                f"pass trust=True, or --trust-models to a command, else use the file that SB3Agent.export writes "
                f"(model.pt), which runs no code"
            )
        if algo is None:
            try:
                algo = str(json.loads(data)[NOTE]["algo"])
            except (LookupError, TypeError, ValueError):
                raise ValueError(
                    f"{named!r} does not say of which algorithm it is; pass algo=, such as algo='ppo'"
                ) from None
        kind = algorithm(algo)

        def unpickled(env: Any = None) -> SB3Agent:
            try:
                model = kind.load(io.BytesIO(content), env=env, device="cpu")
            except Exception as error:  # whatever is pickled there
                raise ValueError(f"{named!r} cannot be read as a model of Stable-Baselines3: {error}") from error
            return cls(model, **options)

        agent = unpickled()
        return agent if env is None else unpickled(_learnable(agent.model, env, agent.recipe))

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters that tables show."""
        return {"n_arms": self.n_arms, "algorithm": self.algorithm, "deterministic": self.deterministic}

    def __repr__(self) -> str:
        return f"SB3Agent({self.algorithm}, n_arms={self.n_arms}, deterministic={self.deterministic})"

    def __deepcopy__(self, memo: dict[int, Any]) -> SB3Agent:
        """Return a new agent with the same model, which is shared because playing does not change it."""
        return SB3Agent(self.model, deterministic=self.deterministic, name=self.name)

    def reset(self, seed: int | None = None) -> None:
        """Forget the episode and restart the agent's own stream."""
        self._hidden: Any = None
        self._first = True
        generator = torch.Generator()
        if seed is None:
            generator.seed()
        else:
            generator.manual_seed(seed)
        self._stream = generator.get_state()

    def act(self, observation: Any = None, *, mask: npt.NDArray[np.bool_] | None = None) -> int:
        """Return the arm to play.

        Args:
            observation: the observation of the environment.
            mask: (K,) which arms can be played; only for MaskablePPO.
        """
        wanted, shape = self.model.observation_space.shape, None if observation is None else np.shape(observation)
        if shape != wanted:
            got = "none" if shape is None else f"one of shape {shape}"
            how = f", with {in_words(self.recipe)}: agent.wrap(env) adds what it can" if self.recipe else ""
            raise ValueError(
                f"the model was trained on observations of shape {wanted} and got {got}; wrap the environment as in "
                f"training{how}"
            )
        masks = {"action_masks": mask} if mask is not None else {}
        if masks and not self.handles_mask:
            raise ValueError(f"{self.algorithm} cannot use masks; train a MaskablePPO, or use beta-swts or sw-ucb")
        given = {"state": self._hidden, "episode_start": np.array([self._first]), "deterministic": self.deterministic}
        with STREAM:
            others = torch.get_rng_state()
            torch.set_rng_state(self._stream)
            try:
                arm, self._hidden = self.model.predict(np.asarray(observation), **given, **masks)
            finally:
                self._stream = torch.get_rng_state()
                torch.set_rng_state(others)
        self._first = False
        return int(arm)

    def runs_at_once(self, env: gym.Env[Any, Any]) -> int:
        """Return the number of runs on this environment that can be played together; 0 if each must be played alone."""
        fits = env.observation_space.shape == self.model.observation_space.shape and scores_of(self.model) is not None
        return batch_size(env) if fits and (self.deterministic or draws_are_known()) else 0

    def play_at_once(self, env: gym.Env[Any, Any], seeds: list[tuple[int, int]]) -> Iterator[Round]:
        """Yield the rounds of runs with these pairs of seeds, each as :meth:`act` plays it; if they fit at once."""
        return play_rounds(self.model, env, seeds, self.deterministic)

    def observe(self, arm: int, reward: float) -> None:
        """Do nothing: the next observation contains the reward."""


def _is_a(model: Any, name: str) -> bool:
    """Return whether a model's class, or a base of it, has this name; also for an exported model."""
    return name == class_of(model) or any(kind.__name__ == name for kind in type(model).__mro__)


def _trained_recipe(model: Any) -> Recipe:
    """Return the recipe of a model's observations; empty if it is not known, or if nothing was done to them."""
    if isinstance(model, ExportedModel):
        return model.recipe
    if (venv := model.get_env()) is None:
        note = getattr(model, NOTE, None)
        return checked_recipe(note.get("recipe", [])) if isinstance(note, dict) else []
    recipe = recipe_of(venv)
    if _is_a(model, "MaskablePPO") and "ArmAvailability" not in (name for name, _ in recipe):
        from sb3_contrib.common.maskable.utils import is_masking_supported

        if is_masking_supported(venv):
            raise ValueError(
                "the model was trained with masks that cannot be asked for while it plays (ActionMasker, say), since "
                'agents learn from info["mask"] which arms can be played; train on ns_mab_gym.wrappers.ArmAvailability'
            )
    return recipe


def _learnable(model: Any, env: Any, recipe: Recipe) -> Any:
    """Return an environment, with what it lacks of the recipe, as a model can learn on it; an error if it does not fit.

    It may be a single environment or a vector one, of Gymnasium or of Stable-Baselines3.
    """
    if isinstance(env, gym.vector.VectorEnv):
        for name, arguments in missing(recipe, layers_of(env)) or []:
            if (twin := TWINS.get(KINDS.get(name, object))) is None:
                break  # what is still lacking is named below
            env = twin(env, **arguments)
        env = SB3VecEnv(env)
    elif isinstance(env, gym.Env):
        env = as_in_training(env, recipe)
    elif not isinstance(env, VecEnv):
        raise TypeError(f"env must be an environment of Gymnasium or a VecEnv, got {shown(env)}; gym.make makes one")
    if isinstance(env, VecEnv) and recipe and missing(recipe, recipe_of(env)) != []:
        raise ValueError(
            f"the model was trained with {in_words(recipe)}, and this VecEnv has {in_words(recipe_of(env))}; wrap "
            f"it as in training, or pass a single environment, to which the wrappers are added"
        )
    for what in ("observation_space", "action_space"):
        wanted, got = getattr(model, what), getattr(env, what)
        if wanted != got:
            raise ValueError(f"the model was trained with the {what.replace('_', ' ')} {wanted}, this one is {got}")
    return env


def _write(path: Path, ending: str, content: bytes) -> None:
    """Write a file whole or not at all, with this ending if the path has none."""
    file = path if path.suffix else path.with_name(path.name + ending)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, content)


# Exports.


class ExportedModel:
    """A policy of the named algorithm, built from its export, and its recipe; it plays as the exported model did."""

    def __init__(self, algo: str, policy: Any, recipe: Recipe) -> None:
        self.algo, self.policy, self.recipe = algo, policy, recipe
        self.observation_space, self.action_space = policy.observation_space, policy.action_space

    def predict(self, observation: Any, **given: Any) -> tuple[Any, Any]:
        """Return the arm, and the hidden state of a recurrent policy."""
        return self.policy.predict(observation, **given)  # type: ignore[no-any-return]


def export_policy(model: Any, recipe: Recipe) -> bytes:
    """Return the content of a file that holds a policy and its recipe; raises a ValueError if it is not standard."""
    described = {
        "kind": EXPORT, "algorithm": name_of(model), "arms": int(model.action_space.n), "recipe": recipe,
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
    kind, activation, known = type(policy), policy.activation_fn, _policies(algo) if algo in ALGORITHMS else []
    reasons = {
        f"its policy, {kind.__name__}, is not the standard one of {algo!r}": kind not in known,
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


def _policies(algo: str) -> list[Any]:
    """Return the policies of an algorithm that can be exported: the one that is built, and one that is a case of it."""
    known = algorithm(algo).policy_aliases
    return [known[name] for name in (policy_name(algo), "LinearPolicy") if name in known]


def read_export(content: bytes, path: str) -> ExportedModel:
    """Return the model of an export; raises a ValueError that names the path and what is wrong with the content."""
    try:
        read = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
        return _built(read["description"], read["low"].numpy(), read["high"].numpy(), read["weights"])
    except Exception as error:  # of torch or JSON, whatever the bytes provoke
        first = (str(error).splitlines() or [""])[0] or type(error).__name__
        raise ValueError(f"{path!r} cannot be read as an exported model: {first}") from None


def _built(text: str, low: Any, high: Any, weights: Mapping[str, torch.Tensor]) -> ExportedModel:
    described = json.loads(text[:LONGEST])
    if described["kind"] != EXPORT or described["algorithm"] not in ALGORITHMS:
        raise ValueError(f"its description is not that of a {EXPORT!r} of {', '.join(ALGORITHMS)}")
    algo, given, recipe = described["algorithm"], described["arguments"], checked_recipe(described["recipe"])
    if not given.keys() <= ARGUMENTS or given["activation_fn"] not in ACTIVATIONS:
        raise ValueError("its policy has arguments or an activation that are not known")
    if given.get("n_lstm_layers", 1) > MOST_LAYERS:
        raise ValueError(f"its policy has more than {MOST_LAYERS} layers that remember")
    if not all(weight.dtype == torch.float32 and bool(weight.isfinite().all()) for weight in weights.values()):
        raise ValueError("its weights must be finite numbers, float32")
    given["activation_fn"] = ACTIVATIONS[given["activation_fn"]]
    schedule = () if algo == "ars" else (lambda _: 0.0,)
    with torch.random.fork_rng(devices=[]):  # a new policy draws its first weights from torch's global stream
        spaces = Box(low, high, low.shape, low.dtype.type), Discrete(described["arms"])
        policy = _policies(algo)[0](*spaces, *schedule, **given)
    policy.load_state_dict(weights)
    policy.set_training_mode(False)
    return ExportedModel(algo, policy, recipe)
