"""From a study to its report, one self-contained HTML page."""

try:
    import jinja2 as _jinja2  # noqa: F401
    import matplotlib as _matplotlib  # noqa: F401
    import plotly as _plotly  # noqa: F401
    import pyarrow as _pyarrow  # noqa: F401
except ImportError as error:
    raise ImportError(f"reports need {error.name}: pip install 'ns-mab-gym[experiments]'") from None
