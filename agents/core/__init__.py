"""What every agent stands on: the protocol, the kernel, knowledge, cards, argument checks, saving, the registry."""
