"""Progress: a bar on a terminal, lines elsewhere; both with units, speed and time left."""

import io

from ns_mab_gym.experiments.progress import Bar, Lines, progress_for


class Terminal(io.StringIO):
    """A stream that people look at."""

    def isatty(self):
        return True


def test_a_terminal_gets_a_bar():
    stream = Terminal()
    with progress_for(stream) as bar:
        assert isinstance(bar, Bar)
        bar.start(3, 5)
        bar.advance(1, 1_000)
        bar.say("a word")
        bar.fail()
        bar.advance(1, 1_000)
    last = stream.getvalue().rstrip().split("\r")[-1]
    assert "5 of 5 units, " in last
    assert " steps/s, 1 failed, 00:00 left" in last
    assert "a word\n" in stream.getvalue()


def test_a_log_gets_lines():
    stream = io.StringIO()
    with progress_for(stream) as lines:
        assert isinstance(lines, Lines)
        lines.start(3, 5)
        lines.say("a word")
        lines.advance(1, 1_000)  # too soon after the last word
        lines.fail()
        lines.advance(1, 1_000)
    first, said, last = stream.getvalue().splitlines()
    assert said == "a word"
    assert first == "2 of 5 units to compute, 3 stored already"
    assert last.startswith("5 of 5 units, ")
    assert last.endswith(" steps/s, 0 s left, 1 failed")
