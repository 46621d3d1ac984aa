"""What the tables of ``docs/deep-rl.md`` say was tried is named in tests, and the versions are those of the extras."""

from __future__ import annotations

import re
import tomllib

import pytest
from pages_read import ROOT, first_cells

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
PACKAGES = {"RLlib": "ray"}  # where the page has another name than the package


@pytest.mark.parametrize(("heading", "folder"), [("What was tried", "rl"), ("Other trainers", "trainers")])
def test_every_name_in_a_row_is_in_a_test(heading: str, folder: str) -> None:
    names = set(re.findall(r"`(\w+)[^`]*`", first_cells("docs/deep-rl.md", heading)))
    tests = "\n".join(file.read_text() for file in (ROOT / "tests" / folder).glob("test_*.py"))
    assert [name for name in sorted(names) if not re.search(rf"\b{name}\b", tests)] == []
    assert len(names) > 10


def test_the_versions_of_trainers_are_the_lowest_that_their_extras_allow() -> None:
    cells = first_cells("docs/deep-rl.md", "Other trainers")
    told = {PACKAGES.get(name, name): version for name, version in re.findall(r"^(\w+) ([\d.]+):", cells, re.MULTILINE)}
    asked = dict(re.findall(r"(\w+)(?:\[[\w,]+\])?>=(\d+\.\d+)", " ".join(EXTRAS["trainers"] + EXTRAS["rllib"])))
    assert told == {name: version for name, version in asked.items() if name != "torch"}
