"""The table of where learning wins: what is trained and played, and how the numbers of it come about."""
