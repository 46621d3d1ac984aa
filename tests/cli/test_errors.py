"""One style of errors: one line on the error stream, ``command: error: …``, exit code 2, nothing done, no traceback."""

import os
import signal
import subprocess
import sys
import warnings
from functools import partial

import pytest

from ns_mab_gym.cli import entry, parser

WORLD = "piecewise:n_arms=3,horizon=50"
SMALL = ["--env", WORLD, "--agents", "ts", "--runs", "2"]


def closed(work, *arguments):
    """The exit code of a command called me, which does nothing but the work."""
    return parser.closing(parser.Parser("me", "Does it.", ("",)), arguments, lambda options: work())


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """A working folder of the test's own: a command that should do nothing must leave nothing there."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("paper --runs 0", "argument --runs: must be a positive integer, got '0'"),
        ("paper --horizon none", "argument --horizon: must be a positive integer, got 'none'"),
        ("paper --jobs 0", "argument --jobs: must be a positive integer, or -1 for all cores, got '0'"),
        ("paper --horizon 39", "--horizon must be at least 40, so that each phase has some rounds, got 39"),
        ("evaluate", "name at least one world (--env) and one agent (--agents), or a TOML file"),
        (f"evaluate --env {WORLD} --agents beta-swtz", "unknown agent 'beta-swtz'; did you mean 'beta-swts'?"),
        ("evaluate --env picewise --agents ts", "unknown world 'picewise'; did you mean 'piecewise'?"),
        ("evaluate --env NSBandit-Abrubt-v0 --agents ts", "did you mean 'NSBandit-Abrupt-v0'?"),
        ("evaluate --env nowhere.csv --agents ts", "no file of means at 'nowhere.csv'"),
        ("evaluate nowhere.toml", "cannot read the description 'nowhere.toml': No such file or directory"),
        (f"evaluate --env {WORLD}=3 --agents ts", "horizon must be a positive integer, got '50=3'"),
        (f"evaluate --env {WORLD} --agents ts:window", "cannot import 'ts' of 'ts:window'"),
        (f"evaluate --env {WORLD} --agents beta-swts:window=5|9,binarize=true|false", "sweeps window and binarize"),
        (f"evaluate --env {WORLD} --agents beta-swts:window=5|", "cannot read 'window=5|'"),
        (f"evaluate --env {WORLD} --agents beta-swts:window=5|5", "two or more different values, got window = [5, 5]"),
        (f"evaluate --env {WORLD} --agents ts:window=5,window=6", "window is given twice"),
        (f"evaluate --env {WORLD} --agents sw-ucb:window=5,9", "several values to compare are written window=100|1000"),
        ("evaluate --env piecewise:n_arms=3|4 --agents ts", "several values of n_arms: only agents"),
        (f"evaluate --env {WORLD} --agents beta-swts:windw=5", "has no parameter 'windw'; did you mean 'window'?"),
        (f"evaluate --env {WORLD} --agents beta-swts:window=-3", "window must be a positive integer, got -3"),
        (f"evaluate --env {WORLD},reward=gaussian --agents beta-swts", "gamma-swgts"),
        ("evaluate --env NSBandit-Abrupt-v0:horizon=-1 --agents ts", "horizon must be a positive integer, got -1"),
        (f"evaluate --env {WORLD} --agents ts ts", "2 agents are labelled 'ts'"),
        (f"evaluate --env {WORLD} --agents ts --reference tz", "unknown reference agent 'tz'; did you mean 'ts'?"),
        (f"evaluate --env {WORLD} --agents sb3:path=none.zip", "no saved model at 'none.zip'"),
        (f"evaluate --env {WORLD} --agents ts --agent ts --bars", "unrecognized arguments: --bars"),
        (f"evaluate --env {WORLD} --agents ts --executor clouds", "invalid choice: 'clouds'"),
        (f"evaluate --env {WORLD} --agents ts --executor threads --scheduler x", "--scheduler is for --executor dask"),
        (f"evaluate --env {WORLD} --agents ts --retries -1", "must be an integer of at least 0"),
        ("evaluate mine.toml --agents ts", "give a description or --agents, not both"),
        (f"evaluate mine.toml --env {WORLD}", "give a description or --env, not both"),
        ("diagnose", "the following arguments are required: world"),
        ("diagnose picewise", "unknown world 'picewise'; did you mean 'piecewise'?"),
        ("diagnose CartPole-v1", "'CartPole-v1' does not tell its means"),
        (f"diagnose {WORLD},arms=3", "has no parameter 'arms'; did you mean 'n_arms'?"),
        (f"diagnose {WORLD} --agent beta", "unknown agent 'beta'; did you mean 'beta-swts'?"),
        (f"diagnose {WORLD} --windows 0", "argument --windows: must be a positive integer, got '0'"),
        (f"diagnose {WORLD} --runs 0", "argument --runs: must be a positive integer, got '0'"),
        ("log", "the following arguments are required: log"),
        ("log nowhere.csv", "No such file or directory: 'nowhere.csv'"),
        ("log nowhere.txt", "a log is a .csv or a .parquet file, got 'nowhere.txt'"),
        ("log nowhere.csv --permutations 0", "argument --permutations: must be a positive integer, got '0'"),
        ("log nowhere.csv --fold year", "argument --fold: invalid choice: 'year'"),
        ("log nowhere.csv --trials -3", "must be a positive integer, got '-3'"),
        ("tune", "the following arguments are required: world, agent"),
        ("tune stationary ts", "nothing to tune"),
        ("tune stationary beta-swts --space window", "write window=10:1000"),
        ("tune stationary beta-swts --space window=a,b", "is not a number"),
        ("tune stationary beta-swts --space window=1:2:log:3", "low:high:scale"),
        ("tune stationary beta-swts --seconds 0", "--seconds: must be a number of seconds above 0"),
        ("tune stationry beta-swts", "did you mean 'stationary'"),
        ("recommend nowhere.csv", "no file of means at 'nowhere.csv'"),
        (f"recommend {WORLD} --seconds -1", "--seconds: must be a number of seconds above 0, got '-1'"),
        ("leaderboard --worlds mixt", "no world or family 'mixt'; did you mean 'mixed'?"),
        ("leaderboard --quick --agents ts", "'ts' is on the leaderboard already"),
        ("leaderboard --quick --agents sb3:path=x.zip", "compare it with ns-mab-gym evaluate"),
        ("leaderboard --quick --agents ts:binarize=true,blind=true", "leave out blind; every agent plays both divis"),
        ("leaderboard --quick --agents tss", "unknown agent 'tss'"),
        ("train --algo popo", "unknown algorithm 'popo'; did you mean 'ppo'?"),
        ("train --env picewise", "unknown world 'picewise'; did you mean 'piecewise'?"),
        ("serve", "the following arguments are required: FILE"),
        ("serve x.sqlite", "a new file needs the names of the arms, as in arms=['blue', 'green']"),
        ("serve x.sqlite --arms a b --agent tss", "unknown agent 'tss'"),
        ("serve x.sqlite --arms a b --agent sw-ucb", "window='7d', per_day=5000; or take changepoint-ucb"),
        ("serve x.sqlite --arms a a", "two or more different names"),
        ("serve x.sqlite --arms a b --port 0", "argument --port: must be a port from 1 to 65535, got '0'"),
        ("serve x.sqlite --arms a b --host 0.0.0.0", "give a token of your own (NS_MAB_GYM_TOKEN or --token-file)"),
        ("serve x.sqlite --arms a b --token-file none", "No such file or directory: 'none'"),
        ("plot picewise", "unknown world 'picewise'; did you mean 'piecewise'?"),
        ("plot --seed -1", "argument --seed: must be an integer of at least 0, got '-1'"),
        ("agents beta-swtz", "unknown agent 'beta-swtz'; did you mean 'beta-swts'?"),
        ("agents nowhere:Mine", "cannot import 'nowhere'"),
        ("worlds picewise", "unknown world, id or law 'picewise'; did you mean 'piecewise'?"),
        ("worlds nowhere:Mine", "cannot import 'nowhere'"),
        ("cite me", "unrecognized arguments: me"),
    ],
)
def test_bad_input(arguments, message, one_error, tmp_path):
    command, *words = arguments.split()
    assert entry.main([command, *words]) == 2
    assert message in one_error(f"ns-mab-gym {command}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", entry.COMMANDS)
def test_an_option_that_there_is_not(command, one_error, tmp_path):
    tried = {case[0].split()[0] for mark in test_bad_input.pytestmark for case in mark.args[1]}
    assert command in tried  # the table above leaves no command out
    assert entry.main([command, "--no-such-option"]) == 2
    assert one_error(f"ns-mab-gym {command}").endswith(f"see ns-mab-gym {command} --help")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "content", "message"),
    [
        ("evaluate --agents ts --env bad.csv", "0.1,0.2\n0.3\n", "line 2: 1 columns where the first row has 2"),
        ("evaluate --agents ts --env bad.npz", "no archive", "cannot be read as npz"),
        ("evaluate --agents ts --env bad.parquet", "no table", "cannot be read as Parquet"),
        ("evaluate --agents ts --env bad.csv", "1.5,0.2\n", "bernoulli rewards need means in [0, 1]"),
        ("evaluate bad.toml", "runs = 5\nagents = ['ts\n", "(at line 2,"),
        (f"evaluate --env {WORLD} --agents sb3:path=bad.zip", "no archive", "agent 'sb3:path=bad.zip' on "),
        ("diagnose bad.csv", "timestamp,variant,clicked\n2026-01-01,a,1\n", "ns-mab-gym log 'bad.csv'"),
        ("recommend bad.csv", "time,arm,reward,note\n1,a,1,x\n", "columns 'time', 'arm', 'reward'"),
        ("log bad.csv", "when,arm,reward\n1,a,1\n", "'when', 'arm', 'reward'; name it with time='…', on the command"),
        ("log bad.csv", "time,arm,reward\n1,a,1\n2,b,x\n", "line 3: a reward must be a number, got 'x'"),
        (
            "log bad.csv",
            "time,arm,reward\n1,a,1\n2,a,0\n",
            "the column 'arm' of 'bad.csv' holds only a; a log has 2 to 1,000 arms",
        ),
        ("log bad.csv", "", "'bad.csv' is empty"),
        ("log bad.parquet", "no table", "bad.parquet"),
        ("diagnose bad.csv --trials 9", "a,b\n0.1,0.2\n5,0.3\n", "bernoulli rewards need means in [0, 1]"),
        ("diagnose bad.csv", "0.1,x\n0.3,y\n", "line 1, column 2: 'x' is not a number"),
    ],
)
def test_broken_files(arguments, content, message, one_error, tmp_path):
    command, *words = arguments.split()
    [name] = [word.partition("path=")[2] or word for word in words if "bad." in word]
    (tmp_path / name).write_text(content)
    assert entry.main([command, *words]) == 2
    said = one_error(f"ns-mab-gym {command}")
    assert message in said
    assert name in said
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_folder_with_other_things_is_left_alone(one_error, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    assert entry.main(["evaluate", *SMALL, "--out", "."]) == 2
    assert "holds other things" in one_error("ns-mab-gym evaluate")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


BROKEN = """
import time

class Late:
    def __init__(self, n_arms):
        self.rounds = 0
    def reset(self, seed=None):
        self.rounds = 0
    def act(self, observation=None):
        self.rounds += 1
        if self.rounds > 20:
            raise ValueError("it came to grief")
        return 0
    def observe(self, arm, reward):
        pass

class Slow(Late):
    def act(self, observation=None):
        time.sleep(0.1)
        return 0

class Beyond(Late):
    def act(self, observation=None):
        return 7

class Early(Late):
    def __init__(self, n_arms):
        raise KeyError("mode")
"""


@pytest.mark.filterwarnings("ignore:.*generic Python loop")
def test_an_error_in_a_users_own_agent_says_where(one_error, capsys, tmp_path):
    (tmp_path / "grief.py").write_text(BROKEN)
    line = 1 + BROKEN.splitlines().index('            raise ValueError("it came to grief")')
    beyond = "Beyond chose 7 in round 1; an arm is an integer from 0 to 2, so mend the agent's act (3 attempts)"
    for agent, why, options in (
        ("Late", f"ValueError: it came to grief (grief.py, line {line}) (2 attempts); results", ["--retries", "1"]),
        ("Beyond", beyond, []),
    ):
        assert entry.main(["evaluate", "--env", WORLD, "--agents", f"grief:{agent}", "--runs", "2", *options]) == 1
        said = capsys.readouterr().err
        played = f"grief:{agent} on piecewise:horizon=50,n_arms=3, runs 0 to 1"
        assert f"ns-mab-gym evaluate: error: 1 of the units failed, such as {played}: " in said
        assert why in said
    assert entry.main(["evaluate", "--env", WORLD, "--agents", "grief:Early", "--runs", "2"]) == 2
    said = one_error("ns-mab-gym evaluate")
    for part in ("agent 'grief:Early' on", "KeyError: 'mode'", "grief.py, line"):
        assert part in said


@pytest.mark.filterwarnings("default")
def test_a_warning_is_one_line_and_said_once(capsys):
    def warned():
        for number in (1, 1, 2):
            with warnings.catch_warnings():  # which makes Python forget what it has said
                pass
            warnings.warn(f"look at {number}", stacklevel=1)
        return ["done"]

    assert closed(warned) == 0
    assert capsys.readouterr() == ("done\n", "me: warning: look at 1\nme: warning: look at 2\n")


def test_ctrl_c_is_130_whatever_runs(capsys):
    def interrupted():
        yield "half of it"
        raise KeyboardInterrupt

    assert closed(interrupted) == 130
    assert capsys.readouterr() == ("half of it\n", "\nme: stopped\n")


def test_ctrl_c_ends_a_slow_run_at_once(tmp_path):
    (tmp_path / "grief.py").write_text(BROKEN)  # a unit of 25 runs of 50 rounds would take two minutes
    words = ["evaluate", "--env", WORLD, "--agents", "grief:Slow"]
    command = [sys.executable, "-W", "ignore", "-m", "ns_mab_gym", *words]
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # also if the tests run where Ctrl-C is ignored
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, preexec_fn=heard) as process:
        assert "2 of 2 units to compute" in process.stderr.readline()
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(timeout=30) == 130
        said = process.stderr.read().strip()
    assert said == "ns-mab-gym evaluate: stopped; what is computed is stored: run the same command to go on"


def test_a_reader_who_has_seen_enough_is_no_error(python, tmp_path):
    code = f"import subprocess as s; c = [{sys.executable!r}, '-m', 'ns_mab_gym', 'worlds']"
    script = f"{code}; p = s.Popen(c, stdout=s.PIPE, stderr=s.PIPE); p.stdout.close(); print(p.stderr.read(), p.wait())"
    assert python("-c", script).stdout == "b'' 0\n"
