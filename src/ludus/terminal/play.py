"""`ludus play`: a game between a person and agents, in the terminal. The game itself is a ludus.Session."""

from __future__ import annotations

from ludus.agents import Choice
from ludus.agents.human import Quit, list_moves, read_line
from ludus.agents.naming import names_a_program, parse
from ludus.api.seats import HUMAN
from ludus.api.session import ADVISER, Session
from ludus.errors import BadOption, LudusError
from ludus.game import Position
from ludus.terminal.show import complain, describe, in_a_row, terminal, thinking, thoughts, wrapped

HELP = """\
  {move:<8}a move, as the game writes them
  moves   all legal moves
  hint    what {adviser} would play in your place
  undo    take your last move back
  board   draw the board again, with its text for --position
  quit    leave"""


def play(start: Position, against: str, seat: int, seed: int = 0) -> None:
    """Play a game: the person in one seat and agents in the others; the person in all seats if `against` is human."""
    players = range(start.game.players)
    seats = [HUMAN if player == seat else against for player in players]
    PlayScreen(Session(start, seats, seed=seed), seat, against).run()


class PlayScreen:
    """Shows a session, and reads what the person types."""

    def __init__(self, session: Session, seat: int, against: str):
        self.session, self.seat = session, seat
        self.console = terminal()
        no_adviser = parse(against).kind in ("random", "greedy", "human") or names_a_program(against)
        self.adviser = ADVISER if no_adviser else against

    # --- the game -----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        session = self.session
        session.prepare()  # compiles before the first prompt
        yours = " and ".join(session.players[player] for player in session.people)
        others = "".join(
            f", {name} plays {session.players[player]}"
            for player, name in enumerate(session.seats)
            if player not in session.people
        )
        say(wrapped(f"{describe(session.game)}: you play {yours}{others}."))
        if session.result is not None:
            say(f"\n{session.position}\n\nThe game is over already. {session.result.text}")
            return
        say("Type a move, or help.\n")
        say(str(session.position))
        try:
            while not session.is_over:
                self.turn()
        except Quit:
            return
        say(f"\n{self.verdict()}")
        say(wrapped(f"Moves: {in_a_row(session.history)}"))

    def turn(self) -> None:
        """Handle one position: the moves of all players that move in it, and the board after them."""
        session, position = self.session, self.session.position
        for player in sorted(session.waiting_for, key=lambda player: player not in session.people):
            if player in session.people:
                self.ask(player)
            else:
                self.think(player)
            if session.position is not position:  # moved, or taken back
                break
        say(f"\n{session.position}")

    def think(self, player: int) -> None:
        session = self.session
        name, seat = session.players[player], session.seats[player]
        with thinking(self.console, f"{seat} ({name}) is thinking") as show:
            choice = session.think(player, on_snapshot=show)
        if choice is not None:
            about = thoughts(session.game, choice)
            say(wrapped(f"{seat} ({name}) plays {choice.move}" + (f": {about}" if about else "")))

    # --- the person ---------------------------------------------------------------------------------------------------

    def ask(self, player: int) -> None:
        """Read lines until one of them is a move, or takes one back."""
        session, position = self.session, self.session.position
        while True:
            typed = read_line(f"{session.players[player]}> ")
            try:
                match typed.lower():
                    case "":
                        continue
                    case "quit" | "exit":
                        raise Quit
                    case "help" | "?":
                        say(HELP.format(move=session.moves(player)[0], adviser=self.adviser))
                    case "moves":
                        say(list_moves(position, player))
                    case "board":
                        say(f"{position}\n{position.text}")
                    case "hint":
                        self.hint(player)
                    case "undo":
                        session.take_back()
                        return
                    case _:
                        session.play(typed, player)
                        return
            except LudusError as error:
                complain(error if typed.lower() == "undo" else f"{error} (help lists what can be typed)")

    def hint(self, player: int) -> None:
        try:
            with thinking(self.console, f"{self.adviser} is thinking for you") as show:
                choice: Choice = self.session.hint(player, self.adviser, on_snapshot=show)
        except LudusError as error:
            complain(f"no hint: {error}")
            return
        say(wrapped(f"{self.adviser} would play {choice.move}: {thoughts(self.session.game, choice)}"))

    def verdict(self) -> str:
        session = self.session
        assert session.result is not None
        value = session.result.values[self.seat]
        against_agents = len(session.people) < session.game.players
        if against_agents and session.game.players == 2 and session.game.zero_sum and value != 0:
            return f"You {'win' if value > 0 else 'lose'}: {session.result.text}"
        return session.result.text


def say(text: str) -> None:
    print(text, flush=True)


def find_seat(start: Position, text: str) -> int:
    """A seat by its number from 1, by the player's name, or as first, second ...: in the order in which they move."""
    game = start.game
    leader = max(start.to_move, 0)  # not always player 1
    words = ["first", "second", "third", "fourth", "fifth", "sixth"]
    names = [game.player_name(player).lower() for player in range(game.players)]
    wanted = text.strip().lower()
    for player in range(game.players):
        turn = (player - leader) % game.players
        if wanted in (str(player + 1), names[player], words[turn] if turn < len(words) else ""):
            return player
    raise BadOption(f"there is no seat {text!r}; seats are 1 to {game.players}, or {', '.join(names)}")
