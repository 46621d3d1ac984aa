"""An agent of which some units fail, as long as a certain file exists."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ns_mab_gym.agents import Random

__all__ = ["Faulty"]


@dataclass(eq=False)
class Faulty(Random):
    """Plays random arms; some seeds fail while the file exists that the variable FAULT names."""

    def reset(self, seed: int | None = None) -> None:
        """Begin a run, or fail."""
        if seed is not None and seed % 97 == 3 and Path(os.environ["FAULT"]).exists():
            raise OSError("a disk that is not there")
        super().reset(seed)
