"""Compare agents on worlds of your choice: `python scripts/evaluate.py --help`. The same as `ns-mab-gym evaluate`."""

from ns_mab_gym.cli.parser import leave
from ns_mab_gym.cli.studies import evaluate

if __name__ == "__main__":
    leave(evaluate(command="evaluate.py"))
