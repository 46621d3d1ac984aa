"""Reproduce the paper: `make paper`, or `python scripts/paper.py --help`. The same as `ns-mab-gym paper`."""

from ns_mab_gym.cli.parser import leave
from ns_mab_gym.cli.studies import paper

if __name__ == "__main__":
    leave(paper(command="paper.py"))
