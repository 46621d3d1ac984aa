"""The agent protocol, the zoo and its registry. A new agent is one file and one line of the table below."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .core.knowledge import Knowledge, MissingKnowledgeError
from .core.registry import AGENTS, card, kind, make, names, register

if TYPE_CHECKING:
    from .core.kernel import ALL, detection, forget, rule
    from .core.protocol import Agent, AgentCheckError, AgentProtocol, UnsuitableRewardsError, check_agent

__all__ = [
    "ALL",
    "Agent",
    "AgentCheckError",
    "AgentProtocol",
    "Knowledge",
    "MissingKnowledgeError",
    "UnsuitableRewardsError",
    "card",
    "check_agent",
    "detection",
    "forget",
    "kind",
    "make",
    "names",
    "register",
    "rule",
]

# name: where the class is, in this folder. Modules are loaded on first use: importing numba takes time.
HOUSE: dict[str, str] = {
    "beta-swts": "beta_swts:BetaSWTS",
    "gamma-swgts": "gamma_swgts:GammaSWGTS",
    "ts": "beta_swts:TS",
    "sw-ucb": "sw_ucb:SWUCB",
    "kl-ucb": "kl_ucb:KLUCB",
    "sw-kl-ucb": "kl_ucb:SWKLUCB",
    "rexp3": "exp3:Rexp3",
    "ser4": "ser4:Ser4",
    "ucb1": "sw_ucb:UCB1",
    "exp3": "exp3:Exp3",
    "exp3s": "exp3:Exp3S",
    "d-ucb": "discounted:DUCB",
    "d-ts": "discounted:DTS",
    "ds-ts": "discounted:DSTS",
    "faded-index": "discounted:FadedIndex",
    "aff-ucb": "adaptive_forgetting:AFFUCB",
    "aff-ts": "adaptive_forgetting:AFFTS",
    "r-less-ucb": "r_less_ucb:RLessUCB",
    "raw-ucb": "rotting:RAWUCB",
    "fewa": "rotting:FEWA",
    "cusum-ucb": "detecting:CUSUMUCB",
    "glr-klucb": "detecting:GLRKLUCB",
    "m-ucb": "detecting:MUCB",
    "pht-ucb": "detecting:PHTUCB",
    "br-mab": "br_mab:BRMAB",
    "oracle-restart": "references:OracleRestart",
    "kalman-ucb": "kalman:KalmanUCB",
    "kalman-ts": "kalman:KalmanTS",
    "predictive-sampling": "kalman:PredictiveSampling",
    "changepoint-ucb": "changepoint_ucb:ChangepointUCB",
    "switching-ts": "switching_ts:SwitchingTS",
    "active-ptw": "active_ptw:ActivePTW",
    "dsw-ts": "dsw_ts:DSWTS",
    "sw-lb-sda": "sw_lb_sda:SWLBSDA",
    "glr-ts": "detecting:GLRTS",
    "adr-ts": "detecting:ADRTS",
    "restarting": "detecting:Restarting",
    "floor": "floor:Floor",
    "master": "master:Master",
    "bandit-over-windows": "bandit_over_windows:BanditOverWindows",
    "epsilon-greedy": "textbook:EpsilonGreedy",
    "softmax": "textbook:Softmax",
    "gradient-bandit": "textbook:GradientBandit",
    "explore-then-commit": "textbook:ExploreThenCommit",
    "exp3-ix": "exp3:Exp3IX",
    "tsallis-inf": "tsallis_inf:TsallisINF",
    "random": "references:Random",
    "oracle": "references:Oracle",
}

for _name, _path in HOUSE.items():
    AGENTS.add(_name, f"{__name__}.{_path}")

_CLASSES = {path.partition(":")[2]: path.partition(":")[0] for path in HOUSE.values()}
_LAZY = _CLASSES | {
    **dict.fromkeys(("ALL", "detection", "forget", "rule"), "core.kernel"),
    **dict.fromkeys(
        ("Agent", "AgentCheckError", "AgentProtocol", "UnsuitableRewardsError", "check_agent"), "core.protocol"
    ),
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_LAZY[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_CLASSES})
