"""What becomes of a bare id in processes that are spawned, which import nothing that their parent did."""

from __future__ import annotations

import subprocess
import sys

__all__ = ["refusal_of_a_bare_id"]

SCRIPT = """
from functools import partial
import gymnasium as gym
import ns_mab_gym
make = partial(gym.make, "NSBandit-Piecewise-v0", n_arms=3, horizon=5)
make().reset()
{lines}
"""


def refusal_of_a_bare_id(lines: str) -> str:
    """What is printed when these lines, which spawn processes that call ``make``, fail; '' if they do not.

    They run in a program of their own, where what the dying processes leave harms no other test. It has no file, which
    spawned processes would run too.
    """
    done = subprocess.run([sys.executable, "-c", SCRIPT.format(lines=lines)], capture_output=True, text=True)
    return done.stderr if done.returncode else ""
