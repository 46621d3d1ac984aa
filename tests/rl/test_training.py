"""Training: every algorithm learns, and a training that was interrupted ends with the weights of one that was not."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from ns_mab_gym import rl
from ns_mab_gym.deep.comparison import SEED, TUNING_SEED
from ns_mab_gym.rl.algorithm_settings import SETTINGS
from ns_mab_gym.rl.training import BetweenRollouts, Trained, Training, train, untrained
from ns_mab_gym.runs import seed_pair
from ns_mab_gym.tuning.race import held_out_seed

ON_POLICY = {"n_envs": 2, "n_steps": 16, "batch_size": 32}
REPLAYED = {"n_envs": 2, "learning_starts": 16, "buffer_size": 200}
SMALL: dict[str, dict[str, Any]] = {
    "ppo": {**ON_POLICY, "n_epochs": 2},
    "a2c": {"n_envs": 2, "n_steps": 8},
    "recurrent-ppo": {**ON_POLICY, "n_epochs": 1, "lstm_hidden_size": 8},
    "maskable-ppo": {**ON_POLICY, "n_epochs": 1},
    "trpo": ON_POLICY,
    "dqn": REPLAYED,
    "qr-dqn": {**REPLAYED, "n_quantiles": 5},
}
QUICK = {"ppo", "dqn", "recurrent-ppo"}  # one of each kind of rollout
EVERY = [pytest.param(algo, marks=() if algo in QUICK else pytest.mark.slow) for algo in SMALL]
WORLD = {"n_arms": 3, "horizon": 20}


def training(algo: str = "ppo", **changes: Any) -> Training:
    given: dict[str, Any] = {"env_kwargs": WORLD, "windows": (5,), "timesteps": 300, "settings": SMALL[algo]}
    return Training(algo=algo, **(given | changes))


def weights(trained: Trained) -> dict[str, Any]:
    return {name: value.numpy() for name, value in trained.agent.model.policy.state_dict().items()}


def assert_same(one: Trained, other: Trained) -> None:
    assert one.steps == other.steps
    np.testing.assert_array_equal(one.curve.steps, other.curve.steps)
    np.testing.assert_array_equal(one.curve.regret, other.curve.regret)
    assert weights(one).keys() == weights(other).keys()
    for name, value in weights(one).items():
        np.testing.assert_array_equal(value, weights(other)[name], err_msg=name)


def interrupt(monkeypatch: pytest.MonkeyPatch, after: int, act: Any) -> None:
    """Do something once, at the first end of a rollout after this number of steps."""
    end, done = BetweenRollouts._on_rollout_end, []

    def ended(self: BetweenRollouts) -> None:
        end(self)
        if self.model.num_timesteps >= after and not done:
            done.append(True)
            act()

    monkeypatch.setattr(BetweenRollouts, "_on_rollout_end", ended)


def press_ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


class KilledError(BaseException):
    """Stands for the end of a process."""


def die() -> None:
    raise KilledError


def test_the_table_of_settings_is_tried() -> None:
    assert SMALL.keys() == SETTINGS.keys() == set(rl.algorithms()) - {"ars"}  # which no command trains


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("algo", EVERY)
def test_an_interrupted_training_ends_with_the_same_weights(
    algo: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = train(training(algo))
    assert whole.curve.steps.tolist()[:3] == [40, 80, 120]  # 2 environments of 20 rounds
    assert whole.agent.recipe == [("WindowedStatistics", {"window": 5})]
    saved = tmp_path / "checkpoint"
    interrupt(monkeypatch, 100, press_ctrl_c)
    with pytest.raises(KeyboardInterrupt):
        train(training(algo), checkpoint=saved)
    assert "stopping after this rollout" in capsys.readouterr().err
    np.random.rand(7)  # noqa: NPY002
    torch.rand(7)  # what happens in between does not count
    assert_same(train(training(algo), checkpoint=saved), whole)


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize(("algo", "when"), [("ppo", "before"), ("dqn", "before"), ("ppo", "after")])
def test_ctrl_c_before_the_first_rollout_or_after_the_last_loses_nothing(
    algo: str, when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, saved = train(training(algo)), tmp_path / "checkpoint"
    with monkeypatch.context() as patched:
        if when == "before":
            patched.setattr(BetweenRollouts, "_on_training_start", lambda self: press_ctrl_c())
        else:
            interrupt(patched, 300, press_ctrl_c)
        with pytest.raises(KeyboardInterrupt):
            train(training(algo), checkpoint=saved)
    assert_same(train(training(algo), checkpoint=saved), whole)


STAGGERED: dict[str, dict[str, Any]] = {
    "ppo": {**SMALL["ppo"], "n_envs": 4, "n_steps": 4, "batch_size": 16},
    "dqn": {**SMALL["dqn"], "n_envs": 4},
}


@pytest.mark.parametrize("algo", STAGGERED)
def test_a_staggered_training_goes_on_in_the_middle_of_its_first_episodes(
    algo: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environments begin after 0, 5, 10 and 15 rounds of 20; after 32 steps, which are 8 rounds, it is saved."""
    what, saved = training(algo, stagger=True, settings=STAGGERED[algo]), tmp_path / "checkpoint"
    whole, together = train(what), train(training(algo, settings=STAGGERED[algo]))
    assert any((weights(together)[name] != value).any() for name, value in weights(whole).items())
    interrupt(monkeypatch, 48, die)
    with pytest.raises(KilledError):
        train(what, checkpoint=saved, every=32)
    assert_same(train(what, checkpoint=saved), whole)


@pytest.mark.parametrize("source", ["regret", "reward"])
def test_a_model_learns_from_what_it_is_told_to(source: str) -> None:
    """Its rewards are those in the observations, as they were drawn, or the regret in the infos with a minus."""
    envs, seen = untrained(training(learn_from=source)).env, []
    envs.reset()
    for t in range(19):  # of 20 rounds
        observations, rewards, _, infos = envs.step(np.array([t % 3, (t + 1) % 3]))
        regrets = np.array([info["regret"] for info in infos])
        np.testing.assert_allclose(rewards, -regrets if source == "regret" else observations[:, 3], rtol=1e-6)
        seen += [*zip(regrets, observations[:, 3], strict=True)]
    assert {drawn for _, drawn in seen} == {0.0, 1.0}
    assert len({regret for regret, _ in seen}) > 2


@pytest.mark.parametrize(("algo", "first"), [("ppo", 3e-3), ("recurrent-ppo", 5e-3), ("dqn", 1e-3)])
def test_the_rate_of_learning_falls_unless_one_is_given(algo: str, first: float) -> None:
    falling = untrained(training(algo)).lr_schedule
    assert [falling(left) for left in (1.0, 0.5, 0.0)] == pytest.approx([first, (first + 1e-4) / 2, 1e-4])
    given = untrained(training(algo, settings={**SMALL[algo], "learning_rate": 2e-4})).lr_schedule
    assert [given(left) for left in (1.0, 0.0)] == [2e-4, 2e-4]


def test_a_recurrent_model_has_one_memory_or_two() -> None:
    one = untrained(training("recurrent-ppo")).policy
    assert one.shared_lstm
    assert one.lstm_critic is None
    apart = {**SMALL["recurrent-ppo"], "shared_lstm": False, "enable_critic_lstm": True}
    assert untrained(training("recurrent-ppo", settings=apart)).policy.lstm_critic is not None
    with pytest.raises(ValueError, match=r"cannot be made with these settings: You must choose between shared LSTM"):
        untrained(training("recurrent-ppo", settings={**SMALL["recurrent-ppo"], "enable_critic_lstm": True}))


def test_another_seed_gives_other_weights() -> None:
    one, other = (weights(train(training(seed=seed, timesteps=32))) for seed in (0, 1))
    assert any((one[name] != other[name]).any() for name in one)


def test_a_checkpoint_of_another_training_or_a_damaged_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = tmp_path / "checkpoint"
    interrupt(monkeypatch, 64, die)
    with pytest.raises(KilledError):
        train(training(), checkpoint=saved, every=32)
    for changes in ({"timesteps": 400}, {"learn_from": "reward"}, {"stagger": True}):
        with pytest.raises(ValueError, match="the checkpoint is one of another training; remove "):
            train(training(**changes), checkpoint=saved)
    saved.write_bytes(saved.read_bytes()[:1000])
    with pytest.raises(ValueError, match=r"the checkpoint cannot be read \(.*\); remove "):
        train(training(), checkpoint=saved)


def test_tensorboard_is_told_the_regret_of_episodes_under_one_name(tmp_path: Path) -> None:
    train(training(), logs=tmp_path)
    (events,) = tmp_path.rglob("events.out.tfevents.*")
    assert set(re.findall(rb"rollout/\w*regret\w*", events.read_bytes())) == {b"rollout/regret"}


def test_no_instance_of_training_is_one_of_evaluation_or_tuning() -> None:
    """Seeds of evaluations and races are 64-bit words; those of trainings lie above, each in a range of its own."""
    judging = {seed_pair(SEED, run)[0] for run in range(2_000)}
    racing = {seed_pair(seed, run)[0] for seed in (TUNING_SEED, held_out_seed(TUNING_SEED)) for run in range(2_000)}
    assert not judging & racing
    assert max(judging | racing) < 2**64
    seen: set[int] = set()
    for seed in (0, 1, 2**32 - 1):
        model = untrained(training(seed=seed))
        model.env.reset()
        seeds = set(model.env.unwrapped.envs.unwrapped.np_random_seed)
        assert min(seeds) >= 2**64
        assert not seeds & seen
        seen |= seeds


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"seed": 2**32}, "seed must be at most 4,294,967,295"),
        ({"settings": {"n_step": 3}}, "did you mean 'n_steps'"),
        ({"settings": {"n_steps": 0}}, "n_steps of ppo must be a positive integer, got 0"),
        ({"settings": {"gamma": 1.5}}, r"gamma of ppo must lie in \[0, 1\], got 1.5"),
        ({"settings": {"learning_rate": 0}}, "learning_rate of ppo must be a finite number above 0, got 0"),
        ({"settings": {"normalize_advantage": 1}}, "must be true or false, got 1"),
        ({"settings": {"net_arch": [64, 0]}}, "each width in net_arch of ppo must be a positive integer, got 0"),
        ({"settings": {"device": "cpu"}}, "has no parameter 'device'"),
        ({"learn_from": "rewards"}, "unknown learn_from 'rewards'; did you mean 'reward'"),
        ({"stagger": 1}, "stagger must be True or False, got 1"),
        ({"device": "gpux"}, "torch cannot compute on device 'gpux'"),
    ],
)
def test_what_cannot_be_trained_is_refused_when_it_is_described(changes: dict[str, Any], said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        training(**changes)


def test_settings_reach_the_model_and_those_that_do_not_fit_together_are_refused() -> None:
    with pytest.raises(ValueError, match=r"ppo cannot be made with these settings: .*; change one of them"):
        untrained(training(settings={"n_envs": 1, "n_steps": 1, "batch_size": 1}))
    model = untrained(training(settings={**SMALL["ppo"], "gamma": 0.5, "net_arch": [7], "learning_rate": 3e-4}))
    assert (model.gamma, model.n_steps, model.n_envs, model.lr_schedule(1.0)) == (0.5, 16, 2, 3e-4)
    assert model.policy.mlp_extractor.policy_net[0].out_features == 7
