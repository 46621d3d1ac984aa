"""Points of a space that an optimiser proposes, where a grid would have too many: Optuna's TPE."""

from __future__ import annotations

from typing import Any

from .spaces import Choices, Space

__all__ = ["Proposals"]


class Proposals:
    """Proposes points, and learns from what they cost.

    Args:
        space: what is searched.
        seed: of the optimiser.
    """

    def __init__(self, space: Space, seed: int) -> None:
        try:
            import optuna
        except ImportError:
            names = ", ".join(space)
            raise ImportError(
                f"searching {names} together needs Optuna: pip install 'ns-mab-gym[tune]'; "
                f"or give space= with one or two of them"
            ) from None
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._space = space
        self._study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed % 2**32))
        self._where: dict[str, Any] = {
            name: optuna.distributions.IntDistribution(0, len(dimension.values) - 1)
            if isinstance(dimension, Choices)
            else optuna.distributions.FloatDistribution(
                dimension.position(dimension.low), dimension.position(dimension.high)
            )
            for name, dimension in space.items()
        }

    def ask(self, number: int) -> list[tuple[Any, dict[str, Any]]]:
        """So many trials, each with its point."""
        trials = [self._study.ask(self._where) for _ in range(number)]
        return [(trial, {name: self._value(name, at) for name, at in trial.params.items()}) for trial in trials]

    def tell(self, trial: Any, cost: float) -> None:
        """What a trial's point cost; less is better."""
        self._study.tell(trial, cost)

    def _value(self, name: str, at: Any) -> Any:
        dimension = self._space[name]
        return dimension.values[at] if isinstance(dimension, Choices) else dimension.value(at)
