"""Experiments as data, the runner, the result store, statistics, figures, claims and the report.

Needs the extra: ``pip install 'ns-mab-gym[experiments]'``.
"""

try:
    import matplotlib as _matplotlib  # noqa: F401
    import pyarrow as _pyarrow  # noqa: F401
except ImportError as error:
    raise ImportError(f"experiments need {error.name}: pip install 'ns-mab-gym[experiments]'") from None

from .results import Curves, Results, collect
from .runner import Outcome, run
from .spec import AgentEntry, Experiment, Study, WorldEntry
from .store import Store, StoreError
from .units import code_version
from .words import parse, read_toml

__all__ = [
    "AgentEntry",
    "Curves",
    "Experiment",
    "Outcome",
    "Results",
    "Store",
    "StoreError",
    "Study",
    "WorldEntry",
    "code_version",
    "collect",
    "parse",
    "read_toml",
    "run",
]
