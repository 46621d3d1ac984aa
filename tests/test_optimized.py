"""Under ``python -O`` and ``-OO``, without asserts and docstrings, everything works but cards, which say why."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import ns_mab_gym
from ns_mab_gym.agents.core.registry import WITHOUT_DOCSTRINGS

PLAY = """
import ns_mab_gym as nsb
from ns_mab_gym import agents, rewards, worlds
from ns_mab_gym.cli.entry import main
for words in (["agents"], ["agents", "ts"], ["worlds"], ["worlds", "abrupt"], ["worlds", "gaussian"]):
    print("$", *words)
    code = main(words)
    print("=", code)
print("pulls", *nsb.simulate(worlds.Abrupt(horizon=500), "random", runs=1).pulls[0])
print("law", rewards.make("gaussian", scale=2))
try:
    agents.make("ts", 3, binarize="no")
except TypeError as error:
    print("refused", error)
try:
    agent = agents.make("ts", 3)
    agent.load_state_dict(agent.state_dict() | {"generator": [1]})
except ValueError as error:
    print("refused", error)
"""


def sources() -> list[Path]:
    """Every file of the package, those behind the link to the agents too."""
    root = Path(ns_mab_gym.__file__).parent
    return [*root.rglob("*.py"), *(root / "agents").resolve().rglob("*.py")]


def said(*options: str) -> list[str]:
    done = subprocess.run([sys.executable, *options, "-c", PLAY], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout.splitlines()


def test_cards_say_what_they_need_and_the_rest_works():
    without, plain = said("-OO"), said()
    assert [line for line in without if line.startswith(("pulls", "law", "refused", "$", "="))] == [
        line for line in plain if line.startswith(("pulls", "law", "refused", "$", "="))
    ]
    assert sum(WITHOUT_DOCSTRINGS.split(":")[0] in line for line in without) == 5  # once for each list and card
    assert not any("docstrings" in line for line in plain)
    assert f"ts: {WITHOUT_DOCSTRINGS}" in " ".join(" ".join(without).split())
    assert "  beta-swts" in without  # in the list of agents, with nothing behind it


def test_no_assert_decides_anything():
    """They tell type checkers what is known already; what can be otherwise is checked by an error."""
    for file in sources():
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Assert):
                assert tells_a_type(node.test), f"{file}:{node.lineno}"


def tells_a_type(test: ast.expr) -> bool:
    if isinstance(test, ast.Call):
        return isinstance(test.func, ast.Name) and test.func.id == "isinstance"
    return isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot)


def test_nothing_but_cards_reads_docstrings():
    assert {file.name for file in sources() if "__doc__" in file.read_text()} == {"registry.py"}
