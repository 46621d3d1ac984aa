"""Compare agents on worlds of your choice: `python scripts/evaluate.py --help`. The same as `ns-mab-gym evaluate`."""

from ns_mab_gym.cli.door import leave
from ns_mab_gym.cli.evaluate_command import main

if __name__ == "__main__":
    leave(main(command="evaluate.py"))
