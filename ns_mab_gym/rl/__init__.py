"""Connects to Stable-Baselines3: the native vector environment as its ``VecEnv``, and its models as agents."""

try:
    import stable_baselines3  # noqa: F401
except ImportError:
    raise ImportError("ns_mab_gym.rl needs Stable-Baselines3: pip install 'ns-mab-gym[rl]'") from None

from ..play.simulate import simulate
from .agent import SB3Agent
from .algorithm_settings import algorithm, algorithms
from .training import RegretCallback
from .vec_env import SB3VecEnv

__all__ = ["RegretCallback", "SB3Agent", "SB3VecEnv", "algorithm", "algorithms", "simulate"]
