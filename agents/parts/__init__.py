"""Parts of which algorithms are made: memories, races between posteriors, indices, weights, forced play."""
