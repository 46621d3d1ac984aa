"""The code of an own agent, played by the installed command: where it is found, and what it cannot do to it."""

import os
import subprocess
import sys

import pytest

from ..studies.conftest import own_agent

# As the installed command does, which has not the current folder but its own on its path.
COMMAND = "import sys; from ns_mab_gym.cli.entry import main; sys.argv[0] = 'ns-mab-gym'; main()"
OWN = (
    own_agent("return ARM", "import os\nfrom helper import ARM", "Still")
    + """
class Leaves(Still):
    def act(self, observation=None):
        os._exit(0)

class Wanders(Still):
    def act(self, observation=None):
        os.chdir("/")
        return ARM
"""
)


@pytest.fixture
def evaluate(tmp_path):
    """A function from agents and further options to the ended command, in a folder with the module of these agents."""
    (tmp_path / "mine.py").write_text(OWN)
    (tmp_path / "helper.py").write_text("ARM = 1\n")

    def evaluated(*words):
        options = ["--env", "abrupt:horizon=20", "--runs", "2", "--jobs", "2", "--out", "out", "--agents", *words]
        command = [sys.executable, "-P", "-c", COMMAND, "evaluate", *options]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, sys.path))}
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)

    return evaluated


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_a_module_of_the_current_folder_is_found_and_a_stray_file_is_not_run(executor, evaluate, tmp_path):
    """Pillow looks for defusedxml when pictures are drawn."""
    (tmp_path / "defusedxml.py").write_text("open('ran.txt', 'w').close()\nfrom xml.etree import ElementTree\n")
    ended = evaluate("mine:Still", "--executor", executor)
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "out" / "report.html").exists()
    assert not (tmp_path / "ran.txt").exists()


def test_an_agent_that_leaves_python_is_a_failure(evaluate, tmp_path):
    ended = evaluate("mine:Leaves", "mine:Still")
    assert ended.returncode == 1
    assert "the code of an agent or a world called os._exit(0)" in (tmp_path / "out" / "failures.txt").read_text()
    assert "mine:Still" in (tmp_path / "out" / "summary.csv").read_text()


def test_an_agent_that_goes_to_another_folder_takes_nothing_along(evaluate, tmp_path):
    ended = evaluate("mine:Wanders")
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "out" / "report.html").exists()
