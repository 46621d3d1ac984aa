"""Who does the work: threads, processes or a Dask cluster, and the dispatcher that hands it out."""

from .crew import Crew, WorkforceError, WorkforceLostError
from .dispatching import RETRIES, Arrived, Failed, dispatch
from .hiring import EXECUTORS, hired
from .parcels import Job, Trouble, UnfitWorkerError

__all__ = [
    "EXECUTORS",
    "RETRIES",
    "Arrived",
    "Crew",
    "Failed",
    "Job",
    "Trouble",
    "UnfitWorkerError",
    "WorkforceError",
    "WorkforceLostError",
    "dispatch",
    "hired",
]
