"""The leaderboard: every agent on many worlds, in two divisions, with ranks, a guide in words, and a page."""

from .. import report as _report  # noqa: F401  # says which extra is missing
