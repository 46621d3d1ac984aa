"""Agents, worlds and laws by their names: a registry of classes, and agents looked up, described, tuned and made.

The table of the agents' names is in ``agents/__init__.py``. Cards are descriptions of agents, worlds and reward laws,
read from the docstrings of their classes. Names may come with parameters, as in ``"beta-swts:window=100"``.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import sys
import textwrap
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

from .arguments import check_subgaussian, check_types, checking_types, known_parameters, nearest, positive_int, shown
from .knowledge import LAW, Knowledge

T = TypeVar("T")

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9.]+)*")
PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
SECTIONS = ("Source", "Rule", "Tuning", "Knowledge", "Deviations")
REWARDS = {"binary": "0 or 1 (others in [0, 1] with binarize=True)", "unit": "in [0, 1]", "real": "any real number"}
PROBABILITY = {
    "exact": "exact",
    "quadrature": "by quadrature, with errors below 10^-6",
    "draws": "by 10,000 draws, with a standard error of at most 0.005",
    "base": "as that of the base",
}
LATE = {
    "counted": "a pull whose reward is under way counts as one that showed the mean of its arm so far: where arms are "
    "forced, in the width of indices, in clocks and in turns",
    "waits": "an arm whose first reward is under way is not forced again; it waits for it, unless all arms do",
    "drawn": "a pull whose reward is under way does not count: the choice is drawn from what was observed",
    "base": "as the base takes pulls whose rewards are under way; they count in turns of exploration",
    "none": "rewards do not matter",
    "refused": "refused, and batches too: it learns from the probability or the place of the choice just made",
}
UNSTATED = "not stated"
SUBGAUSSIAN = "λ, the scale of the rewards, for make and simulate alone: what follows from it is tuned (default 0.5)"
WIDTH = 100
OURS = __name__.partition(".")[0]
IMPORTING = threading.RLock()  # held by the thread for which modules of the current folder can be imported
WITHOUT_DOCSTRINGS = "cards are read from docstrings, which python -OO drops: start Python without -OO to see them"


def looks_like_path(name: object) -> bool:
    """Return whether a name has the form ``package.module:Class``.

    >>> looks_like_path("mine.agents:Greedy"), looks_like_path("ns_mab_gym:NSBandit-v0")
    (True, False)
    """
    return isinstance(name, str) and PATH.fullmatch(name) is not None


@contextmanager
def current_folder_importable() -> Iterator[None]:
    """Have modules looked for in the current folder too, after all other places, until the end of the block.

    No longer than that: a stray file there must not stand in for a package that some library looks for later.
    """
    with IMPORTING:
        folder = os.getcwd()
        added = folder not in sys.path and "" not in sys.path
        sys.path += [folder] * added
        try:
            yield
        finally:
            if added and folder in sys.path:
                sys.path.remove(folder)


def load_path(path: str) -> Any:
    """The object that ``package.module:Class`` names; raises a ValueError that says why if it cannot be imported."""
    module_name, _, attributes = path.partition(":")
    ours = module_name.partition(".")[0] == OURS
    try:
        with nullcontext() if ours else current_folder_importable():
            found: Any = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # a module can raise anything while it is loaded
        missing = isinstance(error, ModuleNotFoundError) and f"{module_name}.".startswith(f"{error.name}.")
        why = "; is its folder on PYTHONPATH?" if missing else f" ({type(error).__name__})"
        raise ValueError(f"cannot import {module_name!r} of {path!r}: {error}{why}") from error
    for attribute in attributes.split("."):
        if not hasattr(found, attribute):
            names = [name for name in dir(found) if not name.startswith("_")]
            raise ValueError(f"{module_name!r} has no {attribute!r}; {nearest(attribute, names)}")
        found = getattr(found, attribute)
    return found


class Registry(Mapping[str, type[T]]):
    """A table from names to classes, which are loaded on first use.

    Args:
        what: what messages call one of the classes.
        home: the module whose ``register`` adds to the table.
        group: the entry-point group in which installed packages offer theirs.
        needs: the methods that a class must have.
        reserved: names that mean something else and cannot be given to a class.
    """

    def __init__(
        self, what: str, home: str, group: str, needs: tuple[str, ...], reserved: tuple[str, ...] = ()
    ) -> None:
        self.what, self.home, self.group, self.needs, self.reserved = what, home, group, needs, reserved
        self._targets: dict[str, type[T] | str] = {}

    def add(self, name: str, target: type[T] | str) -> None:
        """Register a class of your own under a name that ``make``, descriptions and commands then accept.

        Args:
            name: lower-case words joined by hyphens.
            target: the class, or where it is found, ``"package.module:Class"``.
        """
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise ValueError(f"a name is lower-case words joined by hyphens, such as 'my-own', got {shown(name)}")
        if name in self.reserved:
            raise ValueError(f"{name!r} has a meaning of its own already; choose another name")
        if isinstance(target, str):
            if not looks_like_path(target):
                raise ValueError(f"{name!r} must be a class or 'package.module:Class', got {target!r}")
        else:
            self.checked(target)
        taken = self._targets.get(name, target)
        same = taken == target
        if isinstance(taken, type) and isinstance(target, type):  # a class defined twice, as when a cell is run again
            same = (taken.__module__, taken.__qualname__) == (target.__module__, target.__qualname__)
        if not same:
            raise ValueError(f"{name!r} is taken by {self._targets[name]}; choose another name")
        self._targets[name] = target

    def remove(self, name: str) -> None:
        """Remove a name that was added."""
        del self._targets[name]

    def names(self) -> list[str]:
        """All names: the built-in ones, those that users registered, and those that installed packages offer."""
        return list(dict.fromkeys([*self._targets, *self._offered]))

    def __contains__(self, name: object) -> bool:
        return name in self._targets or name in self._offered

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __len__(self) -> int:
        return len(self.names())

    def __getitem__(self, name: str) -> type[T]:
        if name not in self:
            raise KeyError(name)
        return self.find(name)

    def find(self, name: object) -> type[T]:
        """The class of this name, or at this ``package.module:Class``; a class itself, if it is one of these."""
        target: Any = name
        if isinstance(name, str) and not looks_like_path(name):
            target = self._targets[name] if name in self._targets else self._offered.get(name)
        if not isinstance(target, str | type):
            path = f"; one of your own is written 'package.module:Class' or added with {self.home}.register"
            raise ValueError(f"unknown {self.what} {shown(name)}; {nearest(name, self.names())}{path}")
        return self.checked(load_path(target) if isinstance(target, str) else target)

    def checked(self, kind: Any) -> type[T]:
        """The given class, if it has all the methods that it needs."""
        if not isinstance(kind, type):
            # The whole of os.environ does not belong in a message.
            raise TypeError(f"{shown(kind):.60} is not a class; name the class of the {self.what} itself")
        if missing := [method for method in self.needs if not callable(getattr(kind, method, None))]:
            raise TypeError(f"{kind.__module__}:{kind.__qualname__} is no {self.what}: it has no {missing[0]}()")
        return kind

    @cached_property
    def _offered(self) -> dict[str, str]:
        """The names that installed packages offer, and where their classes are found."""
        from importlib.metadata import entry_points  # slow to load, and seldom needed

        return {point.name: point.value for point in entry_points(group=self.group)}


@dataclass(frozen=True)
class Card:
    """A description: a name, one sentence, labelled facts, and what each parameter means.

    Facts can be read as attributes: ``card.rule`` is ``card.facts["rule"]``.
    """

    name: str
    summary: str
    facts: dict[str, str]
    parameters: dict[str, str]

    def __getattr__(self, fact: str) -> str:
        facts: dict[str, str] = self.__dict__.get("facts", {})
        if fact not in facts:
            raise AttributeError(f"this card has no fact {fact!r}; it has {', '.join(facts)}")
        return facts[fact]

    def __str__(self) -> str:
        entries = [*self.facts.items(), *(("parameter", f"{name}: {text}") for name, text in self.parameters.items())]
        lines = _wrapped(f"{self.name}: {self.summary}", "", "  ")
        for label, text in entries:
            lines += _wrapped(text, f"  {label:<11}  ", " " * 15)
        return "\n".join(lines)


def _wrapped(text: str, first: str, others: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=others, break_on_hyphens=False)


def card_of(name: str, kind: type[Any], facts: dict[str, str]) -> Card:
    """The card of a class, from the first sentence and the attributes of its docstring, with the given facts."""
    if sys.flags.optimize > 1:
        return Card(name, WITHOUT_DOCSTRINGS, facts, {})
    return Card(name, _one_line(docstring_of(kind).split("\n\n")[0]) or UNSTATED, facts, _parameters(kind))


def docstring_of(documented: Any) -> str:
    """The docstring without its indentation; nothing under ``python -OO``, where dataclasses make up one."""
    return "" if sys.flags.optimize > 1 else inspect.cleandoc(documented.__doc__ or "")


def _parameters(kind: type[Any]) -> dict[str, str]:
    """The meaning of each parameter, by the docstrings of a class and of its base classes, and its default."""
    meanings: dict[str, str] = {}
    for each in reversed(kind.__mro__[:-1]):
        doc = inspect.cleandoc(vars(each).get("__doc__") or "")
        described = _raw(doc, "Attributes") or _raw(doc, "Args")
        meanings |= dict(re.findall(r"^    (\w+): (.+?)(?=^    \w+: |\Z|^\S)", described, re.S | re.M))
    if not is_dataclass(kind):
        return {name: _one_line(meaning) for name, meaning in meanings.items()}
    found = {}
    for f in (f for f in fields(kind) if f.init and f.name in meanings):
        default = f.metadata.get("default", f.default)  # a formula, where the default depends on other parameters
        found[f.name] = _one_line(meanings[f.name]) + ("" if default in (MISSING, None) else f" (default {default})")
    return found


def _raw(doc: str, name: str) -> str:
    found = re.search(rf"^{name}:\n((?:    .*\n?|\n)*)", doc, re.M)
    return found.group(1) if found else ""


def _one_line(text: str) -> str:
    return " ".join(text.replace("``", "").split())


PLAYS = ("reset", "act", "observe")
AGENTS: Registry[Any] = Registry("agent", "agents", "ns_mab_gym.agents", needs=PLAYS, reserved=("sb3",))
register, names, kind = AGENTS.add, AGENTS.names, AGENTS.find


def card(name: str) -> Card:
    """The card of an agent: source, rule, parameters, tuning, knowledge, deviations, weakness; ``print`` shows it."""
    agent = kind(name)
    doc, sections = docstring_of(agent), SECTIONS if sys.flags.optimize < 2 else ()
    facts = {section.lower(): _one_line(_raw(doc, section)) or UNSTATED for section in sections}
    if weakness := _one_line(_raw(doc, "Weakness")):  # of an agent that is far behind
        facts["weakness"] = weakness
    facts["rewards"] = REWARDS.get(getattr(agent, "accepts", ""), UNSTATED)
    facts["probability"] = PROBABILITY.get(getattr(agent, "probability", ""), UNSTATED)
    late = getattr(agent, "late", "") if getattr(agent, "handles_delay", False) else "refused"
    facts["late"] = LATE.get(late, UNSTATED)
    found = card_of(name, agent, facts)
    if _takes_any_scale(agent) and "λ" in facts.get("knowledge", ""):
        found.parameters.setdefault("subgaussian", SUBGAUSSIAN)
    return found


def tunable(agent: type[Any]) -> Collection[str] | None:
    """The names of an agent's parameters other than pieces of knowledge about the world; None if it takes any."""
    if hasattr(agent, "tunable"):
        return tuple(agent.tunable())
    parameters = inspect.signature(agent).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return tuple(parameter.name for parameter in parameters)


def check_parameters(title: str, agent: type[Any], given: Iterable[str]) -> None:
    """Raise a TypeError that names the nearest parameter if an agent does not take one of these.

    All take ``blind``, and those that are tuned and take any real reward take ``subgaussian``.
    """
    if (allowed := tunable(agent)) is not None:
        free = {"blind", "subgaussian"} if _takes_any_scale(agent) else {"blind"}
        known_parameters(title, (name for name in given if name not in free), allowed)


def _takes_any_scale(agent: type[Any]) -> bool:
    return hasattr(agent, "tune") and getattr(agent, "accepts", "") == "real"


def make(
    name: Any,
    n_arms: int | None = None,
    horizon: int | None = None,
    *,
    knowledge: Knowledge | None = None,
    blind: bool = False,
    **parameters: Any,
) -> Any:
    """An agent by its name, tuned by its own paper's formula from what is known about the world.

    An agent that is not derived from :class:`~ns_mab_gym.agents.Agent` has no such formula: its constructor is given
    those pieces of the knowledge that it names (``n_arms``, ``horizon``, …).

    Args:
        name: one of :func:`names`, a ``"package.module:Class"``, or a class; also with parameters, as a text
            (``"beta-swts:window=100"``) or in a pair (``("beta-swts", {"window": 100})``).
        n_arms: K, if the knowledge does not hold it.
        horizon: T, if the knowledge does not hold it.
        knowledge: what the agent may be told, for example ``ns_mab_gym.theory.describe(means)``.
        blind: whether the agent is told T, K and the law of the rewards alone (λ and their interval, as far as the
            knowledge holds them), and nothing of how the means move; its card says what it then does.
        parameters: parameters of the agent, which are then not tuned. Every agent for any real reward takes
            ``subgaussian``, λ, the scale of the rewards, if the knowledge does not hold it: (b − a)/2 for rewards in
            [a, b]. One that is not told takes them to be in [0, 1], λ = ½; its card says what λ does.
    """
    given, (name, settings) = name, unpacked(name)
    if settings:
        check_single(given, settings)
        told = {"n_arms": n_arms, "horizon": horizon, "blind": blind} | settings | parameters
        return make(name, knowledge=knowledge, **told)
    agent = kind(name)
    title = name if isinstance(name, str) else agent.__name__
    check_parameters(f"agent {title!r}", agent, parameters)
    if not isinstance(blind, bool):
        raise TypeError(f"blind must be True or False, got {shown(blind)}; on the command line, write blind=true")
    if knowledge is not None and not isinstance(knowledge, Knowledge):
        raise TypeError(
            f"knowledge must be a Knowledge, as ns_mab_gym.theory.describe(means) returns it, got {shown(knowledge)}"
        )
    known = knowledge or Knowledge()
    if n_arms is not None:
        known = replace(known, n_arms=positive_int("n_arms", n_arms, least=2))
    if horizon is not None:
        known = replace(known, horizon=positive_int("horizon", horizon))
    if "subgaussian" in parameters and _takes_any_scale(agent):
        known = replace(known, subgaussian=check_subgaussian(parameters["subgaussian"]))
        if "subgaussian" not in (tunable(agent) or ()):
            del parameters["subgaussian"]  # what follows from it is tuned
    if blind and "means" in (tunable(agent) or ()) and "means" not in parameters:
        raise ValueError(f"{title} plays by the means and cannot be blind; leave out blind, or take another agent")
    if blind:
        told = {piece: getattr(known, piece) for piece in ("n_arms", "horizon", *LAW)}
        known = Knowledge(**told, **getattr(agent, "assumes", {}))
    with checking_types(agent, parameters):
        if not hasattr(agent, "tune"):
            check_types(agent, parameters)
            asked = inspect.signature(agent).parameters
            told = {piece.name: getattr(known, piece.name) for piece in fields(Knowledge) if piece.name in asked}
            return agent(**({piece: value for piece, value in told.items() if value is not None} | parameters))
        (k,) = known.need(title, "n_arms")
        try:
            tuned = dict(agent.tune(known, parameters))
        except ArithmeticError:  # of whole numbers that are too long for a float, for instance
            told_of = f"{title} cannot be tuned for numbers this large or small, {known}"
            raise ValueError(f"{told_of}; give its parameters instead") from None
        return agent(k, **(tuned | parameters))


OPENING, CLOSING = "([{", ")]}"
EXACT = 2**53  # floats above it are not exact as integers
TEXTS = ("label", "note", "group")  # settings that are texts, whatever they look like


class Values(list[Any]):
    """Several values of one parameter: one agent for each of them."""


def read_text(text: str) -> tuple[str, dict[str, Any]]:
    """Return the name in a text, and the parameters.

    >>> read_text("sw-ucb:window=500,xi=0.6")
    ('sw-ucb', {'window': 500, 'xi': 0.6})
    >>> read_text("my_module:Tide:reward=my_module:Coin")
    ('my_module:Tide', {'reward': 'my_module:Coin'})
    >>> read_text("restarting:detector=cusum(threshold=5, warmup=50),rate=0.1")
    ('restarting', {'detector': 'cusum(threshold=5, warmup=50)', 'rate': 0.1})
    >>> read_text("stationary:mu=0.1,0.5,horizon=1e4")
    ('stationary', {'mu': [0.1, 0.5], 'horizon': 10000})
    >>> read_text("beta-swts:window=100|316")
    ('beta-swts', {'window': [100, 316]})
    """
    parts = text.split(":")
    first = next((place for place, part in enumerate(parts) if place > 0 and "=" in part), len(parts))
    settings: list[str] = []
    for piece in filter(None, _split(":".join(parts[first:]), ",")):
        if settings and is_number(read_value(piece)):  # a number after a comma continues the list before it
            settings[-1] += f",{piece}"
        else:
            settings.append(piece)
    parameters: dict[str, Any] = {}
    for setting in settings:
        key, equals, given = setting.partition("=")
        several = _split(given, "|")
        if not (key.isidentifier() and equals and all(several or [""])):
            raise ValueError(f"cannot read {setting!r} in {text!r}; write name:parameter=value,parameter=value")
        if key in parameters:
            raise ValueError(f"{key} is given twice in {text!r}; several values of an agent are written {key}=1|2")
        values = [read_value(f"[{each}]" if len(_split(each, ",")) > 1 else each) for each in several]
        parameters[key] = given if key in TEXTS else Values(values) if len(values) > 1 else values[0]
    return ":".join(parts[:first]), parameters


def unpacked(given: Any) -> tuple[Any, dict[str, Any]]:
    """Return what is named without its parameters, and these: of a text, or of a pair.

    >>> unpacked("beta-swts:window=100"), unpacked(("beta-swts", {"window": 100}))
    (('beta-swts', {'window': 100}), ('beta-swts', {'window': 100}))
    """
    settings: dict[str, Any] = {}
    if is_pair(given):
        given, settings = given[0], dict(given[1])
    if isinstance(given, str) and ":" in given and "=" in given:
        given, read = read_text(given)
        settings = read | settings
    return given, settings


def is_pair(given: Any) -> bool:
    """Return whether it is a pair of what is named and its parameters."""
    return isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], Mapping)


def check_single(given: Any, parameters: Mapping[str, Any], who: str = "agents of a comparison") -> None:
    """Raise a ValueError if a parameter has several values."""
    if several := [key for key, value in parameters.items() if isinstance(value, Values)]:
        raise ValueError(f"{given!r} has several values of {several[0]}: only {who} can be swept")


def write_text(name: str, parameters: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> str:
    """Return the text of a name with parameters, which :func:`read_text` reads.

    >>> write_text("stationary", {"mu": (0.1, 0.5), "shuffle": True})
    'stationary:mu=[0.1,0.5],shuffle=true'
    """
    settings = ",".join(f"{key}={_written(value)}" for key, value in dict(parameters).items())
    return f"{name}:{settings}" if settings else name


def _written(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_written, value))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def read_value(text: str) -> Any:
    """Return the value that a text means: a number, a truth value, a list in brackets, or the text itself.

    >>> [read_value(text) for text in ("500", "0.6", "1e4", "true", "[0.1, 0.5]", "gaussian")]
    [500, 0.6, 10000, True, [0.1, 0.5], 'gaussian']
    """
    if text.startswith("[") and text.endswith("]"):
        return [read_value(each.strip()) for each in _split(text[1:-1], ",")]
    for read in (int, float):
        try:
            return plain(read(text))
        except ValueError:
            pass
    return {"true": True, "false": False}.get(text.lower(), text)


def plain(value: Any) -> Any:
    """Return a value in which whole numbers are integers, however they are written, as 1e4 is in TOML."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= EXACT:
        return int(value)
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list) else value


def is_number(value: Any) -> bool:
    """Return whether a value is a number, which truth values are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _split(text: str, sign: str) -> list[str]:
    """The pieces of a text between signs outside of brackets; none if the text is empty."""
    pieces, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth = max(0, depth + (letter in OPENING) - (letter in CLOSING))
        if letter == sign and depth == 0:
            pieces.append(text[start:place])
            start = place + 1
    return [*pieces, text[start:]] if text else []
