"""The difficulty of a world: the paper's sets, gaps and bounds as functions of a (T, K) matrix of means.

Definitions, theorems and assumptions are counted in the order in which the paper states them: Definitions 1
(unlearnable set), 2 (gap), 3 (breakpoint), 4 (phase), 5 (pseudophase), 6 (general breakpoints); Theorems 1, 2
(general), 3, 4 (abrupt), 5, 6 (smooth), the odd ones for Beta-SWTS, the even ones for γ-SWGTS; Assumptions 1
(Bernoulli), 2 (subgaussian), 3 (Lipschitz), 4 (smoothness).
"""

from ..means import (
    Leaders,
    as_means,
    best_arm_switches,
    best_arms,
    breakpoints,
    knowledge,
    leaders,
    lipschitz,
    variation,
)
from .description import Description, WindowFacts, describe
from .orders import REGRET_ORDERS, ComparedOrder, ComparedOrders, OrderFacts, RegretOrder, compare_orders, order_facts
from .sets import (
    TieGrowth,
    gap,
    gaps,
    general_breakpoints,
    learnable_set,
    margins,
    near_ties,
    phases,
    pseudophase_set,
    pseudophases,
    tie_growth,
    unlearnable_set,
)
from .theorems import AssumptionError, Bound, bound, bounds
from .windows import Recommendation, RegretCurve, recommend_window, regret_curve, window_grid

__all__ = [
    "REGRET_ORDERS",
    "AssumptionError",
    "Bound",
    "ComparedOrder",
    "ComparedOrders",
    "Description",
    "Leaders",
    "OrderFacts",
    "Recommendation",
    "RegretCurve",
    "RegretOrder",
    "TieGrowth",
    "WindowFacts",
    "as_means",
    "best_arm_switches",
    "best_arms",
    "bound",
    "bounds",
    "breakpoints",
    "compare_orders",
    "describe",
    "gap",
    "gaps",
    "general_breakpoints",
    "knowledge",
    "leaders",
    "learnable_set",
    "lipschitz",
    "margins",
    "near_ties",
    "order_facts",
    "phases",
    "pseudophase_set",
    "pseudophases",
    "recommend_window",
    "regret_curve",
    "tie_growth",
    "unlearnable_set",
    "variation",
    "window_grid",
]
