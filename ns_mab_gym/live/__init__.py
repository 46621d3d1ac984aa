"""Agents in service: decisions and rewards that outlive every crash, in a database file."""
