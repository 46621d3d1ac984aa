"""Agents of a user's that other processes can import."""


class InTurn:
    """Plays one arm after another."""

    def __init__(self, n_arms):
        self.n_arms = n_arms

    def reset(self, seed=None):
        self.rounds = 0

    def act(self, observation=None):
        return self.rounds % self.n_arms

    def observe(self, arm, reward):
        self.rounds += 1


class Broken(InTurn):
    """Has no idea in round 5."""

    def act(self, observation=None):
        if self.rounds == 4:
            raise LookupError("no idea")
        return super().act()
