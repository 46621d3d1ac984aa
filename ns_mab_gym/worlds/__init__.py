"""Non-stationary multi-armed bandits."""
