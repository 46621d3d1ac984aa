"""Descriptions: equal means equal, words and TOML say the same, and every mistake is told with its remedy."""

import pytest

from ns_mab_gym.experiments import AgentEntry, Experiment, WorldEntry, parse, read_toml

WORLD, AGENT = WorldEntry.of("NSBandit-Abrupt-v0"), AgentEntry.of("ts")


def test_the_order_of_parameters_does_not_matter_and_words_can_be_parsed_back():
    entry = AgentEntry.of("sw-ucb", xi=0.6, window=500, binarize=True)
    assert entry == AgentEntry.of("sw-ucb", binarize=True, window=500, xi=0.6)
    assert parse(AgentEntry, entry.words) == entry
    world = WorldEntry.of("NSBandit-Smooth-v0", sigma=1e-3)
    assert parse(WorldEntry, world.words) == world


def test_an_id_with_its_module_is_a_name():
    assert parse(WorldEntry, "ns_mab_gym:NSBandit-Abrupt-v0").name == "ns_mab_gym:NSBandit-Abrupt-v0"
    assert parse(WorldEntry, "ns_mab_gym:NSBandit-Abrupt-v0:horizon=9").kwargs == {"horizon": 9}


def test_a_colon_can_be_part_of_a_name_and_of_a_value():
    world = parse(WorldEntry, "my_module:Tide:reward=my_module:Coin,horizon=9")
    assert world.name == "my_module:Tide"
    assert world.kwargs == {"reward": "my_module:Coin", "horizon": 9}
    assert parse(WorldEntry, world.words) == world
    assert parse(AgentEntry, "my_module:Greedy") == AgentEntry.of("my_module:Greedy")
    model = parse(AgentEntry, "sb3:path=C:/models/ppo.zip,name=deep")
    assert model.kwargs == {"path": "C:/models/ppo.zip", "name": "deep"}


def test_a_file_of_means_is_a_world():
    world = parse(WorldEntry, "data/means.csv:reward=gaussian")
    assert world.name == "NSBandit-v0"
    assert world.kwargs == {"path": "data/means.csv", "world": "table", "reward": "gaussian"}
    assert world.label == "data/means.csv:reward=gaussian"


@pytest.mark.parametrize("words", ["ts:window=", "ts:=3", "ts:a b=3", "ts:window=3,broken"])
def test_words_that_cannot_be_read_are_shown(words):
    with pytest.raises(ValueError, match=r"cannot read .* write name:parameter=value"):
        parse(AgentEntry, words)


def test_runs_must_be_positive():
    with pytest.raises(ValueError, match="runs must be a positive integer, got 0"):
        Experiment(worlds=(WORLD,), agents=(AGENT,), runs=0)


def test_two_entries_with_one_label_are_refused():
    with pytest.raises(ValueError, match="2 agents are labelled 'ts'; give each a label of its own"):
        Experiment(worlds=(WORLD,), agents=(AGENT, AGENT))
    with pytest.raises(ValueError, match="2 worlds are labelled 'same'"):
        Experiment(worlds=(WorldEntry.of("a", label="same"), WorldEntry.of("b", label="same")), agents=(AGENT,))


def test_the_reference_must_be_one_of_the_agents():
    with pytest.raises(ValueError, match="unknown reference agent 'tss'; did you mean 'ts'"):
        Experiment(worlds=(WORLD,), agents=(AGENT,), reference="tss")


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
    experiment = read_toml(tmp_path / "mine.toml")
    assert (experiment.runs, experiment.seed, experiment.reference) == (20, 3, "short memory")
    assert experiment.agents == (AgentEntry.of("beta-swts", label="short memory", window=500), AgentEntry.of("ts"))
    assert experiment.worlds[0] == WorldEntry.of("NSBandit-Smooth-v0", sigma=0.001)
    assert experiment.worlds[1].file == tmp_path / "means.csv"  # beside the description, wherever we stand
    assert experiment.worlds[1].label == "means.csv"


def test_a_parameter_in_a_description_can_have_parameters(tmp_path):
    tables = (f'[[worlds]]\nenv = "smooth"\nreward = {{name = "gaussian", scale = {scale}}}\n' for scale in (0.2, 0.3))
    (tmp_path / "mine.toml").write_text('agents = ["ts"]\n' + "".join(tables))
    one, other = read_toml(tmp_path / "mine.toml").worlds
    assert one.kwargs == {"reward": {"name": "gaussian", "scale": 0.2}}
    assert one == WorldEntry.of("smooth", reward={"scale": 0.2, "name": "gaussian"})
    assert hash(one) == hash(WorldEntry.of("smooth", reward={"scale": 0.2, "name": "gaussian"}))
    assert one != other


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("runs = 20\nworlds = [\n", "is not valid TOML: .*line 2"),
        ("runs = 20\nruns = \n", "is not valid TOML: .*line 2"),
        ("rums = 3", "has no parameter 'rums'; did you mean 'runs'"),
        ("agents = ['ts']", "worlds must be a list of words or tables, got None"),
        ("worlds = ['a']\nagents = [3]", 'an entry is words or a table with agent = "…", got 3'),
        ("worlds = ['a']\nagents = ['ts', 'ts']", "mine.toml': 2 agents are labelled 'ts'"),
        ("worlds = ['a']\nagents = ['ts']\nruns = -1", "runs must be a positive integer, got -1"),
    ],
)
def test_a_broken_description_is_told_with_its_file(tmp_path, content, message):
    (tmp_path / "mine.toml").write_text(content)
    with pytest.raises((TypeError, ValueError), match=message):
        read_toml(tmp_path / "mine.toml")


def test_a_description_that_is_not_there(tmp_path):
    with pytest.raises(ValueError, match=r"cannot read the description .*No such file"):
        read_toml(tmp_path / "none.toml")
