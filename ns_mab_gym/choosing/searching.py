"""Searches a space by racing: a coarse grid first, then the neighbourhood of the best; or an optimiser's proposals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from .proposals import Proposals
from .racing import Candidate, Race
from .spaces import Range, Space, fits_a_grid, grid, nearly_equal, neighbours

__all__ = ["refine", "search"]

COARSE = 0.5  # the share of what a search may spend that the first generation gets
KEPT = 3  # candidates around which the grid is refined
HALVINGS = {1: 2, 2: 3}  # number of ranges: how often the steps of the grid are halved
FEWEST_VALUES = 3  # of a range, in a grid that the budget makes thin
FIRST_PROPOSALS, PROPOSALS, GENERATIONS = 24, 10, 4


def search(
    race: Race, agent: Any, space: Space, fixed: Mapping[str, Any], start: Sequence[Candidate], floor: float, seed: int
) -> None:
    """Search a space for the best parameters of an agent; the race's leader is the answer.

    Args:
        race: a race that nobody has entered yet.
        agent: whose parameters are searched.
        space: where they are searched.
        fixed: parameters that are not searched.
        start: candidates that are tried in any case, such as those of formulas.
        floor: what the purse must still hold at the end.
        seed: of the optimiser.
    """
    if not fits_a_grid(space):
        _propose(race, agent, space, fixed, start, floor, seed)
        return
    share = COARSE * (race.purse.left - floor)
    price = race.purse.price(race.stage.seconds(Candidate.of(agent, fixed)))
    points, steps = _affordable_grid(space, share / price if price else math.inf)
    race.enter([*start, *(Candidate.of(agent, {**point, **fixed}) for point in points)])
    race.narrow(race.purse.left - share if steps else floor, keep=KEPT if steps else 1)
    if steps:
        refine(race, {agent: space}, {agent: steps}, floor, HALVINGS.get(len(steps), 3))


def _affordable_grid(space: Space, runs: float) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """The first grid, thinned until so many runs are two for each point; three values of each range stay."""
    points, steps = grid(space)
    count = max((dimension.natural_points() for dimension in space.values() if isinstance(dimension, Range)), default=0)
    while 2 * len(points) > runs and count > FEWEST_VALUES:
        count = max(FEWEST_VALUES, count // 2)
        points, steps = grid(space, count)
    return points, steps


def refine(
    race: Race, spaces: Mapping[Any, Space], steps: Mapping[Any, Mapping[str, float]], floor: float, halvings: int
) -> None:
    """Halve the steps of the grids again and again, around the best candidates only, and race to the end.

    Args:
        race: a race that a coarse grid has gone through.
        spaces: of each agent, what is searched.
        steps: of each agent, the distance between neighbours in its coarse grid.
        floor: what the purse must still hold at the end.
        halvings: how often the steps are halved.
    """
    for done in range(halvings):
        if race.purse.left <= floor:
            return
        shrunk = {agent: {name: step / 2**done for name, step in its.items()} for agent, its in steps.items()}
        race.enter(_around(race, spaces, shrunk))
        last = done == halvings - 1
        share = 1 / (halvings - done)
        race.narrow(race.purse.left - share * (race.purse.left - floor), keep=1 if last else KEPT)


def _around(race: Race, spaces: Mapping[Any, Space], steps: Mapping[Any, Mapping[str, float]]) -> list[Candidate]:
    """The neighbours of the best candidates, without those that nearly equal one that was tried."""
    found: list[Candidate] = []
    for best in race.ranked()[:KEPT]:
        its = {name: step for name, step in steps.get(best.agent, {}).items() if name in best.kwargs}
        for point in neighbours(spaces[best.agent], best.kwargs, its) if its else ():
            tried = [each.kwargs for each in [*race.finals, *found] if each.agent == best.agent]
            if not any(nearly_equal(spaces[best.agent], point, each, its) for each in tried):
                found.append(Candidate.of(best.agent, point))
    return found


def _propose(
    race: Race, agent: Any, space: Space, fixed: Mapping[str, Any], start: Sequence[Candidate], floor: float, seed: int
) -> None:
    proposals = Proposals(space, seed)
    race.enter(start)
    for generation in range(1 + GENERATIONS):
        new = {
            Candidate.of(agent, {**point, **fixed}): trial
            for trial, point in proposals.ask(PROPOSALS if generation else FIRST_PROPOSALS)
        }
        race.enter(list(new))
        last = generation == GENERATIONS
        share = COARSE if generation == 0 else 1 / (1 + GENERATIONS - generation)
        race.narrow(race.purse.left - share * (race.purse.left - floor), keep=1 if last else KEPT)
        for candidate, trial in new.items():
            if candidate in race.finals:  # else there was no budget to try it
                proposals.tell(trial, float(race.finals[candidate][: race.first].mean()))
