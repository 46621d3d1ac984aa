"""What all agents share: the protocol, the kernel, knowledge, cards, argument checks, saving, the registry."""
