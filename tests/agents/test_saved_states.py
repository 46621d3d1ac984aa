"""A saved state is loaded whole, if it is the agent's own and undamaged, or not at all."""

from __future__ import annotations

import copy
import io
from typing import Any

import numpy as np
import pytest
from saved_examples import ARMS, EVERY_FORM, in_the_middle, play_on

from ns_mab_gym import agents


def snapshot(agent: agents.Agent) -> dict[str, bytes]:
    """Everything that an agent knows, as bytes."""
    return {key: np.asarray(value).tobytes() for key, value in agent.state_dict().items()}


def through_a_file(saved: dict[str, Any]) -> Any:
    """The same in numpy's own file format, with pickle forbidden."""
    file = io.BytesIO()
    np.savez(file, **saved)
    file.seek(0)
    return np.load(file, allow_pickle=False)


def assert_refused(agent: agents.Agent, saved: Any, message: str) -> None:
    """It is not loaded, and the agent is what it was and plays as it would have."""
    before, twin = snapshot(agent), copy.deepcopy(agent)
    with pytest.raises((TypeError, ValueError), match=message):
        agent.load_state_dict(saved)
    assert snapshot(agent) == before
    assert play_on(agent, 20, 9) == play_on(twin, 20, 9)


@pytest.mark.parametrize(("name", "parameters"), EVERY_FORM, ids=lambda given: str(given).strip("{}")[:60])
def test_what_an_agent_saves_it_loads_unless_it_was_damaged(name, parameters):
    """In the middle of a run at several moments, between act and observe too, and after it was made to forget.

    It goes on bit for bit, and what was saved does not change with the agent.
    """
    agent = in_the_middle(name, parameters, 0, seed=1)
    other = agent.clone()
    for moment in range(6):
        play_on(agent, 7 * moment % 31 + 1, moment)
        if moment % 3 == 2:
            agent.act()
        if moment == 3 and name not in ("random", "oracle"):
            agent.forget(1)
        saved, before = agent.state_dict(), snapshot(agent)
        other.load_state_dict(through_a_file(saved))
        assert snapshot(other) == before
        assert play_on(agent, 5, moment) == play_on(other, 5, moment)
        assert {key: np.asarray(value).tobytes() for key, value in saved.items()} == before  # which stays what it was
    assert snapshot(other) == snapshot(agent)
    saved = agent.state_dict()
    last = [key for key in saved if key.startswith("state.") and saved[key].size][-1]
    saved[last].flat[0] = 1 + np.nan_to_num(saved[last].flat[0])
    with pytest.raises(ValueError, match="is damaged: its arrays do not have its digest"):
        other.load_state_dict(saved)
    assert snapshot(other) == snapshot(agent)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda saved: None, "a saved ts is a dictionary as state_dict\\(\\) returns it, got NoneType"),
        (lambda saved: list(saved), "a saved ts is a dictionary .*, got list"),
        (lambda saved: {}, "not a saved ts: it has no 'agent', 'parameter.n_arms', 'parameter.binarize' and 9 more"),
        (lambda saved: saved | {"other": 1, 5: 2}, "not a saved ts: a ts has no 'other', 5; save it with"),
        (lambda saved: {k: v for k, v in saved.items() if k != "generator"}, "not a saved ts: it has no 'generator'; "),
        (lambda saved: saved | {"agent": "x" * 999}, r"saved with agent = x{200}, this agent has ts; make it the same"),
        (
            lambda saved: saved | {"parameter.binarize": True},
            "saved with parameter.binarize = True, this agent has Fal",
        ),
        (lambda saved: saved | {"agent": None}, "saved agent holds object values; it must hold numbers, truth values"),
        (lambda saved: saved | {"state.means": None}, "saved state.means holds object values"),
        (lambda saved: saved | {"state.means": [[1.0], [1.0, 2.0]]}, "saved state.means cannot be read as an array"),
        (lambda saved: saved | {"state.means": np.zeros(ARMS, np.float32)}, r"saved state.means is float32\[4\], this"),
        (lambda saved: saved | {"state.means": np.zeros(ARMS + 1)}, r"saved state.means is float64\[5\], this agent's"),
        (lambda saved: saved | {"generator": np.zeros(6)}, r"saved generator is float64\[6\], this agent's is uint64"),
        (lambda saved: saved | {"generator": np.zeros(6, np.uint64)}, "the saved ts is damaged"),
        (lambda saved: saved | {"state.means": np.zeros(ARMS)}, "the saved ts is damaged: its arrays do not have its"),
        (lambda saved: saved | {"digest": "0" * 64}, "the saved ts is damaged"),
        (lambda saved: saved | {"digest": 7}, "the saved ts is damaged"),
    ],
)
def test_messages_name_what_is_wrong(change, message):
    agent = in_the_middle("ts", {}, 20, seed=1)
    assert_refused(agent, change(agent.state_dict()), message)


def test_files_with_pickled_objects():
    agent = in_the_middle("ts", {}, 20, seed=1)
    pickled = through_a_file(agent.state_dict() | {"state.means": np.array([{}], dtype=object)})
    assert_refused(agent, pickled, "saved state.means cannot be read as an array")


def test_constant_arrays_stay_constant():
    """For them compiled code has a type of its own."""
    agent = in_the_middle("oracle", {}, 5, seed=1)
    agent.load_state_dict(agent.state_dict())
    assert not agent.state.means.flags.writeable
    assert agent.state.rounds.flags.writeable
