"""Logs of decisions and their rewards: drift beside chance, worlds made from a log, and replay of agents on it."""

from . import examples as examples
