"""The worked examples run, at a small size, and what they print is true of the worlds that they simulate."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parent.parent.parent / "scripts" / "service"


@pytest.fixture
def example(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return importlib.import_module


def test_there_are_three_and_each_is_short():
    files = sorted(EXAMPLES.glob("*.py"))
    assert [file.stem for file in files] == ["clicks", "prices", "router"]
    assert all(len(file.read_text(encoding="utf-8").splitlines()) <= 80 for file in files)


def test_clicks_that_come_late_are_learnt_from(example, capsys):
    found = example("clicks").main(days=6)
    assert found["best"] == 75
    assert abs(found["gain"] - (found["agent"] - found["holdout"])) < 10  # a few clicks are still under way
    assert found["gain"] > -4 * found["error"]
    said = capsys.readouterr().out
    assert "beta-swts remembers 1,440 decisions" in said
    assert said.count("shares of the") == 3


def test_prices_earn_more_than_at_random(example, capsys):
    found = example("prices").main(visitors=900)
    assert found["random"] == pytest.approx(
        np.mean([2 * 9.99 * 0.30 + 9.99 * 0.28, 2 * 14.99 * 0.24 + 14.99 * 0.08, 2 * 19.99 * 0.21 + 19.99 * 0.03]) / 3
    )
    assert found["best at any time"] == pytest.approx((2 * 19.99 * 0.21 + 9.99 * 0.28) / 3)
    assert 0 < found["agent"] < 2 * found["best at any time"]
    assert "there were two, after 300 and 600" in capsys.readouterr().out


def test_a_router_follows_its_models(example, capsys):
    router = example("router")
    found = router.main(calls=300)
    assert found["fixed"] < found["router"] < found["ideal"] + 0.1
    assert set(found["verdicts"]) == {"large", "small", "tiny", "new"}
    assert capsys.readouterr().out.count(" to 1,000 calls") == 4
    gains = np.tile([0.0, 0.02], 500)
    for shift, word in ((0.05, "keep"), (-0.05, "kill")):
        assert router.verdict(gains + shift, np.zeros(1_000))[0] == word
    noise = np.random.default_rng(0).normal(size=1_000)
    assert router.verdict(noise - noise.mean(), np.zeros(1_000))[0] == "undecided"
