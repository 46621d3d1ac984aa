"""Every picture of the project, in one style. Needs the extra: ``pip install 'ns-mab-gym[experiments]'``."""

try:
    import matplotlib as _matplotlib  # noqa: F401
except ImportError:
    raise ImportError("drawing needs matplotlib: pip install 'ns-mab-gym[experiments]'") from None
