"""Every figure of the package, on small and extreme input: found by walking the package, drawn from a table.

A new function ``…_figure`` needs examples in the table; all tests of this module then hold for it.
"""

import importlib
import inspect
import itertools
import pkgutil
import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.text import Text
from PIL import Image

from ns_mab_gym import figures
from ns_mab_gym.figures.leaderboard import RankedAgent, RatePanel
from ns_mab_gym.figures.learning import MODEL, REFERENCE, RIVAL, TUNED, FinalRegret
from ns_mab_gym.figures.regret import Member, SurveyedAgent, Swept, WorldCurves
from ns_mab_gym.figures.style import save, save_as, styled
from ns_mab_gym.theory import Recommendation
from ns_mab_gym.worlds import Abrupt, GeneralAbrupt, RandomWalk, Smooth

from .made_results import made_card
from .made_results import made_runs as runs

ODD = r"γ, Ж, ש: $\frac{ 5$ & <b>"  # dollars that are no formula, letters of other alphabets, marks of other languages
LONG = "a name that is much longer than anything that would fit above a panel or beside one, and still goes on"
WALK = np.random.default_rng(5).normal(0, 3, (400, 50)).cumsum(axis=0)  # fifty arms, far outside of [0, 1]
SCATTER = np.array([1.2, 1.3])
TWO_ROUNDS = np.array([[0.2, 0.8], [0.9, 0.8]])
WORLDS = {
    "two arms in two rounds": TWO_ROUNDS,
    "one round": np.array([[0.1, 0.9]]),
    "fifty arms": WALK,
    "constant": np.full((300, 8), 0.5),
    "constant and far away": np.full((300, 2), -1e6),
    "tiny moves far away": 1e3 + 1e-3 * Smooth(horizon=300).means(),
    "abrupt": Abrupt(horizon=1_000).means(),
    "general abrupt": GeneralAbrupt(horizon=1_000).means(),
    "smooth": Smooth(horizon=1_000).means(),
    "random": RandomWalk(horizon=300, n_arms=12).means(1),
}


def compared(means, windows, runs=3):
    """What a measurement would hand over: regret of every window, pulls of every arm, the windows to be marked."""
    regret = np.random.default_rng(0).uniform(1, 2, (len(windows), runs)) * np.sqrt(windows)[:, None]
    pulls = np.tile(np.arange(means.shape[1]), (len(windows), 1)) / 2.0
    played = SimpleNamespace(agent="beta-swts", windows=windows, regret=regret, pulls=pulls, subgaussian=0.5)
    recommended = Recommendation(windows[-1], "the longest")
    return SimpleNamespace(measured=played, best=windows[0], recommended=recommended, loss=0.25)


def drifting(curves, movers=2, **options):
    """Arguments of the figure of a log's drift: curves with bands of width 0.02, hostile names."""
    names = [ODD, LONG, *(f"{ODD} {arm}" for arm in range(2, curves.shape[1]))]
    times = 1.7e9 * options.get("dated", False) + 3_600.0 * np.arange(len(curves))
    moves = np.arange(curves.shape[1]) < movers
    return {"times": times, "curves": curves, "low": curves - 0.01, "high": curves + 0.01, "names": names,
            "moves": moves, **options}  # fmt: skip


def family(size, horizon=1_000):
    """Agents of which the first has no window, and the second is tuned."""
    played = [runs(100 * at, horizon=horizon, window=10**at if at else None) for at in range(size)]
    return [Member(f"α = {at}", each, at == 1) for at, each in enumerate(played)]


def swept(values, parameter="window", label="beta-swts", runs=4, scale=100.0, **marks):
    """A sweep whose regret falls and rises."""
    scatter = np.random.default_rng(0).uniform(0.8, 1.2, runs)
    finals = [scale * scatter * (1 + (at - len(values) / 2) ** 2) for at in range(len(values))]
    return Swept(label, parameter, values, finals, marks)


def scored(means, runs=3, alarms=4, seed=0):
    """The scorecard of runs with alarms at random: about four in each unless said otherwise."""
    (horizon, arms), rng = np.shape(means)[-2:], np.random.default_rng(seed)
    logs = [np.sort(rng.integers(1, horizon + 1, count)) for count in rng.poisson(alarms, runs)]
    return made_card(means, *(zip(log, rng.integers(-1, arms, len(log)), strict=True) for log in logs))


def curves(world, growth, agents):
    """Agents whose regret grows by a factor from each to the next."""
    return WorldCurves(world, {f"{ODD} {at}": runs(growth**at) for at in range(agents)})


def rates(number):
    """A panel whose agents are partly those of others."""
    regrets = {f"{ODD} {at + number}": 2.0**at * np.arange(1, 4) for at in range(20)}
    return RatePanel(f"{ODD} {number}", "step", [0.0005, 0.002, 0.008], regrets, {"random": np.full(3, np.nan)})


# By the name of a function, examples by name: the arguments.
EXAMPLES = {
    "regret_figure": {
        "one agent, one run": ({"ts": runs(5, count=1)}, "one"),
        "two rounds": ({"ts": runs(5, horizon=2), ODD: runs(4, horizon=2)}, ODD),
        "one round": ({"ts": runs(5, horizon=1)}, "one round"),
        "no regret at all": ({name: runs(0) for name in "abcde"}, "nobody regrets"),
        "little regret": ({name: runs(1e-4) for name in "ab"}, "hardly any"),
        "much regret": ({name: runs(1e9) for name in "ab"}, "a lot"),
        "half without any": ({f"{at}": runs(100 * (at // 4)) for at in range(8)}, "zoom?"),
        "zoomed, with notes": (
            {f"agent {at}": runs(10 * 2**at) for at in range(8)},
            LONG,
            [200, 500],
            {"agent 3": LONG * 30, "x": "y"},
        ),
        "fifty agents": ({f"{ODD} {at}": runs(10 + at) for at in range(50)}, "a crowd"),
        "a long name": ({LONG: runs(10), "_ts": runs(20)}, LONG),
    },
    "sensitivity_figure": {
        "one member": ({ODD: family(1)}, "one"),
        "two families": ({f"{ODD} {size}": family(size) for size in (6, 3)}, ODD),
        "five families, two rounds": ({f"{ODD} {number}": family(2, horizon=2) for number in range(5)}, LONG),
    },
    "survey_figure": {
        "one agent": ([SurveyedAgent("ts", np.array([5.0]), None, False)], "one"),
        "no regret": ([SurveyedAgent(ODD, np.zeros(3), np.zeros(3), True)], ODD),
        "fifty agents": (
            [SurveyedAgent(f"{ODD} {at}", SCATTER**at, (SCATTER + 0.3) ** at, at % 4 == 0) for at in range(50)],
            LONG,
        ),
    },
    "sweep_figure": {
        "one value, one run": ([swept([10], runs=1)], "one"),
        "marks": ([swept([10, 100, 1_000], tuned=2_942, recommended=300)], ODD),
        "two families with marks close by": (
            [swept([10, 100], tuned=50, recommended=51), swept([20, 90], label=ODD, tuned=49)],
            LONG,
        ),
        "two parameters, fractions": (
            [swept([0.9, 0.99, 0.999], "gamma", tuned=0.95), swept([0, 1, 2], "xi", label=LONG)],
            "a world",
        ),
        "no regret, and ten families": ([swept([1, 10_000_000], label=f"{at}", scale=0.0) for at in range(10)], ODD),
    },
    "compare_figure": {
        "one agent, one run, one round": ([WorldCurves("one", {"ts": runs(5, count=1, horizon=1)})],),
        "three worlds": ([WorldCurves(f"{ODD} {at}", {"ts": runs(10), ODD: runs(12)}, [300]) for at in range(3)],),
        "zoomed and not": ([curves(LONG, 2.0, 8), WorldCurves("b", {f"{ODD} 1": runs(3), LONG: runs(3)})],),
        "a crowd": ([curves(LONG, 1.2, 35), WorldCurves("b", {"none": runs(0)})],),
        "a crowd without regret": ([WorldCurves("b", {f"{at}": runs(0) for at in range(12)})],),
        "sweeps beside curves": (
            [
                WorldCurves("mixed", {"ts": runs(10)}, [], [swept([10, 100], tuned=50), swept([0.5, 0.6], "xi")]),
                WorldCurves("alone", {}, [], [swept([10, 100])]),
            ],
        ),
    },
    "alarm_figure": {
        "no alarm, no breakpoint": ({"quiet": scored(WORLDS["constant"], alarms=0)}, "still"),
        "one round": ({"a": scored(WORLDS["one round"], runs=1)}, "one round"),
        "two rounds": ({ODD: scored(TWO_ROUNDS), "b": scored(TWO_ROUNDS, alarms=0)}, ODD),
        "ten agents, fifty runs": ({f"{ODD} {at}": scored(WORLDS["abrupt"], 50, at, at) for at in range(10)}, LONG),
        "a world of its own in each run": (
            {LONG: scored([np.roll(WORLDS["abrupt"], 7 * run, axis=0) for run in range(200)], 200)},
            "anew",
        ),
        "alarms in every round": ({"a": scored(WORLDS["abrupt"], 3, 5_000)}, "never quiet"),
    },
    "means_figure": {name: (means, f"{ODD}, {name}") for name, means in WORLDS.items()},
    "gallery_figure": {
        "one world": ({"two rounds": TWO_ROUNDS},),
        "five worlds": (dict(itertools.islice(WORLDS.items(), 4)) | {LONG: WALK},),
        "nine worlds": ({f"{ODD} {at}": WORLDS["constant"] for at in range(9)},),
    },
    "drift_figure": {
        "two times": drifting(np.array([[0.02, 0.5], [0.03, 0.5]]), rates=True),
        "constant rates": drifting(np.full((60, 3), 0.03), rates=True, dated=True),
        "constant and far away": drifting(np.full((60, 2), -1e6)),
        "fifty arms, of which ten move": drifting(WALK, dated=True, movers=10),
        "fifty arms, of which none moves": drifting(WALK, movers=0),
        "one that comes late, gaps": drifting(
            np.column_stack([np.linspace(0, 1, 9), [np.nan] * 8 + [0.5]]), gaps=[(2.0, 5.0)]
        ),
    },
    "diagnosis_figure": {
        **{
            name: {"means": means, "agent": "gamma-swgts", "names": [f"{ODD} {arm}" for arm in range(means.shape[1])]}
            for name, means in itertools.islice(WORLDS.items(), 5)
        },
        "its windows, beta-swts": {"means": WORLDS["abrupt"], "windows": [1, 2, 5, 10, 999]},
    },
    "measured_figure": {
        **{
            name: (WORLDS[name], compared(WORLDS[name], sorted({1, len(WORLDS[name])})))
            for name in ("two arms in two rounds", "one round", "constant")
        },
        "one run": (WORLDS["smooth"], compared(WORLDS["smooth"], [20, 90, 700], runs=1)),
    },
    "learned_regrets_figure": {
        "no regret": ({"here": [FinalRegret("oracle", REFERENCE, 0.0, 0.0, 0.0)]}, "one"),
        "many": (
            {
                world: [
                    *(FinalRegret(f"{ODD} {at}", RIVAL, 5.0 + at, 4.0 + at, 6.0 + at) for at in range(8)),
                    *(FinalRegret(f"{ODD} {at}", TUNED, 4.0 + at, 3.0 + at, 5.0 + at) for at in range(5)),
                    FinalRegret("PPO", MODEL, 7.0, -3.0, 17.0, (6.0, 7.0, 8.0)),
                    FinalRegret(LONG, MODEL, 9.0, np.nan, np.nan, (9.0,)),
                    FinalRegret("oracle-restart", REFERENCE, 2.0, 1.0, 3.0),
                    FinalRegret("random", REFERENCE, 1e6, 1e6, 1e6),
                ]
                for world in ("piecewise", LONG, "mixed")
            },
            "Regret of learnt and of designed agents on random worlds, K = 5, T = 1,000, mean of 200 held-out runs",
        ),
    },
    "learning_figure": {
        "one point": (ODD, [(np.array([100]), np.array([5.0]))], {}),
        "no regret": ("ppo", [(np.array([1, 2]), np.zeros(2))], {"oracle": 0.0}),
        "many rivals": (
            "ppo",
            [(np.arange(1, 400), 1e6 / np.arange(1, 400))],
            {f"{ODD} {at}": 10.0 for at in range(30)},
        ),
        "many seeds": (
            LONG,
            [(np.arange(1, 40), seed + 1e3 / np.arange(1, 40)) for seed in range(9)],
            {"ts": 9.0, "random": 1e4},
        ),
    },
    "heatmap_figure": {
        "one cell": (["ts"], ["here"], np.ones((1, 1)), "one"),
        "one agent": (["ts"], [LONG] * 3, np.ones((1, 3)), "one", "xyz"),
        "blanks": ([ODD, "b"], ["one", LONG], np.array([[1, np.nan], [1e9, 1.0]]), LONG, "xy"),
        "many": (
            [f"{ODD} {at}" for at in range(12)],
            [f"{LONG} {at}" for at in range(9)],
            np.geomspace(1, 2e3, 108).reshape(12, 9),
            "all",
        ),
    },
    "ranks_figure": {
        "one agent": ([RankedAgent(ODD, 1.0, 1.0, 1.0)], [], "one"),
        "thirty agents": (
            [RankedAgent(f"{LONG} {at}", at, at - 3.0, at + 5.0) for at in range(1, 31)],
            [(at, at + 6) for at in range(24)],
            ODD,
        ),
    },
    "rates_figure": {
        "one line": ([RatePanel("one", "changes", [1, 4], {"ts": np.ones(2)}, {})],),
        "nothing": ([RatePanel("none", "changes", [1, 4], {"ts": np.full(2, np.nan)}, {})],),
        "four panels": ([rates(number) for number in range(4)],),
    },
    "learnable_figure": {"as in the paper": (), "one window": ([1],), "longer than a phase": ([400, 999],)},
    "pseudophase_figure": {"as in the paper": (), "a window of one round": (1,), "longer than a phase": (400,)},
}
FIGURES = {
    name: function
    for each in pkgutil.iter_modules(figures.__path__)
    for name, function in inspect.getmembers(importlib.import_module(f"{figures.__name__}.{each.name}"))
    if name.endswith("_figure") and not name.startswith("_")
}


def drawn(name, case):
    """One of the examples, drawn anew."""
    given = EXAMPLES[name][case]
    return FIGURES[name](**given) if isinstance(given, dict) else FIGURES[name](*given)


@pytest.fixture(
    scope="module", params=[(name, case) for name, cases in EXAMPLES.items() for case in cases], ids=": ".join
)
def figure(request):
    """One of the examples, drawn once."""
    return drawn(*request.param)


def test_every_figure_has_examples():
    assert set(FIGURES) == set(EXAMPLES)


def test_it_is_saved_whole(figure, tmp_path):
    png, svg = save(figure, tmp_path, "once")
    with Image.open(png) as image:
        image.load()  # checks the sums of the file too
        assert image.size == pytest.approx(figure.get_size_inches() * figure.dpi, abs=1)
        assert len(image.getcolors(maxcolors=10**7)) > 5
    assert ElementTree.parse(svg).getroot().tag.endswith("svg")


@pytest.mark.parametrize("name", EXAMPLES)
def test_drawn_twice_it_is_the_same(name, tmp_path):
    for file in ("once.svg", "again.svg"):
        save_as(drawn(name, list(EXAMPLES[name])[-1]), tmp_path / file)
    assert (tmp_path / "once.svg").read_bytes() == (tmp_path / "again.svg").read_bytes()


def test_its_axes_say_what_they_show(figure):
    panels = [axes for axes in figure.axes if axes.axison]
    for axes in panels:
        box = axes.get_position()
        row = [each for each in panels if each.get_position().y0 == box.y0]
        column = [each for each in panels if each.get_position().x0 == box.x0]
        assert any(each.get_ylabel() for each in row) or not _has_numbers(axes.yaxis)
        assert any(each.get_xlabel() for each in column) or not _has_numbers(axes.xaxis)


def _has_numbers(axis):
    """Whether the ticks of an axis are numbered, rather than named or bare."""
    texts = [label.get_text() for label in axis.get_ticklabels()]
    return any(texts) and all(not text.strip("−0123456789.,e+") for text in texts)


def test_its_texts_stay_on_the_sheet_and_do_not_overlap(figure, monkeypatch):
    shown, draw_text = [], Text.draw
    monkeypatch.setattr(Text, "draw", lambda text, renderer: [shown.append(text), draw_text(text, renderer)])
    with styled():
        figure.draw_without_rendering()
        seen = [text for text in shown if text.get_visible() and text.get_text().strip()]
        boxes = [(text.get_text(), Text.get_window_extent(text).extents) for text in seen]  # without dashes to lines
    for text, (left, bottom, right, top) in boxes:
        assert (left >= -1, bottom >= -1) == (True, True), text
        assert (right <= figure.bbox.width + 1, top <= figure.bbox.height + 1) == (True, True), text
    for (text, one), (other_text, other) in itertools.combinations(boxes, 2):
        across = min(one[2], other[2]) - max(one[0], other[0])
        upwards = min(one[3], other[3]) - max(one[1], other[1])
        assert across <= 2 or upwards <= 2, f"{text!r} and {other_text!r}"
