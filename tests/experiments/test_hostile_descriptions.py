"""Descriptions that nobody should write: each is read, or refused in one of our own sentences that names the place."""

from __future__ import annotations

import pytest

from ns_mab_gym.experiments.descriptions import read_study
from ns_mab_gym.experiments.preflight import check_study
from tests.support.fuzzing import guest
from tests.support.hostile import VALUES, foreign, one_of

SETTINGS = {
    "title": '"Which memory?"',
    "runs": "2",
    "seed": "3",
    "reference": '"ts"',
}
WORLDS = [
    {"env": '"piecewise"', "n_arms": "3", "horizon": "50", "label": '"shop"', "note": '"a note"', "group": '"a group"'},
    {"env": '"stationary"', "mu": "[0.1, 0.5, 0.9]", "horizon": "40", "reward": '"beta"', "label": '"σ"'},
    {"env": '"NSBandit-Abrupt-v0"', "horizon": "60"},
]
AGENTS = [
    {"agent": '"ts"', "binarize": "true", "label": '"ts"', "note": '"a note"', "group": '"a group"'},
    {"agent": '"beta-swts"', "window": "{sweep = [5, 9]}", "binarize": "true"},
    {"agent": '"sw-ucb"', "window": "20", "xi": "0.6"},
]


def written(settings, worlds, agents):
    """A description as TOML."""
    lines = [f"{key} = {value}" for key, value in settings.items()]
    for name, tables in (("worlds", worlds), ("agents", agents)):
        for table in tables:
            lines += [f"[[{name}]]", *(f"{key} = {value}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


def copies(tables):
    return [dict(table) for table in tables]


def mutated(rng):
    """A description with one to three things amiss, as bytes."""
    settings, worlds, agents = dict(SETTINGS), copies(WORLDS), copies(AGENTS)
    for _ in range(int(rng.integers(1, 4))):
        table = one_of(rng, [settings, *worlds, *agents])
        key = one_of(rng, [*table, *table, "label", "sweep", "", '"a b"', '"\\u0000"', "path", "world", "blind", "name"])
        if rng.random() < 0.15:
            table.pop(key, None)
        elif key:
            table[key] = one_of(rng, VALUES)
    text = written(settings, worlds, agents)
    kind = rng.random()
    if kind < 0.05:
        return text.encode()[: int(rng.integers(len(text)))]
    if kind < 0.08:
        return b"\xef\xbb\xbf" + text.encode()
    if kind < 0.11:
        noise = bytearray(text.encode())
        noise[int(rng.integers(len(noise)))] = int(rng.integers(256))
        return bytes(noise)
    if kind < 0.13:
        return text.encode("utf-16")
    return text.encode()


def test_hostile_descriptions(guests, watched, tmp_path):
    file = tmp_path / "mine.toml"
    read = 0
    for rng in guests:
        file.write_bytes(content := mutated(rng))
        with guest(watched=watched):
            try:
                check_study(read_study(file))
                read += 1
            except Exception as error:
                assert foreign(error) is None, content.decode(errors="replace")
                raise
    assert read < len(guests)
