"""A missing extra is one line that says what to install; commands that need none do without."""

import pytest

BLOCKED = """
import sys
for name in {missing!r}.split():
    sys.modules[name] = None
from ns_mab_gym.cli.entry import main
sys.exit(max(main(words) for words in {commands!r}))
"""
EXPERIMENTS, RL = "pip install 'ns-mab-gym[experiments]'", "pip install 'ns-mab-gym[rl"
WORLD = "piecewise:n_arms=3,horizon=50"
EVALUATE = ["evaluate", "--env", WORLD, "--agents", "ts"]


@pytest.mark.parametrize(
    ("missing", "arguments", "install"),
    [
        ("matplotlib", ["paper"], EXPERIMENTS),
        ("pyarrow", EVALUATE, EXPERIMENTS),
        ("plotly", EVALUATE, EXPERIMENTS),
        ("jinja2", EVALUATE, EXPERIMENTS),
        ("scipy", ["tune", WORLD, "sw-ucb", "--runs", "20"], EXPERIMENTS),
        ("scipy", ["recommend", WORLD, "--runs", "20"], EXPERIMENTS),
        ("matplotlib", ["diagnose", WORLD], EXPERIMENTS),
        ("matplotlib", ["plot", WORLD], EXPERIMENTS),
        ("pyarrow", ["log", "log.parquet"], "pip install 'ns-mab-gym[logs]'"),
        ("uvicorn", ["serve", "x.sqlite", "--arms", "a", "b"], "pip install 'ns-mab-gym[serve]'"),
        ("starlette", ["serve", "x.sqlite", "--arms", "a", "b"], "pip install 'ns-mab-gym[serve]'"),
        ("stable_baselines3", ["train"], RL),
        ("torch", ["train"], RL),
        ("sb3_contrib", ["train", "--algo", "recurrent-ppo"], RL),
        ("matplotlib", ["train"], "pip install 'ns-mab-gym[rl,experiments]'"),
        ("stable_baselines3", ["evaluate", "--env", WORLD, "--agents", "sb3:path=model.zip"], RL),
    ],
)
def test_a_missing_extra_is_answered_by_the_pip_line(missing, arguments, install, python, tmp_path):
    (tmp_path / "model.zip").touch()
    run = python("-c", BLOCKED.format(missing=missing, commands=[arguments]))
    assert run.returncode == 2, run.stderr
    assert run.stdout == ""
    assert run.stderr.startswith(f"ns-mab-gym {arguments[0]}: error: ")
    assert install in run.stderr
    assert run.stderr.count("\n") == 1
    assert "Traceback" not in run.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["model.zip"]


def test_what_there_is_can_be_listed_without_any_extra(python):
    extras = "matplotlib pandas pyarrow plotly jinja2 tqdm torch stable_baselines3 sb3_contrib PIL moviepy scipy"
    commands = [["agents"], ["agents", "beta-swts"], ["worlds"], ["worlds", "smooth"], ["cite"]]
    run = python("-c", BLOCKED.format(missing=extras, commands=commands))
    assert (run.returncode, run.stderr) == (0, "")
    for shown in ("\n  beta-swts ", "\nbeta-swts: ", "\n  smooth ", "\nsmooth: ", "@software"):
        assert shown in run.stdout
