"""Agents of a user's that other processes can import."""


class Still:
    """Plays one arm for ever, the first unless told otherwise."""

    def __init__(self, n_arms=2, arm=0):
        self.n_arms, self.arm = n_arms, arm

    def reset(self, seed=None):
        pass

    def act(self, observation=None):
        return self.arm

    def observe(self, arm, reward):
        pass


class InTurn(Still):
    """Plays one arm after another."""

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
