"""The table of the texts that pages quote: for each name, the function that turns all figures into Markdown."""

from __future__ import annotations

from collections.abc import Callable

from quoting import choice_texts, deep_texts, paper_texts, speed_texts, study_cost_texts
from quoting.markdown import Figures, table

__all__ = ["TEXTS"]


def provenance(figures: Figures) -> str:
    """Where and when each section was measured, and the command that does so again."""
    rows = []
    for name, section in figures.items():
        measured = section["measured"]
        versions = ", ".join(f"{package} {version}" for package, version in measured["versions"].items())
        rows.append((name, f"`{measured['command']}`", measured["date"], measured["machine"], versions))
    return table(("figures", "command", "measured", "machine", "versions"), rows)


TEXTS: dict[str, Callable[[Figures], str]] = {
    "verdicts": paper_texts.verdicts,
    "open-verdicts": paper_texts.open_verdicts,
    "regrets": paper_texts.regrets,
    "windows-of-the-paper": paper_texts.windows_of_the_paper,
    "zoo": paper_texts.zoo,
    "speed-of-agents": speed_texts.speed_of_agents,
    "speed-of-the-rest": speed_texts.speed_of_the_rest,
    "growth": speed_texts.growth,
    "long-runs": speed_texts.long_runs,
    "stored": study_cost_texts.stored,
    "tiny-units": study_cost_texts.tiny_units,
    "vector": speed_texts.vector,
    "rl-simulate": speed_texts.rl_simulate,
    "recommended-windows": choice_texts.recommended_windows,
    "learning-table": deep_texts.learning_table,
    "learning-in-short": deep_texts.learning_in_short,
    "training-choices": deep_texts.training_choices,
    "leaderboard": choice_texts.leaderboard,
    "tuned": choice_texts.tuned,
    "advised": choice_texts.advised,
    "workers": study_cost_texts.workers,
    "large-study": study_cost_texts.large_study,
    "provenance": provenance,
}
