"""The paper's study at a small size, from beginning to end."""

from __future__ import annotations

from pathlib import Path

SIZE = {"runs": 12, "horizon": 2_000, "judged": True}


def play_paper(folder: Path) -> None:
    """Run the study with the whole zoo, and write its report."""
    from ns_mab_gym import simulate
    from ns_mab_gym.paper.study import paper_pipeline

    paper_pipeline(folder, simulate, **SIZE).run()
