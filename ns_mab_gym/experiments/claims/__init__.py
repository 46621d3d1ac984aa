"""The paper's sentences as a table: quote, deciding test, measured figures, verdict."""

from .observations import observations
from .paper import CLAIMS
from .rules import Claim, Evidence, Finding, Judged, Test, Verdict, judge

__all__ = ["CLAIMS", "Claim", "Evidence", "Finding", "Judged", "Test", "Verdict", "judge", "observations"]
