"""The best parameters of an agent, and the best agent for a world, found by racing on common luck."""
