"""What can go wrong by the user's hand. Each message is one line that says what to do."""


class LudusError(ValueError):
    """Any mistake in what Ludus was asked to do; the command line prints it and exits with 2."""


class UnknownGame(LudusError):
    """No built-in game, file or bridge has this name."""


class BadOption(LudusError):
    """A game's option is unknown or out of range."""


class BadPosition(LudusError):
    """A position's text cannot be read."""

    def __init__(self, message: str, place: int | None = None):
        """`place` counts characters of the text from 0; people read it counted from 1."""
        self.place = place
        super().__init__(message if place is None else f"position text, character {place + 1}: {message}")


class IllegalMove(LudusError):
    """The move is not legal in this position; the message says why."""


class BadAgent(LudusError):
    """An agent's name or budget cannot be understood, or the agent cannot play this game."""


class Unsuitable(LudusError):
    """The game lacks what the request needs, such as two players for the solver."""
