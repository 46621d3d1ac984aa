"""Protocol, kernel, knowledge, cards, argument checks, saving and the registry, which all agents share."""
