"""An export plays as the model does, needs no trust, runs no code, and is refused in words if it is damaged."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from stable_baselines3 import PPO

import ns_mab_gym as nsb
from ns_mab_gym import rl, wrappers
from ns_mab_gym.rl.agent import export_policy, read_export
from ns_mab_gym.rl.algorithm_settings import policy_name

from .conftest import ID, SMALL, WORLD, Models, OwnPPO, Trap, assert_same_arms, make, vector_env


@pytest.mark.parametrize("algo", rl.algorithms())
def test_an_export_plays_as_the_model_does(model: Models, tmp_path: Path, algo: str) -> None:
    rl.SB3Agent(model(algo)).export(tmp_path / "model.pt")
    torch.manual_seed(0)
    read = rl.SB3Agent.load(tmp_path / "model.pt").model
    drawn = torch.rand(1)
    torch.manual_seed(0)
    assert torch.equal(torch.rand(1), drawn)  # the global stream is left alone
    for deterministic in (None, True):
        one, other = (rl.SB3Agent(each, deterministic=deterministic) for each in (model(algo), read))
        assert (other.name, other.parameters, other.recipe) == (one.name, one.parameters, one.recipe)
        assert (repr(other), other.algorithm) == (repr(one), type(model(algo)).__name__)
        assert_same_arms(one, other)
    by_name = {"agent_kwargs": {"path": tmp_path / "model.pt"}, "env_kwargs": WORLD}
    assert nsb.simulate(ID, "sb3", **by_name, runs=1).horizon == WORLD["horizon"]


CASES: list[tuple[str, dict[str, Any]]] = [
    ("ppo", {"net_arch": []}),
    ("ppo", {"net_arch": [8, 4]}),
    ("ppo", {"net_arch": {"pi": (8,), "vf": [4, 4]}}),
    ("ppo", {"net_arch": {"pi": [8]}}),
    ("ppo", {"activation_fn": torch.nn.SiLU}),
    ("ppo", {"share_features_extractor": False}),
    ("recurrent-ppo", {"lstm_hidden_size": 4, "n_lstm_layers": 2}),
    ("recurrent-ppo", {"lstm_hidden_size": 4, "shared_lstm": True, "enable_critic_lstm": False}),
    ("recurrent-ppo", {"lstm_hidden_size": 4, "enable_critic_lstm": False}),
    ("dqn", {"net_arch": [8, 4]}),
    ("dqn", {"activation_fn": torch.nn.Tanh}),
    ("ars", {"linear": True}),
    ("ars", {"linear": True, "with_bias": True}),
    ("ars", {"with_bias": False, "net_arch": [4, 3]}),
    ("qr-dqn", {"n_quantiles": 1, "net_arch": [4]}),
    ("qr-dqn", {"n_quantiles": 30, "net_arch": []}),
]


def with_policy(algo: str, linear: bool = False, **given: Any) -> Any:
    kind = "LinearPolicy" if linear else policy_name(algo)
    return rl.algorithm(algo)(kind, vector_env(), device="cpu", seed=0, **{**SMALL[algo], "policy_kwargs": given})


@pytest.mark.parametrize(("algo", "given"), CASES)
def test_policies_of_every_shape_are_exported(algo: str, given: dict[str, Any]) -> None:
    model = with_policy(algo, **given)
    one = rl.SB3Agent(model)
    other = rl.SB3Agent(read_export(export_policy(model, one.recipe), "it"))
    assert model.policy.state_dict().keys() == other.model.policy.state_dict().keys()
    for name, weight in model.policy.state_dict().items():
        assert torch.equal(weight, other.model.policy.state_dict()[name]), name
    for agent in (one, other):
        agent.reset(seed=0)
    for seen in np.random.default_rng(0).random((20, 14), np.float32):
        assert one.act(seen) == other.act(seen)


def test_the_wrappers_come_along(tmp_path: Path) -> None:
    env = wrappers.LastRounds(wrappers.WindowedStatistics(make(), window=7), n=3)
    one = rl.SB3Agent(PPO("MlpPolicy", env, device="cpu"))
    one.export(tmp_path / "model")
    other = rl.SB3Agent.load(tmp_path / "model.pt")
    assert other.recipe == one.recipe == [("WindowedStatistics", {"window": 7}), ("LastRounds", {"n": 3})]
    assert other.wrap(make()).observation_space == env.observation_space == other.model.observation_space
    other.export(tmp_path / "again.pt")
    assert (tmp_path / "again.pt").read_bytes() == (tmp_path / "model.pt").read_bytes()
    with pytest.raises(ValueError, match="comes from an export, which cannot be trained further"):
        other.save(tmp_path / "again.zip")
    with pytest.raises(ValueError, match=r"is an export, which cannot be trained further; load the saved model \(.zip"):
        rl.SB3Agent.load(tmp_path / "model.pt", env=make())


class OwnPolicy(PPO.policy_aliases["MlpPolicy"]):  # type: ignore[name-defined,misc]
    """A policy of the user's own."""


class OwnActivation(torch.nn.Tanh):
    """An activation of the user's own."""


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (lambda: PPO(OwnPolicy, vector_env(), device="cpu"), "its policy, OwnPolicy, is not the standard one of 'ppo'"),
        (lambda: OwnPPO("MlpPolicy", vector_env(), device="cpu"), "is not the standard one of 'ownppo'"),
        (lambda: with_policy("ppo", activation_fn=OwnActivation), "its activation is OwnActivation"),
        (lambda: with_policy("recurrent-ppo", lstm_kwargs={"dropout": 0.1}), "use_sde or lstm_kwargs"),
    ],
)
@pytest.mark.filterwarnings("ignore:dropout option")
def test_what_cannot_be_described_is_refused_with_the_reason(made: Any, why: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"cannot be exported: .*{why}"):
        rl.SB3Agent(made()).export(tmp_path / "model.pt")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def exported(model: Models) -> bytes:
    return export_policy(model("ppo"), [("WindowedStatistics", {"window": 10})])


def changed(content: bytes, whole: Any = (), description: Any = (), arguments: Any = (), weights: Any = ()) -> bytes:
    """The export with parts of it replaced."""
    read = torch.load(io.BytesIO(content), weights_only=True)
    described = json.loads(read["description"])
    described["arguments"].update(arguments)
    described.update(description)
    read["weights"].update(weights)
    written = io.BytesIO()
    torch.save({**read, "description": json.dumps(described), **dict(whole)}, written)
    return written.getvalue()


def test_bytes_that_were_cut_off_or_changed_are_refused_in_words(exported: bytes) -> None:
    for content in (exported[:1000], exported[1000:], exported[:500] + bytes(100) + exported[600:]):
        with pytest.raises(ValueError, match=r"^'it' cannot be read as an exported model: "):
            read_export(content, "it")


WEIGHT = "action_net.weight"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"description": {"kind": "other"}}, "description is not that of"),
        ({"description": {"algorithm": "os"}}, "description is not that of"),
        ({"description": {"algorithm": ["ppo"]}}, ""),
        ({"description": {"algorithm": "dqn"}}, ""),
        ({"description": {"arms": 0}}, ""),
        ({"description": {"arms": 4}}, "size mismatch|loading state_dict"),
        ({"description": {"recipe": [["os.system", {}]]}}, "a wrapper must be"),
        ({"description": {"recipe": [["WindowedStatistics", {"window": 10**18}]]}}, "arguments of wrappers"),
        ({"description": {"recipe": {}}}, "must be a list"),
        ({"description": {"arguments": []}}, ""),
        ({"whole": {"description": "x" * 100_000}}, ""),
        ({"whole": {"low": torch.zeros(3)}}, ""),
        ({"arguments": {"net_arch": [10**15]}}, ""),
        ({"arguments": {"net_arch": [-1]}}, ""),
        ({"arguments": {"net_arch": [4, 4]}}, "loading state_dict"),
        ({"arguments": {"activation_fn": "Linear"}}, "are not known"),
        ({"arguments": {"features_extractor_class": "Flatten"}}, "are not known"),
        ({"arguments": {"n_lstm_layers": 10**9}}, "more than 100 layers"),
        ({"weights": {WEIGHT: torch.full((3, 64), torch.nan)}}, "must be finite numbers"),
        ({"weights": {WEIGHT: torch.zeros((3, 64), dtype=torch.float64)}}, "float32"),
        ({"weights": {WEIGHT: torch.zeros((64, 3))}}, "loading state_dict"),
        ({"weights": {"more": torch.zeros(1)}}, "loading state_dict"),
        ({"weights": {WEIGHT: 3}}, ""),
    ],
)
def test_an_export_that_was_tampered_with_is_refused(exported: Any, changes: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=f"^'it' cannot be read as an exported model: .*({why})"):
        read_export(changed(exported, **changes), "it")


def test_an_export_runs_no_code(exported: Any, tmp_path: Path) -> None:
    mark = tmp_path / "code-ran"
    for part in ("description", "low", "weights"):
        content = changed(exported, whole={part: Trap(mark)})
        with pytest.raises(ValueError, match="cannot be read as an exported model"):
            read_export(content, "it")
        assert not mark.exists()
    torch.load(io.BytesIO(content), weights_only=False)
    assert mark.exists()  # so the trap works
