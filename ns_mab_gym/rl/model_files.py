"""Files of models: finding, reading and writing them, and what is noted in them about how a model was trained."""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

from ..files import write_atomically
from ..kept_files import KeptFile
from .algorithm_table import ALGORITHMS, algorithm, name_of
from .recipe import Recipe, checked_recipe

__all__ = ["NOTE", "found", "note_of", "noted_recipe", "unpickled", "write"]

NOTE = "ns_mab_gym"  # the attribute of a saved model that records how it was trained


def found(path: str | Path) -> str | Path:
    """The path of a model; like Stable-Baselines3, without its ending if need be."""
    bare = not os.path.isfile(path) and not Path(path).suffix and not isinstance(path, KeptFile)
    return f"{path}.zip" if bare and os.path.isfile(f"{path}.zip") else path


def note_of(model: Any, recipe: Recipe) -> dict[str, Any]:
    """What to note in a saved model; raises a ValueError if :func:`unpickled` could not load it by that note."""
    name, kind = name_of(model), type(model)
    if name not in ALGORITHMS or algorithm(name) is not kind:
        raise ValueError(
            f"{kind.__name__} is none of the algorithms that SB3Agent.load knows ({', '.join(ALGORITHMS)}); save it "
            f"with model.save(path), and play it again with SB3Agent({kind.__name__}.load(path))"
        )
    return {"algo": name, "recipe": recipe}


def noted_recipe(model: Any) -> Recipe:
    """The recipe that was noted in a model when it was saved; empty if there is none."""
    note = getattr(model, NOTE, None)
    return checked_recipe(note.get("recipe", [])) if isinstance(note, dict) else []


def unpickled(content: bytes, algo: str | None, path: str, env: Any = None) -> Any:
    """The model in a file of Stable-Baselines3; this runs what is pickled there.

    Args:
        content: the bytes of the file.
        algo: the name of the algorithm, if nothing is noted in the file.
        path: where the file is, for messages.
        env: environments to train the model on, which fit it; None to play it only.
    """
    if (named := algo or _noted_algorithm(content)) is None:
        raise ValueError(f"{path!r} does not say of which algorithm it is; pass algo=, such as algo='ppo'")
    kind = algorithm(named)
    try:
        return kind.load(io.BytesIO(content), env=env, device="cpu")
    except Exception as error:  # whatever is pickled there
        raise ValueError(f"{path!r} cannot be read as a model of Stable-Baselines3: {error}") from error


def _noted_algorithm(content: bytes) -> str | None:
    """The algorithm that was noted, read without running anything; None if there is no such note."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            named = json.loads(archive.read("data"))[NOTE]["algo"]
    except Exception:  # whatever is wrong with the file is said when it is loaded
        return None
    return named if isinstance(named, str) else None


def write(path: Path, ending: str, content: bytes) -> None:
    """Write a file whole or not at all, with this ending if the path has none."""
    file = path if path.suffix else path.with_name(path.name + ending)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, content)
