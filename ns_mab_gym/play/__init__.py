"""Playing: the episode loop for any environment, and the compiled engine that gives the same trajectories."""
