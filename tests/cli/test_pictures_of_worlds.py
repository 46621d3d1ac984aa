"""``diagnose`` and ``plot`` take ids, worlds with parameters, files and worlds of the user's own."""

import re

import numpy as np
import pytest
from PIL import Image

from ns_mab_gym import theory, worlds
from ns_mab_gym.cli import entry
from ns_mab_gym.cli.choosing import means_of


@pytest.fixture
def table():
    return np.repeat([[0.1, 0.2, 0.9], [0.9, 0.2, 0.1]], 300, axis=0)


def width_of(picture):
    with Image.open(picture) as opened:
        return opened.size[0]


def test_what_is_read_is_what_is_named(here, table):
    np.savetxt(here / "clicks.csv", table, delimiter=",", header="ads,mail,video", comments="")
    np.savez(here / "clicks.npz", table)
    for words, name, means, arms in (
        ("clicks.csv", "clicks", table, ["ads", "mail", "video"]),
        ("clicks.npz", "clicks", table, None),
        ("NSBandit-Abrupt-v0", "NSBandit-Abrupt-v0", worlds.Abrupt().means(), None),
        ("NSBandit-Abrupt-v0:horizon=6e2", "NSBandit-Abrupt-v0-horizon=600", worlds.Abrupt(horizon=600).means(), None),
        ("stationary:mu=0.1,0.5,horizon=3", "stationary-horizon=3,mu=-0.1,0.5", np.tile([[0.1, 0.5]], (3, 1)), None),
        ("ns_mab_gym:NSBandit-Abrupt-v0", "ns_mab_gym-NSBandit-Abrupt-v0", worlds.Abrupt().means(), None),
        ("smooth:horizon=9,sigma=0.1", "smooth-horizon=9,sigma=0.1", worlds.Smooth(horizon=9, sigma=0.1).means(), None),
        ("own_zoo:Level:horizon=10", "own_zoo-Level-horizon=10", np.tile([0.75, 0.5], (10, 1)), None),
    ):
        read = means_of(words, seed=0)
        assert (read[0], read[2]) == (name, arms)
        np.testing.assert_allclose(read[1], means)


def test_a_random_world_is_the_instance_of_the_seed():
    one, same, other = (means_of("piecewise:n_arms=3,horizon=500", seed)[1] for seed in (1, 1, 2))
    assert one.shape == (500, 3)
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("world", ["NSBandit-Abrupt-v0:horizon=500", "piecewise:n_arms=3,horizon=500", "own_zoo:Level"])
def test_worlds_are_described_and_drawn(world, here, capsys):
    assert entry.main(["diagnose", world, "--out", "out"]) == 0
    said = capsys.readouterr().out
    assert f"recommended τ = {theory.recommend_window(means_of(world, 0)[1]).window:,}" in said
    [picture] = (here / "out").iterdir()
    assert said.splitlines()[-1] == f"picture: out/{picture.name}"
    assert width_of(picture) > 800


def test_a_file_with_a_long_name_is_described_drawn_and_measured(here, table, capsys):
    np.savetxt(here / f"{'店' * 80}.csv", table, delimiter=",", header="ads,mail,video", comments="")
    assert entry.main(["diagnose", f"{'店' * 80}.csv", "--measure", "--runs", "2", "--out", "out"]) == 0
    said = capsys.readouterr().out
    assert "breakpoints" in said
    assert f"recommended τ = {theory.recommend_window(table).window:,}" in said
    assert "the recommended window loses" in said
    diagnosis, measured = sorted(each.name for each in (here / "out").iterdir())
    assert diagnosis.startswith("店店店")
    assert diagnosis.removesuffix("-beta-swts-diagnosis.png") == measured.removesuffix("-beta-swts-measured.png")


def test_several_worlds_of_every_kind_are_plotted(here, table, capsys):
    np.savetxt(here / "clicks.csv", table, delimiter=",")
    named = ["smooth:horizon=500", "NSBandit-Piecewise-v0:n_arms=3,horizon=500", "clicks.csv", "own_zoo:Level"]
    assert entry.main(["plot", *named, "--out", "pictures/worlds.png"]) == 0
    assert capsys.readouterr().out.startswith("picture: pictures/worlds.png (")
    assert width_of(here / "pictures" / "worlds.png") > 800


def test_diagnose_knows_the_scale_of_the_rewards(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    said = {}
    for scale in (0.1, 5):
        world = f"abrupt:horizon=3000,reward=gaussian,scale={scale}"
        assert entry.main(["diagnose", world, "--out", "out"]) == 0
        said[scale] = capsys.readouterr().out
        means = worlds.Abrupt(horizon=3000).means()
        window = theory.recommend_window(means, "gamma-swgts", subgaussian=scale).window
        assert f"recommended τ = {window:,}:" in said[scale]
        assert re.search(rf"scale of the rewards +λ +{scale:g}\n", said[scale])
        assert f"recommended {theory.describe(world).recommended}" in said[scale]
    assert said[0.1].rpartition("recommended")[2] != said[5].rpartition("recommended")[2]
    assert entry.main(["diagnose", world, "--agent", "beta-swts"]) == 2
    assert "beta-swts takes rewards that are 0 or 1, got gaussian ones" in capsys.readouterr().err
