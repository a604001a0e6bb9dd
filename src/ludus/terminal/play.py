"""`ludus play`: a person against agents, in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from ludus.agents import Agent, Choice, make_agent
from ludus.agents.human import HumanAgent, Quit, list_moves, read_line, read_move
from ludus.agents.naming import parse
from ludus.errors import BadOption, LudusError
from ludus.game import Game, Position
from ludus.rules import EVERYONE
from ludus.terminal.show import complain, describe, in_a_row, terminal, thinking, thoughts, winner, wrapped

ADVISER = "uct:10000"
"""Who gives hints where the opponent has none to give."""

HELP = """\
  {move:<8}a move, as the game writes them
  moves   all legal moves
  hint    what {adviser} would play in your place
  undo    take your last move back
  board   draw the board again, with its text for --position
  quit    leave"""


class Session:
    """One game: the person in one seat, or in all where the opponent is a human too, and agents in the others."""

    def __init__(self, start: Position, against: str, seat: int, seed: int = 0):
        self.game: Game = start.game
        self.position = start
        self.seat = seat
        self.against = against
        self.seed = seed
        self.console = terminal()
        self.agents: dict[int, Agent] = {}
        for player in range(self.game.players):
            agent = make_agent(against, self.game, seed + player)
            if player != seat and not isinstance(agent, HumanAgent):
                self.agents[player] = agent
        self.adviser: Agent | None = None

    # --- the game -----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        for player, agent in self.agents.items():
            agent.new_game(self.seed + player)  # compiles before the first prompt
        names = [self.game.player_name(player) for player in range(self.game.players)]
        yours = " and ".join(name for player, name in enumerate(names) if player not in self.agents)
        others = "".join(f", {agent.name} plays {names[player]}" for player, agent in self.agents.items())
        self.say(wrapped(f"{describe(self.game)}: you play {yours}{others}."))
        if self.position.is_over:
            self.say(f"\n{self.position}\n\nThe game is over already. {winner(self.position)}")
            return
        self.say("Type a move, or help.\n")
        self.say(str(self.position))
        try:
            while not self.position.is_over:
                self.turn()
        except Quit:
            return
        self.say(f"\n{self.verdict()}")
        self.say(wrapped(f"Moves: {in_a_row(self.position.played)}"))

    def turn(self) -> None:
        """One move: of the one whose turn it is, or of everyone, none of them seeing what the others do."""
        position = self.position
        movers = [player for player in range(self.game.players) if position.actions_of(player)]
        joint = [-1] * self.game.players
        for player in sorted(movers, key=self.agents.__contains__):  # people first: who thinks long must not wait
            agent = self.agents.get(player)
            action = self.ask(player) if agent is None else self.think(agent, position, player).action
            if action is None:
                return
            joint[player] = action
        self.position = position.play(tuple(joint) if position.to_move == EVERYONE else joint[position.to_move])
        self.say(f"\n{self.position}")

    def think(self, agent: Agent, position: Position, player: int) -> Choice:
        name = self.game.player_name(player)
        with thinking(self.console, f"{agent.name} ({name}) is thinking") as report:
            choice = agent.choose(position, None, player, report)
        about = thoughts(self.game, choice)
        self.say(wrapped(f"{agent.name} ({name}) plays {choice.move}" + (f": {about}" if about else "")))
        return choice

    # --- the person ---------------------------------------------------------------------------------------------------

    def ask(self, player: int) -> int | None:
        """The person's action; None after an undo."""
        position = self.position
        while True:
            typed = read_line(f"{self.game.player_name(player)}> ")
            match typed.lower():
                case "":
                    continue
                case "quit" | "exit":
                    raise Quit
                case "help" | "?":
                    example = self.game.write_move(position.state, player, position.actions_of(player)[0])
                    self.say(HELP.format(move=example, adviser=self.adviser_name()))
                case "moves":
                    self.say(list_moves(position, player))
                case "board":
                    self.say(f"{position}\n{position.text}")
                case "hint":
                    self.hint(player)
                case "undo":
                    if self.undo():
                        return None
                case _:
                    try:
                        return read_move(position, player, typed)
                    except LudusError as error:
                        complain(f"{error} (help lists what can be typed)")

    def undo(self) -> bool:
        """Go back to where a person last had a choice."""
        people = [player for player in range(self.game.players) if player not in self.agents]
        position = self.position.parent
        while position is not None and not any(position.actions_of(player) for player in people):
            position = position.parent
        if position is None:
            complain("there is no move of yours to take back")
            return False
        self.position = position
        self.say(f"\n{position}")
        return True

    def hint(self, player: int) -> None:
        try:
            if self.adviser is None:
                self.adviser = make_agent(self.adviser_name(), self.game, self.seed)
                self.adviser.new_game(self.seed)
            with thinking(self.console, f"{self.adviser.name} is thinking for you") as report:
                choice = self.adviser.choose(self.position, None, player, report)
        except LudusError as error:
            complain(f"no hint: {error}")
            return
        self.say(wrapped(f"{self.adviser.name} would play {choice.move}: {thoughts(self.game, choice)}"))

    def adviser_name(self) -> str:
        return self.against if parse(self.against).kind not in ("random", "greedy", "human") else ADVISER

    def verdict(self) -> str:
        value = self.position.values[self.seat]
        if self.agents and self.game.players == 2 and self.game.zero_sum and value != 0:
            return f"You {'win' if value > 0 else 'lose'}: {winner(self.position)}"
        return winner(self.position)

    def say(self, text: str) -> None:
        print(text, flush=True)


def find_seat(start: Position, text: str) -> int:
    """A seat by its number from 1, by the player's name, or as first, second ...: in the order in which they move."""
    game = start.game
    leader = max(start.to_move, 0)  # not always player 1
    words = ["first", "second", "third", "fourth", "fifth", "sixth"]
    names: Sequence[str] = [game.player_name(player).lower() for player in range(game.players)]
    wanted = text.strip().lower()
    for player in range(game.players):
        turn = (player - leader) % game.players
        if wanted in (str(player + 1), names[player], words[turn] if turn < len(words) else ""):
            return player
    raise BadOption(f"there is no seat {text!r}; seats are 1 to {game.players}, or {', '.join(names)}")
