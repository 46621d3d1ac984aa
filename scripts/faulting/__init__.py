"""Faults on purpose: what ``scripts/faults.py`` tries."""
