"""The commands that list and describe: ``agents``, ``worlds`` and ``cite``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence

from .. import __version__, rewards
from .. import worlds as catalogue
from ..agents.core import registry
from ..agents.core.arguments import nearest
from ..agents.core.registry import WITHOUT_DOCSTRINGS, Card
from ..envs import ENV_IDS
from ..specs import WorldSpec
from .parser import Parser, closing

# family: its agents, as far as they belong to this package; all others are listed at the end.
FAMILIES: dict[str, tuple[str, ...]] = {
    "the paper's own": ("beta-swts", "gamma-swgts"),
    "baselines that forget nothing": ("ts", "kl-ucb", "ucb1", "exp3"),
    "passive: they forget all the time, by a window, a discount or restarts by the clock": (
        "sw-ucb", "sw-kl-ucb", "d-ucb", "d-ts", "ds-ts", "faded-index", "dsw-ts", "sw-lb-sda", "aff-ucb", "aff-ts",
        "kalman-ucb", "kalman-ts", "predictive-sampling", "rexp3", "exp3s", "ser4", "bandit-over-windows",
    ),
    "active: they look for changes, and forget when they find one": (
        "cusum-ucb", "pht-ucb", "br-mab", "m-ucb", "glr-klucb", "glr-ts", "adr-ts", "master", "restarting",
    ),
    "a belief about the last change": ("changepoint-ucb", "switching-ts", "active-ptw"),
    "from the textbook": (
        "epsilon-greedy", "softmax", "gradient-bandit", "explore-then-commit", "exp3-ix", "tsallis-inf",
    ),
    "for means that only rise or only fall": ("r-less-ucb", "raw-ucb", "fewa"),
    "around any of these": ("floor",),
    "references": ("random", "oracle-restart", "oracle"),
}  # fmt: skip
OTHERS = "yours, and those of installed packages"
CLOSING = ["", WITHOUT_DOCSTRINGS] if sys.flags.optimize > 1 else []  # of a list without summaries


def agents(arguments: Sequence[str] | None = None, command: str = "agents") -> int:
    """List the agents, or print the card of one; returns the exit code."""
    parser = Parser(
        command,
        "List the agents by family, those of installed packages among them, or print the card of one:\n"
        "its source, its rule, its parameters, how it is tuned and what it must know.",
        ("", "beta-swts", "my_package.agents:Greedy"),
    )
    parser.add_argument("name", nargs="?", help="a name of the list, or package.module:Class")

    def work(options: argparse.Namespace) -> Iterator[str]:
        if options.name is not None:
            yield str(registry.card(options.name))
            return
        rows = _rows(registry.names(), registry.card)
        placed = {name for family in FAMILIES.values() for name in family}
        families = FAMILIES | {OTHERS: tuple(name for name in rows if name not in placed)}
        listed = {family: [rows[name] for name in names if name in rows] for family, names in families.items()}
        yield "\n\n".join("\n".join([family, *lines]) for family, lines in listed.items() if lines)
        yield from CLOSING

    return closing(parser, arguments, work)


def worlds(arguments: Sequence[str] | None = None, command: str = "worlds") -> int:
    """List the worlds, ids and laws, or print the card of one; returns the exit code."""
    parser = Parser(
        command,
        "List the worlds, the ids by which Gymnasium knows them and the reward laws, or print the card of one.",
        ("", "piecewise", "NSBandit-Smooth-v0", "mixed:n_arms=5,horizon=500", "gaussian", "my_package.worlds:Tide"),
    )
    about = "a world, an id, a law, or package.module:Class; with parameters, to see what follows from them"
    parser.add_argument("name", nargs="?", help=about)

    def work(options: argparse.Namespace) -> Iterator[str]:
        if options.name is not None:
            yield from _card(options.name)
            return
        yield from ("worlds", *_rows(catalogue.names(), catalogue.card).values())
        yield from ("", "ids, for gym.make and wherever a world can be named")
        yield from (f"  {_played(each)}" for each in ENV_IDS)
        yield from ("", "reward laws", *_rows(rewards.names(), rewards.card).values(), *CLOSING)

    return closing(parser, arguments, work)


def _card(name: str) -> Iterator[str]:
    """Yield the card of a world, an id or a law, or of a world with parameters."""
    if "=" in name:
        spec = WorldSpec.read(name)
        played = ENV_IDS.get(spec.name.removeprefix("ns_mab_gym:"), {"world": spec.name})
        yield str(catalogue.card(catalogue.make(**({"world": "abrupt"} | played | spec.kwargs))))
        return
    env_id = name.removeprefix("ns_mab_gym:")
    if env_id in ENV_IDS:
        yield _played(env_id)
        name = ENV_IDS[env_id].get("world", "abrupt")
    own = registry.load_path(name) if registry.looks_like_path(name) else None
    if name in rewards.LAWS or (isinstance(own, type) and issubclass(own, rewards.Law)):
        yield str(rewards.card(name))
    elif name in catalogue.names() or own is not None:
        yield str(catalogue.card(name))
        yield from (f"  id           {each}" for each in ENV_IDS if ENV_IDS[each].get("world") == name)
    else:
        every = [*catalogue.names(), *rewards.names(), *ENV_IDS]
        raise ValueError(f"unknown world, id or law {name!r}; {nearest(name, every)}")


def _played(env_id: str) -> str:
    """Return a line with an id and the world that it plays."""
    settings = ", ".join(f"{key}={value!r}" for key, value in ENV_IDS[env_id].items())
    return f"{env_id:<28}{settings or 'any world, by its argument world='}"


def _rows(names: Sequence[str], card: Callable[[str], Card]) -> dict[str, str]:
    """Return a line for each name; if what a package offers cannot be loaded, its line says why."""
    rows, width = {}, max(map(len, names)) + 2
    for name in names:
        try:
            summary = card(name).summary.replace(WITHOUT_DOCSTRINGS, "")
        except (TypeError, ValueError) as error:
            summary = f"cannot be loaded: {error}"
        rows[name] = f"  {name:<{width}}{summary}".rstrip()
    return rows


CITATION = """\
If you use this software, please cite it and the paper whose worlds and algorithms it holds.

@software{{ns_mab_gym,
  title   = {{ns-mab-gym}},
  author  = {{{{The ns-mab-gym authors}}}},
  version = {{{version}}},
  license = {{MIT}},
}}

@article{{fiandri2024sliding,
  title   = {{Sliding-Window {{T}}hompson Sampling for Non-Stationary Settings}},
  author  = {{Fiandri, Marco and Metelli, Alberto Maria and Trovò, Francesco}},
  journal = {{arXiv}},
  year    = {{2024}},
  url     = {{https://arxiv.org/abs/2409.05181}},
}}"""


def cite(arguments: Sequence[str] | None = None, command: str = "cite") -> int:
    """Print the citation as BibTeX; returns the exit code."""
    parser = Parser(command, "How to cite this software and the paper, as BibTeX.", ("", "> references.bib"))
    return closing(parser, arguments, lambda _: [CITATION.format(version=__version__)])
