"""Playing: the episode loop on any environment, and the compiled engine that gives the same trajectories."""
