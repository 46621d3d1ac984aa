"""``docs/figures.json``: every measured figure that a page quotes, with the machine, date and command that gave it."""

from __future__ import annotations

import json
import os
import platform
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from ns_mab_gym.files import write_atomically

__all__ = ["FILE", "ROOT", "put", "read"]

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docs" / "figures.json"
PACKAGES = ("ns-mab-gym", "numpy", "numba", "gymnasium", "scipy", "stable-baselines3", "torch", "pymab", "river")


def read() -> dict[str, Any]:
    """The sections by name: each has its ``figures``, and says under ``measured`` where they come from."""
    sections: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return sections


def put(section: str, command: str, figures: dict[str, Any]) -> None:
    """Replace the figures of a section.

    Args:
        section: its name.
        command: the command that measures them again.
        figures: plain values.
    """
    sections = read() if FILE.is_file() else {}
    sections[section] = {"measured": _measured(command), "figures": figures}
    text = json.dumps(dict(sorted(sections.items())), indent=1, ensure_ascii=False)
    write_atomically(FILE, f"{text}\n".encode())


def _measured(command: str) -> dict[str, Any]:
    """The command, the date, the machine and the versions of a measurement."""
    return {
        "command": command,
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{_processor()}, {os.cpu_count()} cores, {platform.system()}",
        "versions": {"python": platform.python_version(), **_versions()},
    }


def _versions() -> dict[str, str]:
    """The versions of those packages of the list that are installed."""
    installed = {each.name.lower().replace("_", "-"): each.version for each in metadata.distributions()}
    return {name: installed[name] for name in PACKAGES if name in installed}


def _processor() -> str:
    """The name of the processor on Linux; elsewhere its family."""
    known = Path("/proc/cpuinfo")
    lines = known.read_text().splitlines() if known.is_file() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
