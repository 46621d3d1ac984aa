"""A comparison whose runs are shared among workers: processes, a cluster, or an executor of the user's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import gymnasium as gym

from ..agents.core.zoo import kind
from ..play.engine import simulate
from ..play.resolving import MODELS
from ..runs import Runs, joined
from ..sources import digest_of
from ..workforce import Crew, Failed, dispatch
from ..workforce.fitness import Needs, check_fitness, ensure_all_fit, needs_of

__all__ = ["Player", "play_shared"]

BLOCK = 25  # runs that are played at a time, by one worker


class Player(NamedTuple):
    """An agent on a world, as it is sent to a worker.

    Attributes:
        env: the environment.
        agent: the agent or its class; names are known here only.
        parameters: its parameters.
        title: who plays what, for messages.
    """

    env: gym.Env[Any, Any]
    agent: Any
    parameters: dict[str, Any]
    title: str

    @classmethod
    def of(cls, env: gym.Env[Any, Any], agent: Any, parameters: dict[str, Any], title: str) -> Player:
        """The same with the agent's class instead of its name."""
        named = isinstance(agent, str) and agent not in MODELS
        return cls(env, kind(agent) if named else agent, parameters, title)


class Stretch(NamedTuple):
    """Some runs of one of the players."""

    number: int
    player: Player
    first_run: int
    runs: int

    def __str__(self) -> str:
        return f"{self.player.title}, runs {self.first_run} to {self.first_run + self.runs - 1}"


@dataclass(frozen=True)
class StretchJob:
    """Plays stretches."""

    seed: int
    rounds: tuple[int, ...] | None
    needs: Needs | None

    def begin(self, items: Sequence[Stretch]) -> None:
        """Check that this worker would play the same runs."""
        if self.needs is not None:
            check_fitness(self.needs)

    def one(self, item: Stretch) -> Runs:
        """The runs of one stretch."""
        return simulate(
            item.player.env,
            item.player.agent,
            runs=item.runs,
            first_run=item.first_run,
            seed=self.seed,
            agent_kwargs=item.player.parameters,
            n_jobs=1,
            rounds=self.rounds,
        )

    def weight(self, result: Runs) -> int:
        """The bytes of the curves."""
        return result.regret.nbytes

    def packed(self, items: Sequence[Stretch], results: Sequence[Runs]) -> list[Runs]:
        """The runs as they are."""
        return list(results)


def play_shared(
    crew: Crew,
    players: Sequence[Player],
    *,
    runs: int,
    seed: int,
    rounds: Sequence[int] | None,
    tick: Callable[[int], None],
) -> list[Runs]:
    """The runs of every player, in their order.

    Args:
        crew: those who play.
        players: the pairs of a world and an agent.
        runs: how many of each.
        seed: from which all seeds are derived.
        rounds: after which the regret is kept.
        tick: called for every run that is done, with the number of its rounds.
    """
    needs = needs_of_players(players) if crew.elsewhere else None
    if needs is not None:
        ensure_all_fit(crew, needs)
    job = StretchJob(seed, None if rounds is None else tuple(rounds), needs)
    stretches = list(_stretches(players, runs))
    found: dict[int, dict[int, Runs]] = defaultdict(dict)
    for arrived in dispatch(crew, job, stretches):
        if isinstance(arrived, Failed):
            raise _failure(arrived)
        for stretch, block in zip(arrived.items, arrived.content, strict=True):
            found[stretch.number][stretch.first_run] = block
            for _ in range(stretch.runs):
                tick(block.horizon)
    return [joined([found[number][first] for first in sorted(found[number])]) for number in range(len(players))]


def needs_of_players(players: Sequence[Player]) -> Needs:
    """What a worker must have to play as this process would; what a script or a notebook defines is sent along."""
    from ..experiments.identity import ENGINE, modules_of_class, modules_of_env

    code = {}
    for player in players:
        kinds = modules_of_class(player.agent if isinstance(player.agent, type) else type(player.agent))
        modules = tuple(sorted({ENGINE, *kinds, *modules_of_env(player.env)} - {"__main__"}))
        if modules not in code and (digest := digest_of(modules)) is not None:
            code[modules] = digest
    return needs_of(code)


def _stretches(players: Sequence[Player], runs: int) -> Iterator[Stretch]:
    for number, player in enumerate(players):
        for first in range(0, runs, BLOCK):
            yield Stretch(number, player, first, min(BLOCK, runs - first))


def _failure(failed: Failed[Stretch]) -> RuntimeError:
    where = f" on {failed.trouble.worker}" if failed.trouble.worker else ""
    error = RuntimeError(f"{failed.item} failed {failed.attempts} times{where}: {failed.trouble.error}")
    error.add_note(failed.trouble.traceback)
    return error
