"""The page of a log: its drift in words, numbers and a picture, in one file that loads nothing from elsewhere."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from ..files import write_atomically
from .drift import LEVEL, Drift

MOST_ROWS = 50  # arms in the table


def write_page(drift: Drift, path: Path, title: str, advice: Sequence[str] = (), command: str = "") -> None:
    """Write the page of a log.

    Args:
        drift: of the log.
        path: the file.
        title: such as the name of the log.
        advice: texts about agents, if somebody asked for them.
        command: the command that made the page.
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise ImportError("a page needs jinja2: pip install 'ns-mab-gym[logs]'") from None
    with TemporaryDirectory() as folder:
        picture = Path(folder) / "drift.svg"
        drift.plot(picture)
        embedded = base64.b64encode(picture.read_bytes()).decode()
    loader = PackageLoader(__package__ or "")
    env = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    page = env.get_template("log.html").render(
        title=title,
        command=command,
        about=[*drift.log.notes, *drift.about()],
        sentences=drift.sentences(),
        todo=drift.advice(),
        caution=drift.caution(),
        rows=drift.rows(),
        arms=arm_rows(drift),
        left_out=max(0, drift.log.n_arms - MOST_ROWS),
        advice=advice,
        picture=embedded,
    )
    write_atomically(path, page.encode())


def arm_rows(drift: Drift) -> list[tuple[str, ...]]:
    """A row for each arm, first those that move: name, decisions, mean, range of the curve, bandwidth, and p."""
    log = drift.log
    rows: list[tuple[str, ...]] = []
    sums, moves = np.bincount(log.arms, log.rewards * log.counts), drift.p_values <= LEVEL
    for arm in np.argsort(~moves, kind="stable")[:MOST_ROWS]:
        decisions, curve, bandwidth = drift.counts[:, arm], drift.curves[:, arm], drift.bandwidths[arm]
        rows.append(
            (
                drift.names[arm],
                f"{decisions.sum():,.0f}",
                drift.in_units(float(sums[arm] / decisions.sum())),
                f"{drift.in_units(float(curve.min()))} to {drift.in_units(float(curve.max()))}",
                "constant" if math.isinf(bandwidth) else drift.lasting(bandwidth),
                f"{drift.effective[:, arm].min():,.0f}",
                f"{drift.p_values[arm]:.3g}",
            )
        )
    return rows
