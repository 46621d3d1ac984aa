"""Experiments as data, the runner, the result store, statistics, figures, claims and the report.

Needs the extra: ``pip install 'ns-mab-gym[experiments]'``.
"""

try:
    import jinja2 as _jinja2  # noqa: F401
    import matplotlib as _matplotlib  # noqa: F401
    import plotly as _plotly  # noqa: F401
    import pyarrow as _pyarrow  # noqa: F401
    import tqdm as _tqdm  # noqa: F401
except ImportError as error:
    raise ImportError(f"experiments need {error.name}: pip install 'ns-mab-gym[experiments]'") from None

from .descriptions import read_toml
from .identity import code_versions
from .parsing import parse
from .results import Results, collect
from .runner import Failure, Outcome, load, run
from .store import Store, StoreError
from .study import AgentEntry, Experiment, Study, WorldEntry

__all__ = [
    "AgentEntry",
    "Experiment",
    "Failure",
    "Outcome",
    "Results",
    "Store",
    "StoreError",
    "Study",
    "WorldEntry",
    "code_versions",
    "collect",
    "load",
    "parse",
    "read_toml",
    "run",
]
