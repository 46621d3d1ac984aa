"""Evaluates on a small disk that is full from some moment on; the same command must go on when there is room."""

from __future__ import annotations

import subprocess
from pathlib import Path

from .evaluation import evaluate, same_results, warmed_up

__all__ = ["try_full_disks"]

SIZE = 32 << 20  # bytes of the disk


def try_full_disks(scratch: Path, moments: int) -> bool:
    """Fill a disk at so many moments of an evaluation; needs the right to mount one. Returns whether all went well."""
    warmed_up(scratch)
    needed = sum(path.stat().st_size for path in (scratch / "first").rglob("*") if path.is_file())
    disk = scratch / "disk"
    disk.mkdir()
    well = True
    for moment in range(moments):
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", disk], check=True)
        try:
            free = needed * moment**3 // moments**3  # most of what is written is the page, at the end
            well &= _goes_on(disk, free, scratch / "first")
        finally:
            subprocess.run(["umount", disk], check=True)
    return well


def _goes_on(disk: Path, free: int, whole: Path) -> bool:
    ballast = disk / "ballast"
    ballast.write_bytes(bytes(SIZE - free // 4096 * 4096))
    full = evaluate(disk / "out")
    ballast.unlink()
    kept = len(list(disk.glob("out/units/*.parquet")))
    again = evaluate(disk / "out")
    alike = again.status == 0 and same_results(disk / "out", whole)
    leftovers = list(disk.rglob("*.part"))
    well = full.refused_in_one_line and alike and not leftovers
    said = full.last or "nothing"
    print(f"{'well ' if well else 'WRONG'} {free:9,d} bytes free: {kept} units kept; said {said}", flush=True)
    return well
