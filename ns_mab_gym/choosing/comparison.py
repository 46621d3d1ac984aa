"""Compare agents on worlds: one call, one result that prints, plots and reports itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..agents.core.arguments import choice, positive_int
from ..play.cores import job_count
from ..play.counters import Progress
from ..runs import Runs
from ..workforce import hired
from .comparison_table import Standings, WorldStandings
from .competitors import Competitor, competitors_of
from .contests import Misfit, fitting, play, warn_of_generic
from .leads import Best, Standing, best_of, standings_of
from .venues import Venue, venues_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["Comparison", "compare"]


def compare(
    worlds: Any,
    agents: Any,
    *,
    runs: int = 50,
    seed: int = 0,
    n_jobs: int | None = None,
    rounds: Sequence[int] | None = None,
    blind: bool = False,
    on_misfit: Literal["raise", "skip"] = "raise",
    progress: Progress = True,
    executor: Any = None,
    scheduler: str | None = None,
) -> Comparison:
    """Play every agent on every world.

    All agents of a world play the same runs: run r has the same instance and the same luck for each of them, so that
    differences between agents are much surer than the regrets themselves. Everything is checked before anything is
    played. What has a compiled form is played compiled, the rest in the generic loop, in several processes if need be.

    Args:
        worlds: one or several of: an id, a world, its class or its name, ``"package.module:Class"``, words such as
            ``"piecewise:n_arms=3"``, a (T, K) array of means or the file of one, an environment, or a pair of one of
            these and its arguments, ``("NSBandit-Abrupt-v0", {"horizon": 5000})``. In a dict, the keys are the labels.
        agents: one or several of: a name, ``"package.module:Class"``, words such as ``"beta-swts:window=500"``, a
            class, an agent, a pair of a name or a class and its parameters, what :func:`ns_mab_gym.tune` returned, or a
            :func:`sweep`; or ``"all"``, the whole zoo. In a dict, the keys are the labels.
        runs: how many runs each agent plays on each world.
        seed: the number from which all seeds are derived.
        n_jobs: how many threads, or processes, at once; all cores for None.
        rounds: the rounds after which the regret is kept; about 500, evenly spaced, if not given.
        blind: whether agents given by name or as a class are told T and K alone, instead of all that their papers'
            formulas ask for.
        on_misfit: what to do with an agent that cannot play a world (it is made for another number of arms, or not for
            such rewards): "raise" an error before anything is played, or "skip" that pair.
        progress: whether to show how many runs are done; or a function that is called with that number and the total.
        executor: who plays, if not this process: "processes", or "dask", a cluster (docs/cluster.md); or an executor,
            or a Dask client, of your own. The runs are the same to the last bit.
        scheduler: the address of a Dask cluster that is running, such as ``"tcp://10.0.0.1:8786"``; without one, "dask"
            starts one on this machine.

    >>> found = compare("stationary:horizon=200", ["ts", "random"], runs=5, progress=False)
    >>> found.best().agent, found.agents
    ('ts', ['ts', 'random'])
    """
    runs, seed = positive_int("runs", runs), positive_int("seed", seed, least=0, most=None)
    job_count(n_jobs)
    venues, competitors = venues_of(worlds), competitors_of(agents, blind=blind)
    _check_rounds(rounds, venues)
    pairs, misfits = fitting(venues, competitors, seed, on_misfit)
    warn_of_generic(pairs)
    options: dict[str, Any] = {"runs": runs, "seed": seed, "n_jobs": n_jobs, "rounds": rounds, "progress": progress}
    if executor is None and scheduler is None:
        played = play(pairs, **options)
    else:
        with hired("dask" if executor is None else executor, n_jobs, scheduler) as crew:
            played = play(pairs, crew=crew, **options)
    return Comparison(played, tuple(venues), tuple(competitors), seed, tuple(misfits))


def _check_rounds(rounds: Iterable[int] | None, venues: Iterable[Venue]) -> None:
    last = max((positive_int("each of rounds", round_) for round_ in rounds or ()), default=1)
    for venue in venues:
        if venue.horizon is not None and last > venue.horizon:
            most = f"the horizon of {venue.label}, {venue.horizon:,}"
            raise ValueError(f"rounds must be between 1 and {most}; got {last:,}")


@dataclass(frozen=True, eq=False)
class Comparison:
    """What :func:`compare` found: ``print`` shows it, and a notebook too.

    Attributes:
        runs: the runs of every agent on every world, ``runs[world][agent]``, by their labels.
        venues: the worlds.
        competitors: the agents.
        seed: the number from which all seeds were derived.
        misfits: the pairs that could not be played.
    """

    runs: dict[str, dict[str, Runs]]
    venues: tuple[Venue, ...]
    competitors: tuple[Competitor, ...]
    seed: int
    misfits: tuple[Misfit, ...] = ()

    @property
    def worlds(self) -> list[str]:
        """The labels of the worlds."""
        return [venue.label for venue in self.venues]

    @property
    def agents(self) -> list[str]:
        """The labels of the agents."""
        return [competitor.label for competitor in self.competitors]

    def best(self, world: str | None = None) -> Best:
        """The agent of least mean final regret on a world, the next one, and how sure its lead is.

        Args:
            world: the world's label; needed if there are several.
        """
        label = self._one(world)
        return best_of(label, self.standings(label), len(next(iter(self.runs[label].values()))))

    def standings(self, world: str | None = None) -> list[Standing]:
        """How every agent ended on a world, the least mean regret first."""
        label = self._one(world)
        if label not in self._found:
            self._found[label] = standings_of({agent: runs.final for agent, runs in self.runs[label].items()})
        return list(self._found[label])

    @cached_property
    def _found(self) -> dict[str, list[Standing]]:
        """The standings that were asked for before."""
        return {}

    def table(self, world: str | None = None) -> Standings:
        """Final regrets, places and differences to the best, of one world or of all."""
        return Standings([self._table(label) for label in ([self._known(world)] if world else self.worlds)])

    def _table(self, world: str) -> WorldStandings:
        some = next(iter(self.runs[world].values()))
        misfits = [misfit.agent for misfit in self.misfits if misfit.world == world]
        return WorldStandings(world, some.horizon, len(some), self.standings(world), misfits)

    def frame(self) -> pd.DataFrame:
        """A pandas table of the final regrets: a row for each world and agent."""
        from .frames import standings_frame

        return standings_frame(self)

    def curves(self) -> pd.DataFrame:
        """A tidy pandas table: a row for each world, agent, run and recorded round; a column for what was swept."""
        from .frames import curves_frame

        return curves_frame(self)

    def plot(self, path: str | Path | None = None) -> Figure:
        """The regret over the rounds, or over the swept parameter, of every world.

        Args:
            path: a file to save the figure in, ``.png`` or ``.svg``.
        """
        from .pictures_of_comparisons import picture

        return picture(self, path)

    def report(self, path: str | Path) -> Path:
        """Write the page that ``ns-mab-gym evaluate`` writes, which opens in any browser, and return its path.

        Args:
            path: a file that ends in ``.html``; or a new or empty folder, or that of an earlier report, which then
                also holds the figures and tables.
        """
        from .reports import write_report

        return write_report(self, Path(path))

    def _one(self, world: str | None) -> str:
        if world is None and len(self.venues) > 1:
            raise ValueError(f"say which world: one of {', '.join(map(repr, self.worlds))}")
        return self.venues[0].label if world is None else self._known(world)

    def _known(self, world: str) -> str:
        return choice("world", world, self.worlds)

    def __str__(self) -> str:
        return str(self.table())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()
