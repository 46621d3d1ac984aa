"""Which agents can play which worlds, and playing them: every agent of a world on the same runs."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, NamedTuple

from ..agents.core.arguments import choice
from ..play.counters import LineCounter, Progress, counting
from ..play.engine import simulate
from ..play.episode import check_match
from ..play.match import Match
from ..play.resolving import as_agent
from ..runs import Runs
from ..workforce import Crew
from .competitors import Competitor
from .shared_contests import Player, play_shared
from .venues import Venue

__all__ = ["Misfit", "Pair", "fitting", "play", "warn_of_generic"]

MOST = 12  # misfits that a message names
GENERIC = "playing through the generic Python loop"


class Pair(NamedTuple):
    """An agent on a world, and why it must be played in the generic loop, if it must."""

    venue: Venue
    competitor: Competitor
    why_generic: str = ""


class Misfit(NamedTuple):
    """An agent that cannot play a world, and the reason."""

    world: str
    agent: str
    reason: str

    def __str__(self) -> str:
        return f"{self.agent} on {self.world}: {self.reason}"


def fitting(
    venues: Sequence[Venue], competitors: Sequence[Competitor], seed: int, on_misfit: str
) -> tuple[list[Pair], list[Misfit]]:
    """The pairs that can be played, and those that cannot; the latter raise one error unless they are to be skipped."""
    choice("way to treat misfits (on_misfit)", on_misfit, ("raise", "skip"))
    pairs, misfits = [], []
    for venue in venues:
        for competitor in competitors:
            try:
                pairs.append(Pair(venue, competitor, _why_generic(venue, competitor, seed)))
            except Exception as error:  # whatever an agent's constructor raises
                plain = isinstance(error, TypeError | ValueError | OSError)
                reason = str(error) if plain else f"{type(error).__name__}: {error}"
                misfits.append(Misfit(venue.label, competitor.label, reason))
    played = {pair.venue.label for pair in pairs}
    if misfits and (on_misfit == "raise" or len(played) < len(venues)):
        raise ValueError(_message(misfits, len(venues) * len(competitors), len(played) < len(venues)))
    return pairs, misfits


def _why_generic(venue: Venue, competitor: Competitor, seed: int) -> str:
    """Make the agent, check that it can play the world, and return why not compiled, if so."""
    player, parameters = as_agent(competitor.agent, competitor.parameters)
    env = player.wrap(venue.env) if hasattr(player, "wrap") else venue.env
    match = Match(env, player, parameters)
    if match.to_be_made and match.fixed is None:
        check_match(env, match.agent_for(venue.knowledge(seed)))
    return "" if getattr(player, "only_generic", False) else match.why_generic() or ""


def _message(misfits: Sequence[Misfit], total: int, empty: bool) -> str:
    lines = "".join(f"\n  {misfit}" for misfit in misfits[:MOST])
    more = f"\n  and {len(misfits) - MOST} more" if len(misfits) > MOST else ""
    remedy = "leave out the worlds that nobody can play" if empty else "leave them out, or pass on_misfit='skip'"
    return f"{len(misfits)} of {total} pairs of a world and an agent cannot be played; {remedy}:{lines}{more}"


def play(
    pairs: Sequence[Pair],
    *,
    runs: int,
    seed: int,
    n_jobs: int | None,
    rounds: Sequence[int] | None,
    progress: Progress,
    crew: Crew | None = None,
) -> dict[str, dict[str, Runs]]:
    """The runs of every pair, by the labels of world and agent; those of a crew, if there is one."""
    with _counting(progress, len(pairs) * runs) as tick, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=f".*{GENERIC}")
        if crew is None:
            found = [_played(pair, tick, runs=runs, seed=seed, n_jobs=n_jobs, rounds=rounds) for pair in pairs]
        else:
            players = [_player(pair) for pair in pairs]
            found = play_shared(crew, players, runs=runs, seed=seed, rounds=rounds, tick=tick)
    played: dict[str, dict[str, Runs]] = {}
    for pair, each in zip(pairs, found, strict=True):
        played.setdefault(pair.venue.label, {})[pair.competitor.label] = each
    return played


def _played(pair: Pair, tick: Callable[[int], None], **options: Any) -> Runs:
    venue, competitor, _ = pair
    with _named(venue, competitor):
        return simulate(
            venue.env,
            competitor.agent,
            agent_kwargs=competitor.parameters,
            progress=_each_run(tick, venue.horizon or 0),
            **options,
        )


def _player(pair: Pair) -> Player:
    venue, competitor, _ = pair
    title = f"{competitor.label} on {venue.label}"
    return Player.of(venue.env, competitor.agent, dict(competitor.parameters), title)


def _each_run(tick: Callable[[int], None], steps: int) -> Callable[[int, int], None]:
    return lambda done, total: tick(steps)


def warn_of_generic(pairs: Sequence[Pair]) -> None:
    """One warning to the caller's caller that names the agents which are played slowly."""
    slow = [pair for pair in pairs if pair.why_generic]
    if not slow:
        return
    reasons = dict.fromkeys(
        f"{pair.competitor.label} has no compiled form"
        if pair.why_generic == f"{pair.competitor.agent!r} has no compiled form"
        else pair.why_generic
        for pair in slow
    )
    more = f"; and {len(reasons) - MOST} more" if len(reasons) > MOST else ""
    warnings.warn(f"{'; '.join(list(reasons)[:MOST])}{more}: {GENERIC}, which is slower", stacklevel=3)


@contextmanager
def _named(venue: Venue, competitor: Competitor) -> Iterator[None]:
    """Say in an error who played where."""
    try:
        yield
    except Exception as error:
        error.add_note(f"while {competitor.label} played on {venue.label}")
        raise


@contextmanager
def _counting(progress: Progress, total: int) -> Iterator[Callable[[int], None]]:
    """As :func:`~ns_mab_gym.play.counters.counting`, but with lines where the package that draws bars is missing."""
    if progress is True and find_spec("tqdm") is None:
        counter = LineCounter(sys.stderr, "runs")
        counter.start(0, total)
        yield counter.advance
        return
    with counting(progress, total, "runs") as tick:
        yield tick
