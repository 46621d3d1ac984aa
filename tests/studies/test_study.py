"""Descriptions: equal means equal, words and TOML say the same, and every mistake is told with its remedy."""

import pytest

from ns_mab_gym.specs import AgentSpec, WorldSpec, read_agents
from ns_mab_gym.studies.study import Experiment, Study, read_study, units_of

WORLD, AGENT = WorldSpec.of("NSBandit-Abrupt-v0"), AgentSpec.of("ts")


def test_the_order_of_parameters_does_not_matter_and_words_can_be_parsed_back():
    entry = AgentSpec.of("sw-ucb", xi=0.6, window=500, binarize=True)
    assert entry == AgentSpec.of("sw-ucb", binarize=True, window=500, xi=0.6)
    assert AgentSpec.read(entry.text) == entry
    world = WorldSpec.of("NSBandit-Smooth-v0", sigma=1e-3)
    assert WorldSpec.read(world.text) == world


def test_an_id_with_its_module_is_a_name():
    assert WorldSpec.read("ns_mab_gym:NSBandit-Abrupt-v0").name == "ns_mab_gym:NSBandit-Abrupt-v0"
    assert WorldSpec.read("ns_mab_gym:NSBandit-Abrupt-v0:horizon=9").kwargs == {"horizon": 9}


def test_a_colon_can_be_part_of_a_name_and_of_a_value():
    world = WorldSpec.read("my_module:Tide:reward=my_module:Coin,horizon=9")
    assert world.name == "my_module:Tide"
    assert world.kwargs == {"reward": "my_module:Coin", "horizon": 9}
    assert WorldSpec.read(world.text) == world
    assert AgentSpec.read("my_module:Greedy") == AgentSpec.of("my_module:Greedy")
    model = AgentSpec.read("sb3:path=C:/models/ppo.zip,name=deep")
    assert model.kwargs == {"path": "C:/models/ppo.zip", "name": "deep"}


def test_a_file_of_means_is_a_world():
    world = WorldSpec.read("data/means.csv:reward=gaussian")
    assert world.name == "NSBandit-v0"
    assert world.kwargs == {"path": "data/means.csv", "world": "table", "reward": "gaussian"}
    assert world.label == "data/means.csv:reward=gaussian"


@pytest.mark.parametrize("words", ["ts:window=", "ts:=3", "ts:a b=3", "ts:window=3,broken"])
def test_words_that_cannot_be_read_are_shown(words):
    with pytest.raises(ValueError, match=r"cannot read .* write name:parameter=value"):
        AgentSpec.read(words)


def test_two_entries_with_one_label_are_refused():
    with pytest.raises(ValueError, match="2 agents are labelled 'ts'; give each a label of its own"):
        Experiment(worlds=(WORLD,), agents=(AGENT, AGENT))
    with pytest.raises(ValueError, match="2 worlds are labelled 'same'"):
        Experiment(worlds=(WorldSpec.of("a", label="same"), WorldSpec.of("b", label="same")), agents=(AGENT,))


TOML = """
runs = 20
seed = 3
reference = "short memory"
worlds = ["NSBandit-Smooth-v0:sigma=0.001", "means.csv"]

[[agents]]
agent = "beta-swts"
window = 500
label = "short memory"

[[agents]]
agent = "ts"
"""


def test_a_toml_file_describes_an_experiment(tmp_path):
    (tmp_path / "mine.toml").write_text(TOML)
    experiment = read_study(tmp_path / "mine.toml").experiments[0]
    assert (experiment.runs, experiment.seed, experiment.reference) == (20, 3, "short memory")
    assert experiment.agents == (AgentSpec.of("beta-swts", label="short memory", window=500), AgentSpec.of("ts"))
    assert experiment.worlds[0] == WorldSpec.of("NSBandit-Smooth-v0", sigma=0.001)
    assert experiment.worlds[1].file == tmp_path / "means.csv"  # beside the description, wherever we stand
    assert experiment.worlds[1].label == "means.csv"


def test_a_parameter_in_a_description_can_have_parameters(tmp_path):
    tables = (f'[[worlds]]\nenv = "smooth"\nreward = {{name = "gaussian", scale = {scale}}}\n' for scale in (0.2, 0.3))
    (tmp_path / "mine.toml").write_text('agents = ["ts"]\n' + "".join(tables))
    one, other = read_study(tmp_path / "mine.toml").experiments[0].worlds
    assert one.kwargs == {"reward": {"name": "gaussian", "scale": 0.2}}
    assert one == WorldSpec.of("smooth", reward={"scale": 0.2, "name": "gaussian"})
    assert hash(one) == hash(WorldSpec.of("smooth", reward={"scale": 0.2, "name": "gaussian"}))
    assert one != other


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("runs = 20\nworlds = [\n", "is not valid TOML: .*line 2"),
        ("runs = 20\nruns = \n", "is not valid TOML: .*line 2"),
        ("rums = 3", "has no parameter 'rums'; did you mean 'runs'"),
        ("agents = ['ts']", "worlds must be a list of texts or tables, got None"),
        ("worlds = ['a']\nagents = [3]", 'an entry is a text or a table with agent = "…", got 3'),
        ("worlds = ['a']\nagents = ['ts', 'ts']", "mine.toml': 2 agents are labelled 'ts'"),
        ("worlds = ['a']\nagents = ['ts']\nruns = -1", "runs must be a positive integer, got -1"),
        ("worlds = ['a']\nagents = ['ts']\nreference = 'tss'", "unknown reference agent 'tss'; did you mean 'ts'"),
        ("worlds = ['a']\nagents = ['ts']\ntitle = 3", "title must be a text in quotes, got 3"),
        (
            "agents = ['ts']\nworlds = [{env = 'piecewise', changes = {sweep = [1, 2]}}]",
            "changes of world 'piecewise' is swept; only agents",
        ),
        *(
            (f"worlds = ['a']\nagents = [{{agent = 'sw-ucb', {agent}}}]", message)
            for agent, message in [
                ("window = {sweep = [1, 2]}, xi = {sweep = [1, 2]}", "'sw-ucb' sweeps window and xi; sweep one par"),
                ("window = {sweep = [1]}", r"a sweep needs two or more different values, got window = \[1\]"),
                ("window = {sweep = 3}", r"a sweep is written window = \{sweep = \[100, 1000\]\}, got \{'sweep': 3\}"),
                ("window = {sweep = [1, 2], by = 3}", "a sweep is written window"),
                ("label = 3", "label of 'sw-ucb' must be a text in quotes, got 3"),
            ]
        ),
    ],
)
def test_a_broken_description_is_told_with_its_file(tmp_path, content, message):
    (tmp_path / "mine.toml").write_text(content)
    with pytest.raises((TypeError, ValueError), match=message):
        read_study(tmp_path / "mine.toml")


def test_several_values_of_a_parameter_are_several_agents_of_one_family():
    agents = read_agents("beta-swts:window=1000|1e2|316,binarize=true")
    assert [agent.kwargs for agent in agents] == [{"window": n, "binarize": True} for n in (1000, 100, 316)]
    assert agents[0].label == "beta-swts:binarize=true,window=1000"
    assert {(agent.swept, agent.family) for agent in agents} == {("window", "beta-swts:binarize=true")}
    experiment = Experiment(worlds=(WORLD,), agents=(*agents, AGENT))
    [(sweep, members)] = experiment.sweeps.items()
    assert sweep == ("window", "beta-swts:binarize=true")
    assert [member.kwargs["window"] for member in members] == [100, 316, 1000]  # in ascending order
    assert units_of(Study("s", (experiment,)))[0].agent == AgentSpec.of("beta-swts", window=1000, binarize=True)


def test_a_sweep_over_words_has_agents_but_no_axis():
    agents = read_agents("glr-klucb:restart=local|global")
    assert [agent.kwargs["restart"] for agent in agents] == ["local", "global"]
    assert Experiment(worlds=(WORLD,), agents=tuple(agents)).sweeps == {}


def test_a_bar_within_brackets_belongs_to_the_value():
    [agent] = read_agents("restarting:detector=cusum(threshold=5|6)")
    assert agent.kwargs == {"detector": "cusum(threshold=5|6)"}
    assert agent.swept == ""
    lists = read_agents("x:mu=[0.1,0.5]|[0.2,0.6]")
    assert [agent.kwargs["mu"] for agent in lists] == [(0.1, 0.5), (0.2, 0.6)]


@pytest.mark.parametrize("words", ["stationary:mu=0.1,0.5,horizon=1e4", "stationary:horizon=10000,mu=[0.1,0.5]"])
def test_a_list_is_written_with_brackets_or_without(words):
    world = WorldSpec.read(words)
    assert world.kwargs == {"mu": (0.1, 0.5), "horizon": 10_000}
    assert world.text == "stationary:horizon=10000,mu=[0.1,0.5]"
    assert WorldSpec.read(world.text) == world


SWEEPS = """
title = "Which memory?"
runs = 2e1
worlds = [{env = "NSBandit-Abrupt-v0", horizon = 1e4}]
agents = [
  {agent = "beta-swts", window = {sweep = [1e2, 316]}, label = "ours", note = "said"},
  {agent = "sw-ucb", xi = 0.3, label = "SW-UCB, bold", group = "SW-UCB"},
  "ts",
  "gamma-swgts:window=5|9",
]
"""


def test_sweeps_groups_and_a_title_in_a_description(tmp_path):
    (tmp_path / "mine.toml").write_text(SWEEPS)
    study = read_study(tmp_path / "mine.toml")
    (experiment,) = study.experiments
    assert (study.title, experiment.runs) == ("Which memory?", 20)
    assert experiment.worlds[0].kwargs == {"horizon": 10_000}
    labels = [agent.label for agent in experiment.agents]
    windows = ["gamma-swgts:window=5", "gamma-swgts:window=9"]
    assert labels == ["ours, window=100", "ours, window=316", "SW-UCB, bold", "ts", *windows]
    assert [agent.note for agent in experiment.agents[:2]] == ["said", "said"]
    assert list(experiment.sweeps) == [("window", "ours"), ("window", "gamma-swgts")]
    assert {group: len(agents) for group, agents in experiment.groups.items()} == {"SW-UCB": 1}
    assert experiment.agents[2].name_in_group == "bold"
