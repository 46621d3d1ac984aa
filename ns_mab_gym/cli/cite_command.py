"""``ns-mab-gym cite``: how to cite this software and the paper."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from .. import __version__
from .door import Parser, closing

__all__ = ["main"]

CITATION = """\
If you use this software, please cite it and the paper whose worlds and algorithms it holds.

@software{{ns_mab_gym,
  title   = {{ns-mab-gym}},
  author  = {{{{The ns-mab-gym authors}}}},
  version = {{{version}}},
  license = {{MIT}},
}}

@article{{fiandri2024sliding,
  title   = {{Sliding-Window {{T}}hompson Sampling for Non-Stationary Settings}},
  author  = {{Fiandri, Marco and Metelli, Alberto Maria and Trovò, Francesco}},
  journal = {{arXiv}},
  year    = {{2024}},
  url     = {{https://arxiv.org/abs/2409.05181}},
}}"""


def main(arguments: Sequence[str] | None = None, command: str = "cite") -> int:
    """Print the citation as BibTeX; returns the exit code."""
    return closing(_parser(command), arguments, _cite)


def _parser(command: str) -> Parser:
    return Parser(command, "How to cite this software and the paper, as BibTeX.", ("", "> references.bib"))


def _cite(_: argparse.Namespace) -> list[str]:
    return [CITATION.format(version=__version__)]
