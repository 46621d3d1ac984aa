"""What algorithms are made of: memories, races between posteriors, indices, weights, forced play."""
