"""What is known of a unit's result beside its curves, as plain values: written into a file's footer, and read."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt

from ..agents.parts.alarms import ALARM
from ..runs import Runs
from .units import Unit
from .valid_runs import seeds_of

__all__ = ["details_of", "runs_from"]

PIECES = {"asked", "code", "seconds", "parameters", "pulls", "suboptimal_pulls", "alarms"}


def details_of(unit: Unit, code: str, block: Runs) -> dict[str, Any]:
    """What was asked, the version of the code that answered, and the answer without its curves."""
    return {
        "asked": unit.description(),
        "code": code,
        "seconds": block.seconds,
        "parameters": block.parameters,
        "pulls": block.pulls.tolist(),
        "suboptimal_pulls": block.suboptimal_pulls.tolist(),
        "alarms": None if block.alarms is None else [alarms.tolist() for alarms in block.alarms],
    }


def runs_from(
    unit: Unit, code: str, about: Any, rounds: npt.NDArray[np.int64], regret: npt.NDArray[np.float64]
) -> Runs:
    """The runs that the details and the table hold; raises a ValueError if a piece is not of its type."""
    if about.keys() != PIECES or (about["asked"], about["code"]) != (_as_json(unit.description()), code):
        raise ValueError("its details are of another unit")
    if type(about["seconds"]) not in (int, float):
        raise ValueError("its seconds are no number")
    if not isinstance(about["parameters"], list):
        raise ValueError("its parameters are not a list")
    pulls, suboptimal = _integers(about["pulls"]), _integers(about["suboptimal_pulls"])
    alarms = None if about["alarms"] is None else [_alarms(rows) for rows in _lists(about["alarms"])]
    seconds = float(about["seconds"])
    return Runs(rounds, regret, pulls, suboptimal, seeds_of(unit), about["parameters"], seconds, alarms=alarms)


def _as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _lists(value: Any) -> list[list[Any]]:
    if not isinstance(value, list) or not all(isinstance(each, list) for each in value):
        raise ValueError("it holds something else where lists are expected")
    return value


def _integers(value: Any) -> npt.NDArray[np.int64]:
    """A list of lists of integers as a matrix; checked before, since arrays of anything else may be large."""
    if not all(type(each) is int for row in _lists(value) for each in row):
        raise ValueError("it holds something else where integers are expected")
    return np.array(value, np.int64)


def _alarms(rows: list[Any]) -> npt.NDArray[np.void]:
    if not all(list(map(type, row)) == [int, int, bool] for row in _lists(rows)):
        raise ValueError("its alarms are of another kind")
    return np.array([tuple(row) for row in rows], ALARM)
