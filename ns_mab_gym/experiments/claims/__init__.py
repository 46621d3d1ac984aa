"""The paper's sentences as a table: quote, deciding test, measured figures, verdict."""

from .remarks import observations
from .rules import Claim, Evidence, Finding, Judged, Test, Verdict, judge
from .sentences import CLAIMS

__all__ = ["CLAIMS", "Claim", "Evidence", "Finding", "Judged", "Test", "Verdict", "judge", "observations"]
