"""The command ``ns-mab-gym``: one module for each of its subcommands. The files of ``scripts/`` call them."""
