"""What the pages say is true: examples run, commands exist, names, paths and links lead somewhere."""

from __future__ import annotations

import ast
import doctest
import importlib
import io
import re
import shlex
import subprocess
import sys
import tomllib
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from functools import cache
from pathlib import Path

import pytest
from pages_read import EVERY, PAGES, ROOT, blocks, spans, text_of

from ns_mab_gym import rewards, worlds
from ns_mab_gym.agents.core.registry import AGENTS, Registry
from ns_mab_gym.cli.entry import COMMANDS, main

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
REGISTRIES: list[Registry] = [AGENTS, worlds.WORLDS, rewards.LAWS]

OTHERS = ("curl", "export", "openssl")  # commands that pages may use beside ours and Dask's

every_page = pytest.mark.parametrize("name", EVERY)


# Examples.


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty working folder from which modules can be imported; names that are registered there are taken back."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = [set(registry) for registry in REGISTRIES]
    yield tmp_path
    for registry, names in zip(REGISTRIES, before, strict=True):
        for name in set(registry) - names:
            registry.remove(name)


def tried(page: str, text: str) -> doctest.TestResults:
    """The ``>>>`` lines, run in order and in one session, as a person at a prompt would."""
    example = doctest.DocTestParser().get_doctest(text, {"__name__": "__main__"}, page, page, 0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*playing through the generic Python loop")
        return doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example)


def examples(text: str) -> str:
    """The blocks of Python alone, each on the lines where it stands."""
    block = re.compile(r"^```python\n.*?^```$", flags=re.DOTALL | re.MULTILINE)
    inside = {line for found in block.finditer(text) for line in range(*lines_of(text, found))}
    return "\n".join(line if number in inside else "" for number, line in enumerate(text.split("\n")))


def lines_of(text: str, found: re.Match[str]) -> tuple[int, int]:
    """The first line after the opening fence, and the line of the closing one."""
    return text.count("\n", 0, found.start()) + 1, text.count("\n", 0, found.end())


@every_page
def test_examples_print_what_stands_below_them(name: str, session: Path) -> None:
    assert tried(name, examples(text_of(name))).failed == 0


@every_page
def test_other_code_compiles(name: str) -> None:
    for block in blocks(name, "python"):
        if ">>>" not in block:
            ast.parse(block)
    for block in blocks(name, "toml"):
        tomllib.loads(block)


def test_most_pages_have_examples_and_a_wrong_one_is_found(session: Path) -> None:
    assert sum(any(">>>" in block for block in blocks(page, "python")) for page in EVERY) >= 6
    assert tried("a page", ">>> 1 + 1\n3\n").failed == 1


# Commands.


def commands(page: str) -> list[str]:
    """Every line of a shell block, and every piece of running text that begins like a command of ours."""
    lines = [line for block in blocks(page, "sh") for line in block.replace("\\\n", " ").splitlines()]
    ours = re.compile(r"(make|ns-mab-gym|pip install|python scripts/\S+|python tests/\S+|python -m ns_mab_gym)\b")
    return [line for line in lines if line.strip()] + [span for span in spans(page) if ours.match(span)]


@cache
def help_of(program: tuple[str, ...]) -> str:
    if program[:2] == ("-m", "ns_mab_gym"):
        with redirect_stdout(io.StringIO()) as said, suppress(SystemExit):
            main([*program[2:], "--help"])
        return said.getvalue()
    done = subprocess.run([sys.executable, *program, "--help"], capture_output=True, text=True, cwd=ROOT, check=True)
    return done.stdout


def problems(command: str) -> Iterator[str]:
    """What a command names that is not there."""
    for part in re.split(r"[;&]+", re.sub(r"\s#.*", "", command)):
        words = shlex.split(part)
        if not words:
            continue
        if words[0] == "make":
            targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
            yield from (f"no target {word}" for word in words[1:] if word not in targets and "=" not in word)
        elif words[:2] == ["pip", "install"]:
            extras = re.findall(r"\[([\w,-]+)\]", part)
            known = PROJECT["optional-dependencies"]
            yield from (f"no extra {each}" for each in ",".join(extras).split(",") if each and each not in known)
        elif words[0] == "ns-mab-gym" or words[:3] == ["python", "-m", "ns_mab_gym"]:
            yield from subcommand_problems(words[1 if words[0] == "ns-mab-gym" else 3 :])
        elif words[:3] == ["python", "-m", "rl_zoo3.train"]:
            file = words[words.index("--conf-file") + 1]
            yield from () if (ROOT / file).is_file() else (f"no file {file}",)
        elif words[0] == "python" and len(words) > 1:
            if not (ROOT / words[1]).is_file():
                yield f"no file {words[1]}"
            elif words[1].startswith("scripts/"):
                yield from option_problems((words[1],), words[2:])
        elif words[0] == "dask":
            yield from option_problems(("-m", *words[:2]), words[2:])
        elif words[0] not in OTHERS:
            yield f"no command of ours: {words[0]}"


def subcommand_problems(words: list[str]) -> Iterator[str]:
    if words and words[0] not in COMMANDS:
        yield f"no command {words[0]}"
    elif words:
        yield from option_problems(("-m", "ns_mab_gym", words[0]), words[1:])


def option_problems(program: tuple[str, ...], words: list[str]) -> Iterator[str]:
    options = set(re.findall(r"(?<![\w-])--[\w-]+", help_of(program).partition("examples:")[0]))
    yield from (f"no option {word}" for word in words if word.startswith("--") and word not in options)


@every_page
def test_commands_name_what_there_is(name: str) -> None:
    assert {command: list(problems(command)) for command in commands(name) if list(problems(command))} == {}


def test_commands_that_name_nothing_are_found() -> None:
    wrong = [
        "make papers", "python scripts/paperr.py", "python scripts/paper.py --rnus 3", "ns-mab-gym papers",
        "ns-mab-gym evaluate --agent ts", 'pip install ".[rll]"', "python -m ns_mab_gym plots", "grep x",
        "make test; make tests", "python tests/play/test_nothing.py", "dask scheduler --prot tls",
        "python -m rl_zoo3.train --conf-file hyperparams/ppp.yml",
    ]  # fmt: skip
    assert [command for command in wrong if not list(problems(command))] == []
    assert sum(len(commands(page)) for page in EVERY) > 30


# Names, paths and links.


@every_page
def test_paths_lead_to_files(name: str) -> None:
    places = ("agents/", "ns_mab_gym/", "tests/", "scripts/", "docs/", ".ci/")
    named = [span.split()[0] for span in spans(name) if span.startswith(places)]
    assert [each for each in named if not list(ROOT.glob(each.rstrip("/")))] == []


@every_page
def test_dotted_names_lead_to_code(name: str) -> None:
    dotted = re.compile(r"(ns_mab_gym|nsb)((?:\.\w+)+)")
    groups = {registry.group for registry in REGISTRIES}
    named = {span: dotted.match(span) for span in spans(name) if dotted.match(span)}
    names = {f"ns_mab_gym{found[2]}" for found in named.values() if found} - groups
    assert [each for each in sorted(names) if not exists(each)] == []


def exists(name: str) -> bool:
    """Whether a dotted name is a module, or an attribute of one."""
    module, _, attribute = name.rpartition(".")
    try:
        return hasattr(importlib.import_module(module), attribute) or bool(importlib.import_module(name))
    except ImportError:
        return False


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub makes of the headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@every_page
def test_links_lead_to_files_and_headings(name: str) -> None:
    here = EVERY[name]
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text_of(name)):
        if not link.startswith("https://"):
            file, _, anchor = link.partition("#")
            target = (here.parent / file).resolve() if file else here
            if not target.exists() or (anchor and anchor not in anchors(target)):
                broken.append(link)
    assert broken == []


def test_every_page_of_the_docs_can_be_found_from_the_readme() -> None:
    assert [page for page in PAGES if page != "README.md" and f"({page})" not in text_of("README.md")] == []
