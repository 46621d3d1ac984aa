"""A saved state is loaded whole, if an agent could have reached it, or not at all."""

from __future__ import annotations

import copy
import io
from collections import UserDict
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from examples import example_agent
from fuzzing import guest
from saved_examples import ARMS, EVERY_FORM, in_the_middle, play_on

from ns_mab_gym import agents
from ns_mab_gym.agents.core.admission import ADMISSIONS
from ns_mab_gym.agents.core.kernel import states_in

WRONG: dict[str, list[Any]] = {
    "i": [-1, -2, ARMS - 1, ARMS, ARMS + 1, 0, 1, 2**31, 2**62, 2**63 - 1, -(2**63)],
    "f": [np.nan, np.inf, -np.inf, 1e308, -1e308, -1.0, -1e-9, 0.0, 0.5, 1.0, 3.0, 1e6, 2.0**52, 1e-320],
    "b": [False, True],
    "u": [0, 1, 2, 2**32, 2**63, 2**64 - 1],
}
every_form = pytest.mark.parametrize(("name", "parameters"), EVERY_FORM, ids=lambda given: str(given).strip("{}")[:60])


def snapshot(agent: agents.Agent) -> dict[str, bytes]:
    """Everything that an agent knows, as bytes."""
    return {key: np.asarray(value).tobytes() for key, value in agent.state_dict().items()}


def offer(agent: agents.Agent, saved: Any) -> bool:
    """Load; whether it was let in. If not, in words of our own, and the agent is what it was and plays as it would."""
    before, twin = snapshot(agent), copy.deepcopy(agent)
    refused = False
    with guest():
        refused = True
        agent.load_state_dict(saved)
        refused = False
    if refused:
        assert snapshot(agent) == before
        assert play_on(agent, 20, 9) == play_on(twin, 20, 9)
    return not refused


def plays_on(agent: agents.Agent, rounds: int) -> None:
    """Play what was let in: every arm exists, and the state stays one that can be."""
    with np.errstate(all="raise", under="ignore"):
        play_on(agent, rounds, 3)
    agent.clone().load_state_dict(agent.state_dict())


@every_form
def test_every_state_declares_what_it_can_be(name, parameters):
    for state in states_in(example_agent(name, ARMS, **parameters).state):
        assert type(state) in ADMISSIONS, type(state)


@every_form
def test_what_an_agent_saves_it_loads(name, parameters):
    """In the middle of a run at many moments, between act and observe too, and after it was made to forget."""
    agent = in_the_middle(name, parameters, 0, seed=1)
    other = agent.clone()
    for moment in range(12):
        play_on(agent, 7 * moment % 31 + 1, moment)
        if moment % 3 == 2:
            agent.act()
        if moment == 5 and name not in ("random", "oracle"):
            agent.forget(1)
        if moment == 9 and name not in ("random", "oracle"):
            agent.forget()
        other.load_state_dict(agent.state_dict())
        assert snapshot(other) == snapshot(agent)


@every_form
def test_a_number_out_of_place_is_refused_or_harmless(name, parameters):
    """Every array of every state, a few of its places, every wrong number; what is let in plays 200 rounds."""
    saved = in_the_middle(name, parameters, 60, seed=1).state_dict()
    draw = np.random.default_rng(7)
    agent = example_agent(name, ARMS, **parameters)
    for key, array in saved.items():
        if not key.startswith("state.") or array.size == 0:
            continue
        for _ in range(2):
            place = tuple(int(draw.integers(min(n, 12))) for n in array.shape)
            wrong = copy.copy(saved)
            wrong[key] = array.copy()
            wrong[key][place] = one_of(draw, WRONG[array.dtype.kind])
            if offer(agent, wrong):
                plays_on(agent, 200)


# agent, array, place, value: what compiled code would follow beyond the arrays, or go round in circles by.
DANGEROUS = [
    ("sw-ucb", "state.window.arms", 3, ARMS),
    ("sw-ucb", "state.window.arms", 3, -2),
    ("sw-ucb", "state.window.clock", 1, 10**6),
    ("sw-ucb", "state.window.pulls", 0, 10**6),
    ("ts", "state.window.sums", 0, -5.0),
    ("ts", "state.window.clock", 0, 2**63 - 1),
    ("kl-ucb", "state.last", 0, ARMS),
    ("ser4", "state.order", 0, 99),
    ("ser4", "state.order", 0, 1),
    ("ser4", "state.clock", 1, ARMS),
    ("master", "state.clock", 2, 60),
    ("master", "state.running", slice(None), 0),
    ("sw-lb-sda", "state.outcomes", slice(None), 0),
    ("sw-lb-sda", "state.clock", 1, ARMS),
    ("fewa", "state.totals.ends", 0, 10**7),
    ("raw-ucb", "state.spans", 0, 0),
    ("r-less-ucb", "state.samples.counts", 0, 10**7),
    ("dsw-ts", "state.recent.slots", 0, 500),
    ("switching-ts", "state.held", 0, 101),
    ("switching-ts", "state.weights", slice(None), 0.0),
    ("glr-klucb", "state.detector.prefixes.kept", 0, 1024),
    ("glr-klucb", "state.detector.prefixes.points", slice(None), 0.5),
    ("glr-klucb", "state.detector.prefixes.points", (slice(None), slice(None), 0), 0.0),
    ("adr-ts", "state.detector.filled", (0, 0), 6),
    ("m-ucb", "state.detector.memory", (0, 0), -1.0),
    ("br-mab", "state.books", (1, 0), 21),
    ("br-mab", "state.books", (1, 1), 1),
    ("bandit-over-windows", "state.clock", 1, 99),
    ("bandit-over-windows", "state.windows", 0, 10**6),
    ("oracle-restart", "state.clock", 1, -1),
    ("oracle", "state.rounds", 0, -5),
    ("oracle", "state.means", (0, 0), 7.0),
    ("predictive-sampling", "state.variances", 0, 0.0),
    ("exp3s", "state.weights", slice(None), 0.0),
    ("rexp3", "state.probabilities", 0, 0.0),
    ("active-ptw", "state.log_odds", -1, 0.0),
    ("d-ts", "state.bounds", 0, -1e9),
    ("cusum-ucb", "state.alarms.rows", (0, 0), -3),
    ("beta-swts", "generator", 3, 2),
    ("beta-swts", "generator", 4, 2),
    ("beta-swts", "generator", 5, 2**32),
]


@pytest.mark.parametrize(("name", "key", "place", "value"), DANGEROUS)
def test_what_would_lead_beyond_an_array_is_refused(name, key, place, value):
    agent = in_the_middle(name, {}, 60, seed=1)
    saved = agent.state_dict()
    saved[key][place] = value
    assert not offer(agent, saved)
    with pytest.raises(ValueError, match=r"^(saved state\.|a saved generator)"):
        agent.load_state_dict(saved)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda saved: None, "a saved ts is a dictionary as state_dict\\(\\) returns it, got NoneType"),
        (lambda saved: list(saved), "a saved ts is a dictionary .*, got list"),
        (
            lambda saved: {},
            "not a saved ts: it has no 'agent', 'parameter.n_arms', 'parameter.binarize' and 8 more",
        ),
        (lambda saved: saved | {"other": 1, 5: 2}, "not a saved ts: a ts has no 'other', 5; save it with"),
        (lambda saved: {k: v for k, v in saved.items() if k != "generator"}, "not a saved ts: it has no 'generator'; "),
        (lambda saved: saved | {"agent": "x" * 999}, r"saved with agent = x{200}, this agent has ts; make it the same"),
        (lambda saved: saved | {"agent": None}, "saved agent holds object values; it must hold numbers, truth values"),
        (lambda saved: saved | {"state.means": None}, "saved state.means holds object values"),
        (lambda saved: saved | {"state.means": [[1.0], [1.0, 2.0]]}, "saved state.means cannot be read as an array"),
        (lambda saved: saved | {"state.means": np.zeros(ARMS, np.float32)}, r"saved state.means is float32\[4\], this"),
        (
            lambda saved: saved | {"state.means": np.zeros(ARMS + 1)},
            r"saved state.means is float64\[5\], this agent's is",
        ),
        (
            lambda saved: saved | {"generator": np.zeros(6)},
            r"a saved generator is six words of 64 bits, got float64\[6\]",
        ),
        (lambda saved: saved | {"generator": [-1] * 6}, r"a saved generator is six words of 64 bits, got int64\[6\]"),
    ],
)
def test_messages_name_what_is_wrong(change, message):
    agent = in_the_middle("ts", {}, 20, seed=1)
    with pytest.raises((TypeError, ValueError), match=message):
        agent.load_state_dict(change(agent.state_dict()))
    assert not offer(agent, change(agent.state_dict()))


def test_a_message_tells_place_and_value():
    agent = in_the_middle("sw-ucb", {}, 20, seed=1)
    saved = agent.state_dict()
    saved["state.window.arms"][7] = 57
    with pytest.raises(
        ValueError, match=r"saved state.window.arms\[7\] is 57 and must be an arm from 0 to 3, or -1; load"
    ):
        agent.load_state_dict(saved)


def test_files_with_pickled_objects_or_damage():
    agent = in_the_middle("ts", {}, 20, seed=1)
    for value in (np.array([{}], dtype=object), np.arange(3)):
        file = io.BytesIO()
        np.savez(file, **agent.state_dict() | {"state.means": value})
        assert not offer(agent, np.load(io.BytesIO(file.getvalue())))
    data = bytearray(file.getvalue())
    data[len(data) // 2 :] = bytes(len(data) - len(data) // 2)
    with pytest.raises(Exception):  # noqa: B017, PT011 - NumPy refuses to open it
        np.load(io.BytesIO(bytes(data)))


class Fickle(UserDict[str, Any]):
    """A dictionary whose values are others, or fail, when they are read again."""

    def __getitem__(self, key):
        value = super().__getitem__(key)
        if key == "state.window.clock":
            self[key] = np.full_like(value, -(2**63))
        return value


def test_a_value_is_read_once():
    agent = in_the_middle("sw-ucb", {}, 20, seed=1)
    agent.load_state_dict(Fickle(agent.state_dict()))
    plays_on(agent, 50)


def test_truth_values_of_other_bytes_than_0_and_1():
    agent = in_the_middle("dsw-ts", {}, 60, seed=1)
    saved = agent.state_dict()
    saved["state.recent.ring"] = (saved["state.recent.ring"].view(np.uint8) * 7).view(np.bool_)
    agent.load_state_dict(saved)
    assert set(agent.state.recent.ring.view(np.uint8).ravel().tolist()) <= {0, 1}


class TallyState(NamedTuple):
    """A state of somebody else's."""

    tally: npt.NDArray[np.int64]


class TallyAgent(agents.Agent):
    """An agent whose state nobody declared: shapes and types are checked, ranges are its own business."""

    def __init__(self, n_arms: int) -> None:
        self.n_arms, self.binarize = n_arms, False
        self.reset()

    def _new_state(self) -> TallyState:
        return TallyState(np.zeros(2, np.int64))


agents.rule(TallyState, lambda state, mask, rng: 0, lambda state, arm, reward: None)


def test_states_that_nobody_declared_are_loaded_as_they_are():
    agent = TallyAgent(3)
    saved = agent.state_dict() | {"state.tally": np.array([-7, 2**63 - 1])}
    agent.load_state_dict(saved)
    assert agent.state.tally.tolist() == [-7, 2**63 - 1]
    assert not offer(agent, saved | {"state.tally": np.zeros(3, np.int64)})


JUNK = [
    None,
    "",
    "no",
    "\0",
    "é" * 1000,
    0,
    -1,
    2**63,
    10**400,
    np.nan,
    1e308,
    [],
    [[]],
    {},
    {"a": []},
    b"x",
    True,
    ...,
    1j,
]


DTYPES = [np.float32, np.int32, np.uint64, np.complex128, object, "U8", "S4", bool, ">i8", "M8[s]"]
OTHER_KEYS = ["extra", 7, None, "state.", ("a", 1)]


def one_of(rng: np.random.Generator, choices: list[Any]) -> Any:
    return choices[int(rng.integers(len(choices)))]


def damaged_array(array: npt.NDArray[Any], rng: np.random.Generator) -> npt.NDArray[Any]:
    """An array with another number, of another type, or of another shape."""
    kind = rng.integers(4)
    if kind < 2 and array.size and array.dtype.str[1:] in ("i8", "f8", "b1", "u8"):
        changed = array.copy()
        changed[tuple(int(rng.integers(min(n, 12))) for n in array.shape)] = one_of(rng, WRONG[array.dtype.kind])
        return changed
    if kind == 2:
        return np.zeros(array.shape, one_of(rng, DTYPES))
    shapes = [array[..., None], array[:0], array.ravel()[:-1], array.T, array[::-1], np.roll(array, 1)]
    return one_of(rng, shapes)  # type: ignore[no-any-return]


def damaged(saved: dict[str, Any], rng: np.random.Generator) -> Any:
    """A saved state with one to three things wrong with it."""
    wrong: dict[Any, Any] = copy.deepcopy(saved)
    for _ in range(int(rng.integers(1, 4))):
        key = one_of(rng, list(wrong))
        fate = rng.random()
        if fate < 0.8 and isinstance(wrong[key], np.ndarray) and wrong[key].ndim:
            wrong[key] = damaged_array(wrong[key], rng)
        elif fate < 0.85:
            wrong[one_of(rng, OTHER_KEYS)] = wrong.pop(key)
        elif fate < 0.9:
            wrong[one_of(rng, OTHER_KEYS)] = wrong[key]
        else:
            wrong[key] = one_of(rng, JUNK)
    return wrong if rng.random() < 0.97 else one_of(rng, JUNK)


def test_guests_with_saved_states(guests, watched):
    for number, rng in enumerate(guests):
        name, parameters = EVERY_FORM[number % len(EVERY_FORM)]
        saved = damaged(in_the_middle(name, parameters, int(rng.integers(90)), number).state_dict(), rng)
        agent = in_the_middle(name, parameters, int(rng.integers(20)), number + 1)
        with guest(watched=watched):
            if offer(agent, saved):
                plays_on(agent, 50)
