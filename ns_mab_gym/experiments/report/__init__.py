"""The report: one self-contained HTML page."""

from .page import Page

__all__ = ["Page"]
