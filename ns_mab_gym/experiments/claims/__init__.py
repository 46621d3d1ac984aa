"""The paper's sentences as a table: quote, deciding test, measured figures, verdict under every reading."""

from .evidence import Evidence
from .judging import Claim, Judged, Judgement, judge
from .remarks import observations
from .rules import RULE, Finding, Test, Verdict
from .sentences import CLAIMS
from .untested import UNTESTED, Untested

__all__ = [
    "CLAIMS",
    "RULE",
    "UNTESTED",
    "Claim",
    "Evidence",
    "Finding",
    "Judged",
    "Judgement",
    "Test",
    "Untested",
    "Verdict",
    "judge",
    "observations",
]
