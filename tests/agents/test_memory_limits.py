"""Memory: what is free, and what is said to those who want more."""

import resource
import subprocess
import sys

import pytest

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
