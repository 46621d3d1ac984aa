"""The command ``ns-mab-gym``: one module for each of its subcommands. ``scripts/`` are thin doors to them."""
