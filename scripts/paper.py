"""Reproduce the paper: `make paper`, or `python scripts/paper.py --help`. The same as `ns-mab-gym paper`."""

from ns_mab_gym.cli.door import leave
from ns_mab_gym.cli.paper_command import main

if __name__ == "__main__":
    leave(main(command="paper.py"))
