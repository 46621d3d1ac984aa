"""torch and Stable-Baselines3 come only when asked for, and a missing extra is named."""

from __future__ import annotations

import subprocess
import sys

import pytest


def python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def test_the_suite_imports_neither_torch_nor_stable_baselines() -> None:
    heavy = python(
        "import sys, gymnasium as gym, ns_mab_gym, ns_mab_gym.wrappers, ns_mab_gym.agents\n"
        "gym.make_vec('NSBandit-Abrupt-v0', num_envs=2).reset()\n"
        "print([name for name in ('torch', 'stable_baselines3', 'sb3_contrib') if name in sys.modules])"
    )
    assert heavy == "[]"


@pytest.mark.parametrize(
    ("missing", "statement"),
    [
        ("stable_baselines3", "import ns_mab_gym.rl"),
        ("sb3_contrib", "import ns_mab_gym.rl as rl; rl.algorithm('recurrent-ppo')"),
    ],
)
def test_a_missing_extra_is_answered_by_the_pip_line(missing: str, statement: str) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None\ntry:\n    {statement}\nexcept ImportError as e:\n    print(e)"
    said = python(code)
    assert said.endswith("pip install 'ns-mab-gym[rl]'")
