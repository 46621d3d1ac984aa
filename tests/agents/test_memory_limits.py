"""Memory: what is free, and what is said to those who want more."""

import resource
import subprocess
import sys

import pytest

from ns_mab_gym.agents.core import memory_limits
from ns_mab_gym.agents.core.memory_limits import DoesNotFitError, available_memory, ensure_fits


def test_what_fits_passes_and_what_does_not_is_told_the_remedy():
    ensure_fits("a row", 8, "play less")
    with pytest.raises(DoesNotFitError, match=r"^a world would take 8,000 PB of memory, .* are free; play less$"):
        ensure_fits("a world", 8e18, "play less")


def test_free_memory_is_less_than_the_machine_has_and_more_than_nothing():
    pages = resource.getpagesize()
    with open("/proc/meminfo") as lines:
        total = int(next(lines).split()[1]) * 1024
    assert pages < available_memory() <= total


def test_a_limit_of_the_shell_counts():
    """With ``ulimit -v`` of 4 GB at most 4 GB are free, whatever the machine has."""
    code = "from ns_mab_gym.agents.core.memory_limits import available_memory; print(available_memory())"
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({4 << 30}, {4 << 30}))\n{code}"
    said = subprocess.run([sys.executable, "-c", limited], capture_output=True, text=True, check=True).stdout
    assert 0 < float(said) < 4 << 30


@pytest.mark.parametrize(
    ("limit", "used", "free", "told"),
    [
        ("5000\n", "3000\n", 2000, "2 kB"),
        ("5000", "4100", 900, "900 bytes"),
        ("5000", "5000", 0, "0 bytes"),
        ("5000", "6000", -1000, "0 bytes"),  # as after the limit was lowered
        ("max\n", "3000", None, ""),
        (None, "3000", None, ""),
        ("5000", None, None, ""),
        ("", "", None, ""),
    ],
)
@pytest.mark.parametrize("group", [0, 1])
def test_a_limit_of_a_container_or_a_batch_job_counts(tmp_path, monkeypatch, limit, used, free, told, group):
    """In either version of the files that tell it; without a limit, the machine's own memory counts."""
    for name, content in (("limit", limit), ("used", used)):
        if content is not None:
            (tmp_path / name).write_text(content)
    files, nothing = (str(tmp_path / "limit"), str(tmp_path / "used")), ("/nowhere/limit", "/nowhere/used")
    assert len(memory_limits.CGROUPS) == 2
    monkeypatch.setattr(memory_limits, "CGROUPS", (files, nothing) if group == 0 else (nothing, files))
    monkeypatch.setattr(memory_limits, "_free_on_machine", lambda: 1e6)
    assert available_memory() == (1e6 if free is None else free)
    if free is not None:
        monkeypatch.setattr(memory_limits, "SMALL", 0)
        with pytest.raises(DoesNotFitError, match=rf"^a world would take 2 kB of memory, {told} are free; play less$"):
            ensure_fits("a world", 2001, "play less")
