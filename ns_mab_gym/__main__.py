"""Makes ``python -m ns_mab_gym`` run the command ``ns-mab-gym``."""

import sys

from .cli.entry import main

if __name__ == "__main__":
    sys.exit(main())
