"""Compare agents on worlds: a study with a store in memory, and one result that prints, plots and reports itself."""

from __future__ import annotations

import io
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .agents.core.arguments import choice, job_count, number, positive_int
from .agents.core.registry import AGENTS, kind
from .envs.bandit import NSBanditEnv
from .files import write_atomically
from .parallel import RETRIES
from .parallel import executor as workers
from .play.loop import check_match
from .play.progress import Progress, ProgressOption, counting
from .play.simulate import Pairing, simulate
from .runs import Runs
from .specs import AgentSpec, Given, WorldSpec, agent_specs, as_agent, said, world_specs
from .statistics import FEWEST, INTERVALS, Interval, may_be_as_good
from .studies import MemoryStore, Results, collect, load, run
from .studies.failures import remains_of
from .studies.runner import Instances, first_known
from .studies.standings import Misfit, Standing, StandingsTable, rounded, standings_of
from .studies.study import Experiment, Study, Unit, pinned

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

MOST = 12  # misfits that a message names
GENERIC = "playing through the generic Python loop"
OWNER = "This folder belongs to a comparison of ns_mab_gym."
EXPLANATION = f"""{OWNER}

report.html      opens in any browser
figures/         the same figures as PNG and SVG
table.parquet    the regret of every world, agent, run and recorded round
summary.csv      final regrets
All of it is written anew by every Comparison.report() into this folder.
"""


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
    progress: ProgressOption = True,
    executor: Any = None,
    scheduler: str | None = None,
) -> Comparison:
    """Play every agent on every world.

    All agents of a world play the same runs: run r has the same instance and the same luck for each of them, so that
    differences between agents are much surer than the regrets themselves. Everything is checked before anything is
    played. What has a compiled form is played compiled, the rest in the generic loop, in several processes if need be.

    Args:
        worlds: one or several of: an id, a world, its class or its name, ``"package.module:Class"``, a text such as
            ``"piecewise:n_arms=3"``, a (T, K) array of means or the file of one, an environment, or a pair of one of
            these and its arguments, ``("NSBandit-Abrupt-v0", {"horizon": 5000})``. In a dict, the keys are the labels.
        agents: one or several of: a name, ``"package.module:Class"``, a text such as ``"beta-swts:window=500"``, a
            class, an agent, a pair of a name or a class and its parameters, what :func:`ns_mab_gym.tune` returned, or a
            :func:`sweep`; or ``"all"``, every agent of the registry. In a dict, the keys are the labels.
        runs: the number of runs that each agent plays on each world.
        seed: the number from which all seeds are derived.
        n_jobs: the number of threads, or processes, at once; all cores for None.
        rounds: the rounds after which the regret is kept; about 500, evenly spaced, if not given.
        blind: whether agents given by name or as a class are told T, K and the law of rewards alone, instead of all
            that their papers' formulas ask for.
        on_misfit: what to do with an agent that cannot play a world (it is made for another number of arms, or not for
            such rewards): "raise" an error before anything is played, or "skip" that pair.
        progress: whether to show how many runs are done; or a function that is called with that number and the total.
        executor: "processes", or "dask", a cluster (docs/cluster.md), instead of threads of this process; or an
            executor, or a Dask client, of your own. The runs are the same to the last bit.
        scheduler: the address of a Dask cluster that is running, such as ``"tcp://10.0.0.1:8786"``; without one, "dask"
            starts one on this machine.

    >>> found = compare("stationary:horizon=200", ["ts", "random"], runs=5, progress=False)
    >>> found.best().agent, found.agents
    ('ts', ['ts', 'random'])
    """
    runs, seed, threads = positive_int("runs", runs), positive_int("seed", seed, least=0, most=None), job_count(n_jobs)
    choice("way to treat misfits (on_misfit)", on_misfit, ("raise", "skip"))
    kept = tuple(positive_int("each of rounds", each) for each in rounds or ())
    named, players = tuple(world_specs(worlds)), tuple(agent_specs(agents, blind=blind))
    remote = executor is not None or scheduler is not None
    if remote:  # names that were registered here are not known to other processes
        named = tuple(replace(each, given=Given(each.env())) for each in named)
        players = tuple(
            replace(each, given=Given(kind(each.name), each.kwargs)) if not each.given and each.name in AGENTS else each
            for each in players
        )
    checked, misfits, generic = _checked(named, players, seed, on_misfit)
    horizons: dict[str, int] = {}  # of worlds that tell it
    for world in checked:
        if isinstance(bandit := world.env().unwrapped, NSBanditEnv):
            horizons[world.bare.label] = horizon = bandit.world.horizon
            if max(kept, default=1) > horizon:
                most = f"the horizon of {world.label}, {horizon:,}"
                raise ValueError(f"rounds must be between 1 and {most}; got {max(kept):,}")
    if generic:
        more = f"; and {len(generic) - MOST} more" if len(generic) > MOST else ""
        warnings.warn(f"{'; '.join(list(generic)[:MOST])}{more}: {GENERIC}, which is slower", stacklevel=2)
    together: dict[tuple[AgentSpec, ...], list[WorldSpec]] = {}
    for world, able in checked.items():
        together.setdefault(tuple(able), []).append(world)
    study = pinned(
        Study(
            "Comparison",
            tuple(
                Experiment(worlds=tuple(several), agents=able, runs=runs, seed=seed, rounds=kept)
                for able, several in together.items()
            ),
        )
    )
    if remote:
        pool = workers("dask" if executor is None else executor, n_jobs, scheduler)
    else:  # the generic loop has processes of its own
        pool = workers("threads", 1 if generic else threads)
    total = runs * sum(map(len, checked.values()))
    with pool, counting(progress, total, "runs") as tick, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=f".*{GENERIC}")

        def saved(unit: Unit) -> None:
            for _ in range(unit.runs):
                tick(horizons.get(unit.world.label, 0))

        store, retries = MemoryStore(saved=saved), RETRIES if remote else 0
        outcome = run(study, store, simulate, Progress(), n_jobs=n_jobs, pool=pool, retries=retries)
    if outcome.failures:
        counts = f"{len(outcome.failures)} of {len(outcome.units)} units failed"
        error = RuntimeError(f"{counts}, such as {remains_of(study, outcome.failures).gaps[0]}")
        error.add_note(outcome.failures[0].traceback)
        raise error
    lazy = collect(study, partial(load, store))
    curves = {world.label: dict(lazy.curves[world.label]) for world in named}
    return Comparison(replace(lazy, curves=curves), named, players, tuple(misfits))


def _checked(
    worlds: Sequence[WorldSpec], agents: Sequence[AgentSpec], seed: int, on_misfit: str
) -> tuple[dict[WorldSpec, list[AgentSpec]], list[Misfit], list[str]]:
    """The agents that can play each world, the pairs that cannot be played, and why some are played slowly."""
    able: dict[WorldSpec, list[AgentSpec]] = {world: [] for world in worlds}
    misfits, generic = [], dict[str, None]()
    for world in worlds:
        env = world.env()
        known = first_known(env, seed)
        for agent in agents:
            try:
                player, parameters = as_agent(*agent.source)
                wrapped = player.wrap(env) if hasattr(player, "wrap") else env
                match = Pairing(wrapped, player, parameters)
                if match.to_be_made and match.fixed is None:
                    check_match(wrapped, match.agent_for(known))
                if not getattr(player, "only_generic", False) and (why := match.why_generic()):
                    own = f"{agent.source[0]!r} has no compiled form"
                    generic[f"{agent.label} has no compiled form" if why == own else why] = None
                able[world].append(agent)
            except Exception as error:  # whatever an agent's constructor raises
                misfits.append(Misfit(world.label, agent.label, said(error)))
    empty = not all(able.values())
    if misfits and (on_misfit == "raise" or empty):
        lines = "".join(f"\n  {misfit}" for misfit in misfits[:MOST])
        more = f"\n  and {len(misfits) - MOST} more" if len(misfits) > MOST else ""
        remedy = "leave out the worlds that no agent can play" if empty else "leave them out, or pass on_misfit='skip'"
        pairs = f"{len(misfits)} of {len(worlds) * len(agents)} pairs of a world and an agent cannot be played"
        raise ValueError(f"{pairs}; {remedy}:{lines}{more}")
    return able, misfits, list(generic)


@dataclass(frozen=True)
class Best:
    """The agent of least mean final regret on a world, and its lead.

    Attributes:
        world: the world's label.
        agent: the agent's label.
        runs: the number of runs that each agent played.
        regret: its mean final regret with a 95 % interval; NaN where there are fewer than 5 runs. The best of several
            agents has been lucky more often than not, so that it will do a little worse on other seeds.
        runner_up: the label of the next; None if there is no other agent.
        lead: by how much the next one's mean is larger, with an interval that holds for all pairs of agents together.
        alike: the agents that are not told apart from the best by that interval.
    """

    world: str
    agent: str
    runs: int
    regret: Interval
    runner_up: str | None
    lead: Interval | None
    alike: tuple[str, ...]

    @property
    def is_clear(self) -> bool | None:
        """True if the best is told apart from every other agent; None with too few runs, or no other agent."""
        return None if self.lead is None or self.runs < FEWEST else not self.alike

    def __str__(self) -> str:
        runs = "1 run" if self.runs == 1 else f"{self.runs:,} runs"
        lines = [f"{self.agent} has the least regret on {self.world}: {_text(self.regret)}, the mean of {runs}."]
        if self.lead is None:
            return f"{lines[0]} No other agent played."
        lines.append(f"Next is {self.runner_up}, with {_text(self.lead)} more.")
        if self.is_clear is None:
            lines.append(f"How sure that is cannot be said: play at least {FEWEST} runs.")
        elif self.is_clear:
            lines.append("The lead is clear: the 95 % interval lies above zero.")
        else:
            lines.append(f"The lead may be luck: {may_be_as_good(self.alike)}; play more runs to know.")
        return " ".join(lines)


def _text(interval: Interval) -> str:
    """The value, and its interval where there is one."""
    digits = 0 if abs(interval.value) >= 100 or interval.value == 0 else 1 if abs(interval.value) >= 10 else 2
    value, low, high = (rounded(part, digits) for part in interval)
    return value if np.isnan(interval.low) else f"{value} ({low} to {high})"


@dataclass(frozen=True, eq=False)
class Comparison:
    """The result of :func:`compare`: ``print`` shows it, and a notebook too.

    Attributes:
        results: the runs, under the labels of worlds and agents.
        world_specs: the worlds.
        agent_specs: the agents.
        misfits: the pairs that could not be played.
    """

    results: Results
    world_specs: tuple[WorldSpec, ...]
    agent_specs: tuple[AgentSpec, ...]
    misfits: tuple[Misfit, ...] = ()

    @property
    def runs(self) -> Mapping[str, Mapping[str, Runs]]:
        """The runs of every agent on every world, ``runs[world][agent]``, by their labels."""
        return self.results.curves

    @property
    def seed(self) -> int:
        """The number from which all seeds were derived."""
        return self.results.study.experiments[0].seed

    @property
    def worlds(self) -> list[str]:
        """The labels of the worlds."""
        return [world.label for world in self.world_specs]

    @property
    def agents(self) -> list[str]:
        """The labels of the agents."""
        return [agent.label for agent in self.agent_specs]

    def best(self, world: str | None = None) -> Best:
        """Return the agent of least mean final regret on a world, the next one, and how sure its lead is.

        Args:
            world: the world's label; needed if there are several.
        """
        label = self._one(world)
        first, *others = self.standings(label)
        alike = tuple(each.agent for each in others if not each.more.low > 0)
        next_, lead = (others[0].agent, others[0].more) if others else (None, None)
        return Best(label, first.agent, self._n_runs, first.regret, next_, lead, alike)

    def standings(self, world: str | None = None) -> list[Standing]:
        """Return the final regret of every agent on a world, the least mean first."""
        return list(self._standings(self._one(world)))

    @cached_property
    def _standings(self) -> Callable[[str], list[Standing]]:
        """The standings on a world, which are computed once."""
        return cache(lambda world: standings_of({agent: runs.final for agent, runs in self.runs[world].items()}))

    @property
    def _n_runs(self) -> int:
        return self.results.study.experiments[0].runs

    def table(self, world: str | None = None) -> StandingsTable:
        """Return final regrets, ranks and differences to the best, of one world or of all."""
        labels = self.worlds if world is None else [choice("world", world, self.worlds)]
        horizons = {label: next(iter(self.runs[label].values())).horizon for label in labels}
        return StandingsTable({label: self.standings(label) for label in labels}, horizons, self._n_runs, self.misfits)

    def to_latex(self, world: str | None = None) -> str:
        """Return :meth:`table` as LaTeX."""
        return self.table(world).to_latex()

    def frame(self) -> pd.DataFrame:
        """Return a pandas table of the final regrets: a row for each world and agent."""
        rows: pd.DataFrame = _pandas().DataFrame(
            {
                "world": world,
                "agent": each.agent,
                "runs": len(self.runs[world][each.agent]),
                "place": each.place,
                "regret": each.regret.value,
                "sd": each.sd,
                "se": each.se,
                "low": each.regret.low,
                "high": each.regret.high,
                "more": each.more.value,
                "more_low": each.more.low,
                "more_high": each.more.high,
                **self._swept[each.agent],
            }
            for world in self.worlds
            for each in self.standings(world)
        )
        return rows

    def curves(self) -> pd.DataFrame:
        """Return a tidy pandas table: a row for each world, agent, run and round; a column for what is swept."""
        pandas, parts = _pandas(), []
        for world, played in self.runs.items():
            for agent, runs in played.items():
                count, points = runs.regret.shape
                columns = {
                    "world": pandas.Categorical([world], self.worlds).repeat(count * points),
                    "agent": pandas.Categorical([agent], self.agents).repeat(count * points),
                    "run": np.repeat(np.arange(count), points),
                    "round": np.tile(runs.rounds, count),
                    "regret": runs.regret.ravel(),
                }
                parts.append(pandas.DataFrame(columns | self._swept[agent]))
        return pandas.concat(parts, ignore_index=True)  # type: ignore[no-any-return]

    @property
    def _swept(self) -> dict[str, dict[str, float]]:
        """The value of every swept parameter, by agent; NaN where it is not swept."""
        names = dict.fromkeys(agent.swept for agent in self.agent_specs if agent.swept)
        return {
            agent.label: {name: agent.kwargs[name] if agent.swept == name else np.nan for name in names}
            for agent in self.agent_specs
        }

    def plot(self, path: str | Path | None = None, *, width: float | None = None, log: bool = False) -> Figure:
        """Draw the regret over the rounds, or over the swept parameter, of every world.

        Args:
            path: a file to save the figure in, ``.png``, ``.svg`` or ``.pdf``.
            width: of the figure in inches, such as 5.5 for the page of a paper; as wide as its panels need if None.
            log: whether the regret over the rounds has a logarithmic axis.
        """
        if width is not None and not 3 <= number("width", width) <= 40:
            raise ValueError(f"width must be between 3 and 40 inches, got {width}")
        from .figures.regret import WorldCurves, compare_figure
        from .figures.style import save_as
        from .figures.worlds import phase_starts
        from .studies.tables import swept_on

        shown, means = [], Instances(self.results.study)
        for experiment in self.results.study.experiments:
            for world in experiment.worlds:
                played = self.runs[world.label]
                best = [
                    min((agent.label for agent in agents), key=lambda label: float(played[label].final.mean()))
                    for agents in experiment.sweeps.values()
                ]
                single = [agent.label for agent in experiment.agents if not agent.swept]
                curves = {label: played[label] for label in (*single, *best)} if single else {}
                changes = [] if world.random else phase_starts(means[world.label])
                kin = {each.label: f"{each.family} by {each.swept}" for each in experiment.agents if each.swept}
                swept = swept_on(self.results, experiment, world)
                shown.append((world.label, WorldCurves(world.label, curves, changes, swept, kin)))
        ordered = [curves for _, curves in sorted(shown, key=lambda each: self.worlds.index(each[0]))]
        figure = compare_figure(ordered, width, log)

        def png() -> bytes:
            content = io.BytesIO()
            figure.savefig(content, format="png")
            return content.getvalue()

        vars(figure)["_repr_png_"] = png  # shows it in a notebook, also where pyplot was never imported
        if path is not None:
            save_as(figure, Path(path))
        return figure

    def report(self, path: str | Path) -> Path:
        """Write the page that ``ns-mab-gym evaluate`` writes, which opens in any browser, and return its path.

        Args:
            path: a file that ends in ``.html``; or a new or empty folder, or that of an earlier report, which then
                also holds the figures and tables.
        """
        from .studies.store import FolderLock, guarded, mark, own_folder

        file = Path(path)
        if file.suffix.lower() in (".html", ".htm"):
            with tempfile.TemporaryDirectory() as scratch:
                page = self._page(Path(scratch))
            file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(file, page.encode())
            return file
        from .studies.tables import write_tables

        with guarded(file, "use the folder"):
            own_folder(file, OWNER, "choose a new or empty folder, or a file.html")
            with FolderLock(file):
                mark(file, EXPLANATION)
                for old in (file / "figures").glob("*.[ps][nv]g"):  # of an earlier comparison
                    old.unlink()
                page = self._page(file / "figures")
                write_tables(self.results, file, Instances(self.results.study))
                write_atomically(file / "report.html", page.encode())
        return file / "report.html"

    def _page(self, figures: Path) -> str:
        """The page, while its figures are drawn into a folder."""
        from .report.page import Page
        from .report.record import provenance
        from .studies import pictures

        means, made = Instances(self.results.study), datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        played = [runs for several in self.runs.values() for runs in several.values()]
        settings = [
            ("date", made),
            ("horizon T", ", ".join(f"{horizon:,}" for horizon in dict.fromkeys(runs.horizon for runs in played))),
            ("seed", str(self.seed)),
            ("engine time", f"{sum(runs.seconds for runs in played):.1f} s, over all threads"),
            ("agent steps", f"{sum(runs.steps for runs in played):,}"),
            *provenance(),
            ("intervals", INTERVALS),
        ]
        return Page(
            results=self.results,
            means=means,
            settings=settings,
            notes=[*map(str, self.misfits)],
            drawn=pictures.draw(self.results, means, figures),
            made=made,
        ).html()

    def _one(self, world: str | None) -> str:
        if world is None and len(self.world_specs) > 1:
            raise ValueError(f"say which world: one of {', '.join(map(repr, self.worlds))}")
        return self.worlds[0] if world is None else choice("world", world, self.worlds)

    def __str__(self) -> str:
        return str(self.table())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError("tables of data need pandas: pip install 'ns-mab-gym[experiments]'") from None
    return pandas
