"""Runs made by hand, whose regret grows at given slopes, as evidence for claims."""

import zlib

import numpy as np

from ns_mab_gym.claims.judging import Evidence
from ns_mab_gym.runs import Runs

HORIZON = 5_000
ROUNDS = np.arange(1, 101) * 50


def curves(label, slopes, runs=30, noise=5.0):
    """Runs whose regret grows by a slope (or one for each noted round), with noise of their own."""
    rng = np.random.default_rng(zlib.crc32(label.encode()))
    steps = np.broadcast_to(np.asarray(slopes, float), 100) * 50
    regret = np.cumsum(steps) + rng.normal(0, noise, size=(runs, 1))
    pulls = np.tile([100, round(float(steps.sum()))], (runs, 1))
    seeds = [(run, run) for run in range(runs)]
    return Runs(ROUNDS, regret, pulls, pulls, seeds, [{}] * runs, 1.0)


def evidence(runs=30, noise=5.0, means=None, **slopes):
    """Evidence of one world with runs of each label; without means of its own, all arms are alike."""
    made = {label: curves(label, slope, runs, noise) for label, slope in slopes.items()}
    return Evidence(made, np.zeros((HORIZON, 2)) if means is None else means)
