"""Which algorithm, with which parameters: comparisons, sweeps, tuning and advice."""
