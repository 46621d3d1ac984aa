"""Compare agents on worlds of your choice: `python scripts/evaluate.py --help`."""

import sys

from ns_mab_gym.experiments.cli import evaluate

if __name__ == "__main__":
    sys.exit(evaluate())
