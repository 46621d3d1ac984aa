"""An export plays as the model does, needs no trust, and is refused in words if somebody has tampered with it."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from stable_baselines3 import DQN, PPO

import ns_mab_gym as nsb
from ns_mab_gym import rl, wrappers
from ns_mab_gym.rl.policy_export import export, is_export, read_export
from tests.support.fuzzing import guest

from .conftest import WORLD, vector_env

Models = Callable[[str], Any]


def make(**kwargs: Any) -> gym.Env[Any, Any]:
    return gym.make("NSBandit-Piecewise-v0", **(WORLD | kwargs))


@pytest.mark.parametrize("deterministic", [None, True])
@pytest.mark.parametrize("algo", rl.algorithms())
def test_an_export_plays_as_the_model_does(
    model: Models, tmp_path: Path, algo: str, deterministic: bool | None
) -> None:
    one = rl.SB3Agent(model(algo), deterministic=deterministic)
    one.export(tmp_path / "model.npz")
    torch.manual_seed(0)
    other = rl.SB3Agent.load(tmp_path / "model.npz", deterministic=deterministic)
    drawn = torch.rand(1)
    torch.manual_seed(0)
    assert torch.equal(torch.rand(1), drawn)  # the global stream is left alone
    assert (other.name, other.parameters, other.recipe) == (one.name, one.parameters, one.recipe)
    assert repr(other) == repr(one)
    for seeds in ((1, 2), (3, 4)):
        played = [nsb.run_episode(agent.wrap(make()), agent, seed=seeds) for agent in (one, other)]
        np.testing.assert_array_equal(played[0].arms, played[1].arms)
    by_name = {"agent_kwargs": {"path": tmp_path / "model.npz"}, "env_kwargs": WORLD}
    assert nsb.simulate("NSBandit-Piecewise-v0", "sb3", **by_name, runs=1).horizon == WORLD["horizon"]


POLICIES: dict[str, dict[str, Any]] = {
    "no hidden layer": {"net_arch": []},
    "a list of layers": {"net_arch": [8, 4]},
    "actor and critic": {"net_arch": {"pi": [8], "vf": [4, 4]}},
    "an actor alone": {"net_arch": {"pi": [8]}},
    "other activations": {"activation_fn": torch.nn.SiLU},
    "other extractors": {"share_features_extractor": False},
}
MEMORIES: dict[str, dict[str, Any]] = {
    "two layers": {"lstm_hidden_size": 4, "n_lstm_layers": 2},
    "a shared memory": {"lstm_hidden_size": 4, "shared_lstm": True, "enable_critic_lstm": False},
    "a critic without": {"lstm_hidden_size": 4, "enable_critic_lstm": False},
}
CASES = [("ppo", words, policy) for words, policy in POLICIES.items()]
CASES += [("recurrent-ppo", words, policy) for words, policy in MEMORIES.items()]
CASES += [("dqn", "a list of layers", {"net_arch": [8, 4]}), ("dqn", "tanh", {"activation_fn": torch.nn.Tanh})]


@pytest.mark.parametrize(("algo", "words", "policy"), CASES)
def test_policies_of_every_shape_are_described(algo: str, words: str, policy: dict[str, Any]) -> None:
    kind = "MlpLstmPolicy" if algo == "recurrent-ppo" else "MlpPolicy"
    model = rl.algorithm(algo)(kind, vector_env(), device="cpu", seed=0, policy_kwargs=policy)
    one = rl.SB3Agent(model)
    other = rl.SB3Agent(read_export(export(model, one.recipe), "it"))
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
    other = rl.SB3Agent.load(tmp_path / "model.npz")
    assert other.recipe == one.recipe == [("WindowedStatistics", {"window": 7}), ("LastRounds", {"n": 3})]
    assert other.wrap(make()).observation_space == env.observation_space
    other.export(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "model.npz").read_bytes()
    with pytest.raises(ValueError, match="comes from an export, which cannot be trained further"):
        other.save(tmp_path / "again.zip")


class OwnPolicy(PPO.policy_aliases["MlpPolicy"]):  # type: ignore[name-defined,misc]
    """A policy of the user's own."""


class OwnActivation(torch.nn.Tanh):
    """An activation of the user's own."""


class OwnPPO(PPO):
    """An algorithm of the user's own."""


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (lambda: PPO(OwnPolicy, vector_env(), device="cpu"), "its policy, OwnPolicy, is not the standard one of 'ppo'"),
        (lambda: OwnPPO("MlpPolicy", vector_env(), device="cpu"), "is not the standard one of 'ownppo'"),
        (
            lambda: PPO("MlpPolicy", vector_env(), device="cpu", policy_kwargs={"activation_fn": OwnActivation}),
            "its activation is OwnActivation",
        ),
        (
            lambda: rl.algorithm("recurrent-ppo")(
                "MlpLstmPolicy", vector_env(), device="cpu", policy_kwargs={"lstm_kwargs": {"dropout": 0.1}}
            ),
            "use_sde or lstm_kwargs",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:dropout option")
def test_what_cannot_be_described_is_refused_with_the_reason(made: Any, why: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"cannot be exported: .*{why}"):
        rl.SB3Agent(made()).export(tmp_path / "model.npz")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def exported() -> dict[str, bytes]:
    """The arrays of the exports of a plain, a recurrent and a valuing model, as members of their archives."""
    kinds = {"ppo": "MlpPolicy", "recurrent-ppo": "MlpLstmPolicy", "dqn": "MlpPolicy"}
    small: dict[str, Any] = {"recurrent-ppo": {"lstm_hidden_size": 4}}
    return {
        algo: export(
            rl.algorithm(algo)(
                kind, vector_env(), device="cpu", policy_kwargs={"net_arch": [4], **small.get(algo, {})}
            ),
            [("WindowedStatistics", {"window": 10})],
        )
        for algo, kind in kinds.items()
    }


def members(content: bytes) -> dict[str, Any]:
    with np.load(io.BytesIO(content)) as archive:
        return dict(archive)


def packed(arrays: dict[str, Any]) -> bytes:
    written = io.BytesIO()
    np.savez(written, **arrays)
    return written.getvalue()


def with_description(content: bytes, **changes: Any) -> bytes:
    """The export with some of its description changed, or of the shape in it."""
    arrays = members(content)
    described = json.loads(arrays["description"].tobytes())
    shape = described["shape"]
    for key, value in changes.items():
        (shape if key in shape else described)[key] = value
    return packed(arrays | {"description": np.frombuffer(json.dumps(described).encode(), np.uint8)})


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"kind": "other"}, "description is not that of"),
        ({"algorithm": "os"}, "unknown algorithm 'os'"),
        ({"algorithm": ["ppo"]}, "unknown algorithm"),
        ({"algorithm": "dqn"}, "has an actor, and a critic unless"),
        ({"algorithm": "recurrent-ppo"}, "lstm belongs to"),
        ({"arms": 0}, "arms must be"),
        ({"arms": True}, "arms must be"),
        ({"arms": 4}, "must be float32 of shape"),
        ({"arms": 10**400}, "more than the file holds"),
        ({"actor": [10**15]}, "more than the file holds"),
        ({"actor": [10**9] * 10}, "more than the file holds"),
        ({"actor": [1] * 10**4}, "actor must be"),
        ({"actor": [-1]}, "actor must be"),
        ({"actor": None}, "has an actor"),
        ({"actor": [4, 4]}, "weights are not those"),
        ({"activation": "Linear"}, "unknown activation"),
        ({"activation": "__class__"}, "unknown activation"),
        ({"normalize_images": 1}, "normalize_images"),
        ({"shape": {}}, "must have actor"),
        ({"recipe": [["os.system", {}]]}, "a wrapper must be"),
        ({"recipe": [["ArmAvailability", {}]]}, "a wrapper must be"),
        ({"recipe": [["__getattr__", {}]]}, "a wrapper must be"),
        ({"recipe": [["WindowedStatistics", {"window": 10**18}]]}, "arguments of wrappers"),
        ({"recipe": [["WindowedStatistics", {"window": "10"}]]}, "arguments of wrappers"),
        ({"recipe": {}}, "must be a list"),
    ],
)
def test_a_description_that_was_tampered_with_is_refused(exported: Any, changes: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=f"^'it' cannot be read as an exported model: .*{why}"):
        read_export(with_description(exported["ppo"], **changes), "it")


def header(claimed: str) -> bytes:
    """An array of NumPy's format whose header claims something."""
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {claimed}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def replaced(content: bytes, name: str, data: bytes, method: int = zipfile.ZIP_STORED) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(written, "w") as target:
        for each in source.namelist():
            target.writestr(each, data if each == name else source.read(each), method if each == name else None)
    return written.getvalue()


WEIGHT = "weights.action_net.weight"


@pytest.mark.parametrize(
    ("tampered", "why"),
    [
        (lambda old: packed(members(old) | {WEIGHT: np.full((3, 4), np.nan, np.float32)}), "not finite"),
        (lambda old: packed(members(old) | {WEIGHT: np.zeros((3, 4))}), "must be float32"),
        (lambda old: packed(members(old) | {WEIGHT: np.zeros((4, 3), np.float32)}), "must be float32 of shape"),
        (lambda old: packed(members(old) | {"weights.more": np.zeros(1, np.float32)}), "weights are not those"),
        (lambda old: packed(members(old) | {"observations.low": np.zeros(3, np.float32)}), "do not fit together"),
        (lambda old: replaced(old, f"{WEIGHT}.npy", header("(1000000000000, 4)")), "cannot reshape"),
        (lambda old: replaced(old, f"{WEIGHT}.npy", b"\0" * 10**7, zipfile.ZIP_DEFLATED), "is compressed"),
        (lambda old: replaced(old, "description.npy", header("(3,)")), "."),
        (lambda old: old[: len(old) // 2], "."),
    ],
)
def test_arrays_that_were_tampered_with_are_refused(exported: Any, tampered: Any, why: str) -> None:
    with pytest.raises(ValueError, match=f"^'it' cannot be read as an exported model: .*{why}"):
        read_export(tampered(exported["ppo"]), "it")


ran: list[int] = []


def note_that_it_ran(number: int) -> None:
    ran.append(number)


class Trap:
    """Leaves a mark when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return note_that_it_ran, (1,)


def test_an_export_never_unpickles(exported: Any) -> None:
    written = io.BytesIO()
    objects = np.array([Trap()], object)
    np.lib.format.write_array(written, objects, allow_pickle=True)
    for name in (f"{WEIGHT}.npy", "description.npy", "observations.low.npy"):
        content = replaced(exported["ppo"], name, written.getvalue())
        assert is_export(content)
        with pytest.raises(ValueError, match="plain numbers"):
            read_export(content, "it")
    assert ran == []
    np.lib.format.read_array(io.BytesIO(written.getvalue()), allow_pickle=True)
    assert ran == [1]  # so the trap works


ODD: tuple[Any, ...] = (
    None, True, -1, 0, 2**63, 10**400, 1e308, float("nan"), float("inf"), "", "\0", "é", "x" * 10_000, [], {}, [[]],
    {"pi": 1}, [1, 2, 3, 4], "ppo", "dqn", "Tanh", ["WindowedStatistics", {"window": 3}], 4, [4],
)  # fmt: skip


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """An export in which something is changed: its description, an array, or some bytes."""
    way = rng.integers(4)
    if way == 0:
        keys = ["kind", "algorithm", "recipe", "arms", "shape", "actor", "critic", "activation", "lstm"]
        chosen = rng.choice(keys, rng.integers(1, 3), replace=False)
        return with_description(content, **{str(key): ODD[rng.integers(len(ODD))] for key in chosen})
    arrays = members(content)
    name = str(rng.choice(list(arrays)))
    if way == 1:
        odd = np.asarray(ODD[rng.integers(len(ODD) - 4)], object)
        shapes = [arrays[name].T, arrays[name].astype("f8"), arrays[name][:0], arrays[name] * np.float32("nan")]
        other = [*shapes, np.zeros((0, 3), ">f4"), np.array("text"), np.array(3 + 2j)]
        data = io.BytesIO()
        value = odd if rng.random() < 0.2 else other[rng.integers(len(other))]
        np.lib.format.write_array(data, value, allow_pickle=True)
        return replaced(content, f"{name}.npy", data.getvalue(), int(rng.choice([0, 8])))
    changed = bytearray(content)
    if way == 2:
        for place in rng.integers(0, len(changed), rng.integers(1, 20)):
            changed[place] = rng.integers(256)
        return bytes(changed)
    begin, end = sorted(rng.integers(0, len(changed), 2))
    return bytes(changed[:begin] + changed[end:])


def test_hostile_exports_are_let_in_or_refused_in_words(exported: Any, guests: Any, watched: bool) -> None:
    untouched = list(exported.values())
    for rng in guests:
        content = mutated(untouched[rng.integers(len(untouched))], rng)
        with guest(watched=watched):
            agent = rl.SB3Agent(read_export(content, "it"))
            agent.reset(seed=0)
            assert 0 <= agent.act(np.zeros(agent.model.observation_space.shape, np.float32)) < agent.n_arms


def test_greedy_models_stay_greedy(exported: Any) -> None:
    agent = rl.SB3Agent(read_export(exported["dqn"], "it"))
    assert agent.deterministic
    with pytest.raises(ValueError, match="DQN is played greedily"):
        rl.SB3Agent(agent.model, deterministic=False)
    assert agent.algorithm == DQN.__name__
