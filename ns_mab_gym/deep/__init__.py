"""Trains deep agents into a folder and judges them beside the zoo: ``ns-mab-gym train``, without its words."""
