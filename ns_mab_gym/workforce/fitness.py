"""What a worker must have to do the work as this process would: the same versions, the same code, the same files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from ..installed_versions import versions
from ..kept_files import ChangedFileError, KeptFile
from ..sources import digest_of, edited_while_running, unreadable
from .crew import Crew
from .parcels import UnfitWorkerError, here

__all__ = ["Needs", "check_fitness", "ensure_all_fit", "needs_of"]

Modules = tuple[str, ...]


class Needs(NamedTuple):
    """What some work needs.

    Attributes:
        versions: of Python and of the packages.
        code: modules, and the hash of their code and of all that they depend on.
        files: files that are read.
    """

    versions: tuple[tuple[str, str], ...]
    code: tuple[tuple[Modules, str], ...] = ()
    files: tuple[KeptFile, ...] = ()


def needs_of(code: Mapping[Modules, str], files: Iterable[KeptFile] = ()) -> Needs:
    """What work needs that depends on these modules, whose hashes are given, and on these files."""
    return Needs(tuple(versions().items()), tuple(code.items()), tuple(dict.fromkeys(files)))


def lacks(needs: Needs) -> list[str]:
    """What this process lacks or has in another form, in words; empty if it can do the work."""
    return [*_other_versions(needs), *_other_code(needs), *_other_files(needs)]


def _other_versions(needs: Needs) -> list[str]:
    mine = versions()
    return [f"{name} {mine.get(name)} instead of {wanted}" for name, wanted in needs.versions if mine[name] != wanted]


def _other_code(needs: Needs) -> list[str]:
    found: dict[str, None] = {}
    for modules, wanted in needs.code:
        if missing := unreadable(modules):
            found[f"no module {', '.join(missing)} (install it there, or put it on PYTHONPATH)"] = None
        elif edited := edited_while_running(modules):
            found[f"{', '.join(edited)} as it was before an edit (start the worker anew)"] = None
        elif digest_of(modules) != wanted:
            found[f"another version of the code of {' or '.join(_own(modules))}"] = None
    return list(found)


def _own(modules: Modules) -> list[str]:
    """Those of some modules that tell most: the users' own, if there are any."""
    return [name for name in modules if not name.startswith("ns_mab_gym.")] or list(modules)


def _other_files(needs: Needs) -> list[str]:
    found = []
    for file in needs.files:
        try:
            file.content  # noqa: B018 - reading it is the check
        except ChangedFileError:
            found.append(f"another file at {str(file)!r}")
        except (OSError, ValueError) as error:
            found.append(f"no file that can be read at {str(file)!r} in {os.getcwd()!r} ({error})")
    return found


def check_fitness(needs: Needs | Callable[[], Needs]) -> None:
    """Raise an :class:`UnfitWorkerError` if this process cannot do the work as the one can that hands it out.

    Args:
        needs: what it needs; or a function that finds that out here, which may fail for want of it.
    """
    try:
        found = lacks(needs() if callable(needs) else needs)
    except Exception as error:
        raise UnfitWorkerError(_refusal(here(), [_said(error)])) from error
    if found:
        raise UnfitWorkerError(_refusal(here(), found))


def ensure_all_fit(crew: Crew, needs: Needs) -> None:
    """Ask every worker that is there what it lacks; raises an :class:`UnfitWorkerError` if one lacks something.

    A worker that has gone meanwhile lacks nothing. If it comes back, it is asked again with its first task.
    """
    for worker, answer in sorted(crew.everywhere(answered, needs).items()):
        if answer and not isinstance(answer, OSError):
            raise UnfitWorkerError(_refusal(worker, answer if isinstance(answer, list) else [_said(answer)]))


def answered(needs: Needs) -> list[str]:
    """What this worker lacks, or why it cannot tell."""
    try:
        return lacks(needs)
    except Exception as error:  # it is told in words: not every error can be sent
        return [_said(error)]


def _said(error: Any) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


def _refusal(worker: str, found: list[str]) -> str:
    return (
        f"the worker {worker} would not compute what this machine does: {'; '.join(found)}; give all workers the same "
        f"packages, code and files, and start again"
    )
