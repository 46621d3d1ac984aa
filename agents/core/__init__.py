"""Protocol with saving, kernel, knowledge, argument checks, and the registry with cards, which all agents share."""
