"""Try a folder of results with faults: kills, a full disk, hostile links. The tests try the same in little.

python scripts/faults.py kills                          # 1,500 in the first 10 ms of the store, 50 at random
python scripts/faults.py kills --early 100 --late 5
python scripts/faults.py full-disk                      # on a small tmpfs, at ten moments; needs the right to mount one
python scripts/faults.py links                          # in 44 folders
python scripts/faults.py cluster                        # 20 of each kind on a cluster of two workers; some minutes
python scripts/faults.py cluster --times 2 --kinds "worker killed"
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from faulting.full_disk import try_full_disks
from faulting.hostile_links import try_links
from faulting.kills import try_kills


def main() -> int:
    """Try what the command line asks for; returns 1 if something was lost or touched, else 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fault", choices=("kills", "full-disk", "links", "cluster"))
    parser.add_argument("--early", type=int, default=1_500, help="kills in the first 10 ms (%(default)s)")
    parser.add_argument("--late", type=int, default=50, help="kills at random (%(default)s)")
    parser.add_argument("--moments", type=int, default=10, help="at which the disk is full (%(default)s)")
    parser.add_argument("--times", type=int, default=20, help="faults of each kind on a cluster (%(default)s)")
    parser.add_argument("--kinds", nargs="+", help="of faults on a cluster (all)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        scratch = Path(folder)
        if options.fault == "kills":
            well = try_kills(scratch, options.early, options.late)
        elif options.fault == "full-disk":
            well = try_full_disks(scratch, options.moments)
        elif options.fault == "links":
            well = try_links(scratch)
        else:
            from faulting.cluster_faults import KINDS, try_cluster

            well = try_cluster(scratch, options.times, options.kinds or list(KINDS))
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
