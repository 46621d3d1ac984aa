"""Progress: a bar on a terminal, lines elsewhere; both with units, speed and time left."""

import io

import pytest

from ns_mab_gym.experiments.progress import Bar, Lines, progress_for
from ns_mab_gym.experiments.runner import compute
from ns_mab_gym.experiments.units import units_of


class Terminal(io.StringIO):
    """A stream that people look at."""

    def isatty(self):
        return True


@pytest.fixture
def done(study, engine):
    unit = units_of(study)[0]
    return unit, compute(unit, engine, None)


def test_a_terminal_gets_a_bar(done):
    stream = Terminal()
    with progress_for(stream) as bar:
        assert isinstance(bar, Bar)
        bar.start(3, 5)
        bar.advance(*done)
        bar.advance(*done)
    last = stream.getvalue().rstrip().split("\r")[-1]
    assert "5 of 5 units, " in last
    assert " steps/s, 00:00 left" in last


def test_a_log_gets_lines(done):
    stream = io.StringIO()
    with progress_for(stream) as lines:
        assert isinstance(lines, Lines)
        lines.start(3, 5)
        lines.advance(*done)  # too soon after the last word
        lines.advance(*done)
    first, last = stream.getvalue().splitlines()
    assert first == "2 of 5 units to compute, 3 stored already"
    assert last.startswith("5 of 5 units, ")
    assert last.endswith(" steps/s, 0 s left")
