"""What the pages say about the cost of large studies: storing units, handing them out, and a hundred workers."""

from __future__ import annotations

from quoting.markdown import Figures, table

__all__ = ["large_study", "stored", "tiny_units", "workers"]


def stored(figures: Figures) -> str:
    """What a tiny unit costs in the store, alone and with others, and what a start costs with very many stored."""
    measured = figures["stored"]["figures"]
    files = [
        (units, *(f"{each[name]:,.0f}" for name in ("bytes", "encoding", "taking", "loading")))
        for units, each in measured["files"].items()
    ]
    starts = [
        (
            f"{int(units):,}",
            *(f"{each[name]:.1f}" for name in ("opening", "tidying", "looking_up")),
            f"{each['megabytes']:,.0f}",
        )
        for units, each in measured["starts"].items()
    ]
    costs = table(("units in a file", "bytes", "µs to encode", "µs to store", "µs to load"), files)
    header = ("units stored", "s to open", "s to tidy", "s to look all up", "MB beside the units themselves")
    return f"{costs}\n\n{table(header, starts)}"


def tiny_units(figures: Figures) -> str:
    """What very many tiny units cost beside the work itself, and the memory that the command takes for them."""
    measured = figures["tiny_units"]["figures"]
    rows = [
        (f"`{executor}`", *(f"{each[name]:.2f}" for name in ("wall", "overhead")), f"{each['megabytes']:+.0f}")
        for executor, each in measured.items()
    ]
    return table(("executor", "ms a unit", "of which overhead", "MB of memory"), rows)


def workers(figures: Figures) -> str:
    """A hundred workers whose units sleep, beside the model, and the overheads from which the model computes."""
    measured = figures["workers"]["figures"]
    rows = [
        (
            kind,
            f"{row['seconds'] * 1e3:,.0f} ms",
            f"{row['number']:,}",
            f"{row['tasks']:,}",
            f"{row['number'] / row['wall']:,.0f}",
            f"{(row['wall'] - row['ideal']) / row['number'] * 1e3:.2g} ms",
            f"{row['ideal'] / row['wall']:.0%}",
            f"{row['wall']:.1f} s",
            f"{row['model']:.1f} s ({row['model'] / row['wall'] - 1:+.0%})",
        )
        for kind, each in measured["kinds"].items()
        for row in each["rows"]
    ]
    header = ("workers", "a unit", "units", "tasks", "units/s", "overhead per unit", "efficiency", "took", "model")
    costs = [
        (kind, words, f"{cost['task'] * 1e3:.1f} ms", f"{cost['unit'] * 1e6:.0f} µs", f"{cost['byte'] * 1e9:.1f} ms")
        for kind, each in measured["kinds"].items()
        for words, cost in zip(("its processor", "its writing thread"), each["overhead"].values(), strict=False)
    ]
    second = table(("workers", "what the coordinator takes", "for a task", "for a unit", "for a megabyte"), costs)
    return f"{table(header, rows)}\n\n{second}"


def large_study(figures: Figures) -> str:
    """What the model says of a study that is too large for one machine."""
    study = figures["workers"]["figures"]["study"]
    hours, gigabytes = study["number"] * study["seconds"] / 3600, study["number"] * study["size"] / 1e9
    said = (
        f"{study['runs']:,} runs of {study['rounds']:,} rounds are {study['number']:,} units of {study['seconds']:.2f} "
        f"seconds ({study['seconds'] / study['steps'] * 1e6:.2f} µs per step on one core, the mean of "
        f"{study['agents']} agents): {hours:,.0f} hours of a core, and {gigabytes:,.0f} GB on disk, "
        f"{study['size'] / 1e3:.0f} kB for each unit."
    )
    rows = [
        (
            f"{int(number):,}",
            str(row["units_per_task"]),
            f"{row['hours']:,.1f} h",
            f"{row['coordinator']:.0%}",
            f"{row['megabytes_per_second']:,.1f}",
        )
        for number, row in study["workers"].items()
    ]
    header = ("workers", "units in a task", "time", "coordinator busy", "MB/s written")
    return f"{said}\n\n{table(header, rows)}"
