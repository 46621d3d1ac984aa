"""The options that the studies of trained models have in common."""

from __future__ import annotations

import argparse
from pathlib import Path

from ns_mab_gym.cli import door

__all__ = ["STOPPED", "folder_of", "study_parser"]

STOPPED = "stopped; what was trained is saved, and the same command goes on"


def study_parser(command: str, description: str) -> door.Parser:
    """What reads the options of a study."""
    parser = door.Parser(command, description, ("--jobs 2", "--quick --jobs 2"))
    parser.add_argument("--out", type=door.path, help="folder of results")
    parser.add_argument("--jobs", type=door.jobs, default=1, help="models that are trained at once (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="tiny numbers, to see that it works")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/, and write the pages")
    return parser


def folder_of(options: argparse.Namespace, usual: str) -> Path:
    """Where the results go; raises a ValueError if what is measured is not worth writing."""
    if options.quick and options.write:
        raise ValueError("--quick measures nothing that is worth writing; leave out --quick or --write")
    return options.out or Path(f"{usual}-quick" if options.quick else usual)
