"""The leaderboard: every agent on many worlds, in two divisions, with ranks, a guide in words, and a page."""
