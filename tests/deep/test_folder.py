"""Models that are trained in processes of their own end as they would in this one, and go on after any end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

import torch

from ns_mab_gym.deep.folder import SeedFolder, train_side_by_side
from ns_mab_gym.rl.training import Trained, Training

SMALL = Training(
    env_kwargs={"n_arms": 3, "horizon": 20},
    windows=(8,),
    timesteps=96,
    settings={"n_envs": 2, "n_steps": 16, "batch_size": 32, "n_epochs": 1},
)
# Three trainings that last for hours.
ENDLESS = f"""
import signal
import sys
from dataclasses import replace
from pathlib import Path
from ns_mab_gym.deep.folder import SeedFolder, train_side_by_side
from ns_mab_gym.rl.training import Training

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which is ignored in the background of a shell
    training = replace({SMALL!r}, timesteps=10**8)
    models = {{seed: SeedFolder(Path(sys.argv[1]) / str(seed), replace(training, seed=seed)) for seed in range(3)}}
    for name, trained in train_side_by_side(models, 2, 1):
        pass
"""
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals among processes are of POSIX")
pytestmark = pytest.mark.slow  # processes that import torch


def placed(folder: Path, training: Training = SMALL) -> SeedFolder:
    folder.mkdir(exist_ok=True)
    return SeedFolder(folder, training)


def weights(trained: Trained) -> dict[str, np.ndarray]:
    return {name: value.numpy() for name, value in trained.agent.model.policy.state_dict().items()}


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Torch computes with one thread, as the processes do; with more it rounds otherwise."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("one_thread")
def test_models_are_those_of_a_training_in_this_process_and_are_not_trained_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = {seed: placed(tmp_path / str(seed), replace(SMALL, seed=seed)) for seed in (3, 4)}
    found = dict(train_side_by_side(models, 2, 1_000))
    assert found.keys() == {3, 4}
    for seed, trained in found.items():
        here, _ = placed(tmp_path / f"here-{seed}", replace(SMALL, seed=seed)).train(1_000)
        assert trained.steps == here.steps == 96
        for name, value in weights(here).items():
            np.testing.assert_array_equal(weights(trained)[name], value)
    monkeypatch.setattr("ns_mab_gym.parallel.ProcessPool.submit", None)
    assert [name for name, _ in train_side_by_side(models, 2, 1_000)] == [3, 4]


def test_one_that_fails_is_named_and_the_others_are_stopped(tmp_path: Path) -> None:
    broken = placed(tmp_path / "broken")
    broken.checkpoint.write_text("no checkpoint")
    models = {"the broken one": broken, "the long one": placed(tmp_path / "long", replace(SMALL, timesteps=10**8))}
    with pytest.raises(RuntimeError, match=r"the training of the broken one failed \(.*\); .* goes on"):
        list(train_side_by_side(models, 2, 1))


@POSIX
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_all_end_with_the_process_that_started_them(number: signal.Signals, tmp_path: Path) -> None:
    """Two of three train at once; what was saved before the end is kept."""
    places = [placed(tmp_path / seed) for seed in "012"]
    (tmp_path / "endless.py").write_text(ENDLESS)
    words = [sys.executable, str(tmp_path / "endless.py"), str(tmp_path)]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL, start_new_session=True) as started:
        wait_for(lambda: all(place.checkpoint.is_file() for place in places[:2]))
        children = children_of(started.pid)
        assert len(children) >= 2
        os.kill(started.pid, number)
        started.wait(60)
        try:
            wait_for(lambda: not any(map(is_alive, children)))
        finally:
            for child in filter(is_alive, children):
                os.kill(child, signal.SIGKILL)
    assert [place.checkpoint.is_file() for place in places] == [True, True, False]


def children_of(parent: int) -> list[int]:
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(parent)], capture_output=True, text=True, check=True)
    return list(map(int, listed.stdout.split()))


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def wait_for(happened: Callable[[], bool], seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.2)
