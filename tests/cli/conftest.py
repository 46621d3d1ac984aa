"""What the tests of the commands share: the fixtures of the experiments, and a look at errors."""

from pathlib import Path

import pytest

from ..experiments.conftest import engine, python

__all__ = ["ROOT", "engine", "one_error", "python"]

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def one_error(capsys):
    """A function that gives what was said on the error stream, which must be one line in the style of all commands."""

    def said(command):
        error = capsys.readouterr().err
        assert error.startswith(f"{command}: error: "), error
        assert error.count("\n") == 1
        assert error.endswith("\n")
        return error.removeprefix(f"{command}: error: ").strip()

    return said
