"""Reproduce the paper: `make paper`, or `python scripts/paper.py --help`."""

import sys

from ns_mab_gym.experiments.cli import reproduce

if __name__ == "__main__":
    sys.exit(reproduce())
