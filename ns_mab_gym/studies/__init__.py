"""Studies: worlds × agents × seeds as data, their units of work, the result store, the runner, tables and pictures."""

from ..code_version import CodeVersions
from ..specs import AgentSpec, WorldSpec
from .results import Results, collect
from .runner import Failure, Outcome, load, run
from .store import MemoryStore, Store
from .study import Experiment, StoreError, Study, read_study

__all__ = [
    "AgentSpec",
    "CodeVersions",
    "Experiment",
    "Failure",
    "MemoryStore",
    "Outcome",
    "Results",
    "Store",
    "StoreError",
    "Study",
    "WorldSpec",
    "collect",
    "load",
    "read_study",
    "run",
]
