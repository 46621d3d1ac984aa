"""Print the least versions that pyproject.toml allows, as pip reads them: ``numpy==2.0``, one line per dependency.

Usage: ``python minimums.py PYPROJECT EXTRA…``. What ``.ci/versions`` tries as the lowest is thus what is declared.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

LEAST = re.compile(r"(?P<name>[\w.-]+)(\[[\w,.-]+\])?>=(?P<version>[\d.]+)(,.*)?")


def requirements(project: dict[str, Any], extras: Iterable[str]) -> list[str]:
    """What the package and these extras require. An extra of the package itself among them is left out: name it too."""
    needed = [*project["dependencies"]]
    for extra in extras:
        needed += project["optional-dependencies"][extra]
    return [each for each in needed if not each.startswith(f"{project['name']}[")]


def minimums(project: dict[str, Any], extras: Iterable[str]) -> dict[str, str]:
    """The least version of each dependency; a ValueError if one has none, or two that differ."""
    least: dict[str, str] = {}
    for requirement in requirements(project, extras):
        stated = LEAST.fullmatch(requirement)
        if stated is None:
            raise ValueError(f"{requirement!r} states no least version; write it as name>=version")
        name, version = stated["name"], stated["version"]
        if least.setdefault(name, version) != version:
            raise ValueError(f"{name} has two least versions, {least[name]} and {version}; state one in all extras")
    return least


if __name__ == "__main__":
    declared = tomllib.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for dependency, lowest in minimums(declared["project"], sys.argv[2:]).items():
        print(f"{dependency}=={lowest}")
