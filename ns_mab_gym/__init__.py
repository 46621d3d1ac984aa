"""Gymnasium environments and agents for non-stationary multi-armed bandits, with exact regret.

Importing the package registers the ids of :data:`ns_mab_gym.envs.ENV_IDS`.
"""

from __future__ import annotations

import importlib
import time
from typing import TYPE_CHECKING, Any

from . import envs

if TYPE_CHECKING:
    from . import agents, logs, rewards, theory, worlds, wrappers
    from .comparison import Comparison, compare
    from .detections import Scorecard, scorecard
    from .envs.vector import bandit_of
    from .live.live import Live
    from .logs.log import Log
    from .play.loop import Trajectory, run_episode
    from .play.simulate import simulate
    from .runs import Runs
    from .specs import Sweep, geomspace, sweep
    from .tuning.tune import Advice, Tuned, recommend, tune

__version__ = "0.1.0"
IMPORTED_AT = time.time()  # a file that is younger may not be what was imported from it
__all__ = [
    "Advice",
    "Comparison",
    "Live",
    "Log",
    "Runs",
    "Scorecard",
    "Sweep",
    "Trajectory",
    "Tuned",
    "agents",
    "bandit_of",
    "compare",
    "envs",
    "geomspace",
    "logs",
    "recommend",
    "rewards",
    "run_episode",
    "scorecard",
    "simulate",
    "sweep",
    "theory",
    "tune",
    "worlds",
    "wrappers",
]

# Loaded on first use, so that a user of the environments alone does not wait for numba to be imported.
_LAZY = {
    "Advice": ".tuning.tune",
    "Comparison": ".comparison",
    "Live": ".live.live",
    "Log": ".logs.log",
    "Runs": ".runs",
    "Scorecard": ".detections",
    "Sweep": ".specs",
    "Trajectory": ".play.loop",
    "Tuned": ".tuning.tune",
    "bandit_of": ".envs.vector",
    "compare": ".comparison",
    "geomspace": ".specs",
    "recommend": ".tuning.tune",
    "run_episode": ".play.loop",
    "scorecard": ".detections",
    "simulate": ".play.simulate",
    "sweep": ".specs",
    "tune": ".tuning.tune",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        value = getattr(importlib.import_module(_LAZY[name], __name__), name)
    elif name in __all__:
        value = importlib.import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


envs.register()
