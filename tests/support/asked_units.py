"""The units that a study asks for, without any of what is done to list each of them once and fast."""

from __future__ import annotations

from ns_mab_gym.studies.study import Study, Unit, blocks_of


def asked_one_by_one(study: Study) -> list[Unit]:
    """The units of every agent on every world of every experiment, in turn; some may be there several times."""
    return [
        unit
        for experiment in study.experiments
        for world in experiment.worlds
        for agent in experiment.agents
        for unit in blocks_of(experiment, world, agent)
    ]
