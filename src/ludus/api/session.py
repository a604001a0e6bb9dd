"""`ludus.Session`: a game under way, between people and agents.

    session = ludus.Session("connect4", ["human", "uct:1s"])
    session.play("d")          # the person's move
    session.think()            # the agent's move
    print(session.position, session.history)

Front ends show a session and hand the wishes of people to it. It decides nothing but what the rules decide.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ludus.agents.agent import Agent, Choice
from ludus.agents.asking import check_choice
from ludus.agents.budget import Budget
from ludus.agents.search import think
from ludus.api import events
from ludus.api.clock import Clocks, TimeControl, time_controls
from ludus.api.moves import MoveList
from ludus.api.record import read_record, write_record
from ludus.api.result import RESIGNATION, TIME, Result, result_by_agreement, result_by_loss
from ludus.api.seats import HUMAN, MakeAgent, OnSnapshot, Seat, Task, make_seated, refuse_programs, watcher
from ludus.api.session_view import SessionView
from ludus.errors import BadAgent, BadOption, IllegalMove
from ludus.game import Game, Position
from ludus.registry import make

if TYPE_CHECKING:
    from ludus.agents.snapshot import Snapshot
    from ludus.game import Action

ADVISER = "uct:10000"
"""The agent that gives hints, unless another is named."""


class Session(SessionView):
    """A game under way: seats, moves, undo and redo, clocks, resignation, and its record.

    It may be used from several threads. One lock protects it; every method is short but `think`, `advance`, `hint` and
    `prepare`, which let an agent work without the lock. `on_event` is called with objects of `ludus.api.events`, in
    order and while the lock is held: it must return soon and must not wait for another thread that uses the session.
    Snapshots of agents come without the lock.
    """

    def __init__(
        self,
        start: Position | Game | str,
        seats: Sequence[Agent | str] | None = None,
        *,
        text: str | None = None,
        moves: Sequence[str] = (),
        seed: int = 0,
        clocks: TimeControl | str | float | Sequence[TimeControl | str | float | None] | None = None,
        on_event: Callable[[events.Event], object] | None = None,
        monotonic: Callable[[], float] = time.monotonic,
        make_agent: MakeAgent = make_seated,
        is_late: Callable[[str], bool] = lambda name: False,
    ):
        """A game from `start`: a position with its history, a game, or a game's name.

        Of a game, it begins with the position that `text` describes, else with the first one, random set-ups drawn from
        `seed`; `moves` are played there. `seats`: for each player "human", the name of an agent, or an agent; all human
        by default. The agent of player p draws from `seed` + p. `clocks`: a time control for all, such as "5min+2s", or
        one or None for each player. The clocks stand still until the first move, or `resume`. `make_agent` makes the
        agents that are given by name; a front end that bounds what agents may use gives its own. All are made now, so
        that wrong ones are refused, but for those whose names `is_late` accepts: they are made when first needed.
        """
        game = make(start) if isinstance(start, str) else start if isinstance(start, Game) else start.game
        self.game: Game = game
        self.seed = seed
        self._lock = threading.RLock()
        self._on_event = on_event
        self._make_agent, self._is_late = make_agent, is_late
        position = start if isinstance(start, Position) else game.start(seed) if text is None else game.parse(text)
        for number, move in enumerate(moves, 1):
            try:
                position = position.play(move)
            except IllegalMove as error:
                raise IllegalMove(f"move {number}: {error}") from None
        self._moves = MoveList(position)
        self._draw_offers: set[int] = set()
        self._tasks: dict[int, Task] = {}
        self._advisers: dict[str, Agent] = {}
        self._clocks = Clocks(time_controls(clocks, game.players), monotonic)
        self._is_running = False
        """True while the clocks run of the players whose move is awaited."""
        given = [HUMAN] * game.players if seats is None else list(seats)
        if len(given) != game.players:
            raise BadOption(f"{game.name} has {game.players} players: a session needs as many seats, not {len(given)}")
        self._seats = [self._seat(player, seat) for player, seat in enumerate(given)]

    # --- moves --------------------------------------------------------------------------------------------------------

    def play(self, move: str | Action, player: int | None = None) -> Position:
        """Make a move, in notation or as an action id, for a player (by default the only one whose move is awaited).

        Where everyone moves at once it stays hidden until all have moved; a move of all players (a tuple of ids, or in
        notation joined by commas) is played at once. Playing after `undo` discards the moves that were undone. Returns
        the position after it.
        """
        with self._lock:
            self._need_game()
            for choice in self._moves.choices(move, player):
                self._submit(choice, self._seats[choice.player].name)
            return self.position

    def _submit(self, choice: Choice, by: str) -> None:
        """Take a legal move, and play it as soon as all have moved."""
        self.resume()
        self._clocks.run(player for player in self._clocks.running if player != choice.player)
        self._clocks.add_increment(choice.player)
        played = self._moves.submit(choice, by)
        if not played:
            self._run_clocks()
            self._emit(events.MoveHidden(choice.player))
            return
        self._draw_offers = set()
        ply = self._moves.plies[-1] = replace(self._moves.plies[-1], left=self._clocks.left)
        self._run_clocks()
        self._emit(events.MovePlayed(self.ply, ply.action, ply.move, self.position))
        if self.result is not None:
            self._emit(events.GameOver(self.result))

    def undo(self, plies: int = 1) -> None:
        """Go back by some moves. The end of the game by resignation, agreement or time counts as one of them."""
        with self._lock:
            back = plies - (self._moves.end is not None)
            if plies < 1 or back > self.ply:
                raise IllegalMove("there is no move to take back")
            self.jump(self.ply - back)

    def redo(self, plies: int = 1) -> None:
        """Play undone moves again."""
        with self._lock:
            if plies < 1 or self.ply + plies > len(self._moves.plies):
                raise IllegalMove("there is no undone move to play again")
            self.jump(self.ply + plies)

    def take_back(self, players: Sequence[int] | None = None) -> None:
        """Undo up to the last earlier position in which one of these players (by default people) had a choice."""
        with self._lock:
            self.jump(self._moves.last_choice_of(self.people if players is None else players))

    def jump(self, ply: int) -> None:
        """Go to the position after `ply` moves. All moves of the game stay, until another one is played there.

        The clocks show what they did then, and stand still until the next move or `resume`.
        """
        with self._lock:
            self._moves.go_to(ply)
            self._draw_offers = set()
            self._is_running = False
            left = self._moves.plies[ply - 1].left if ply else None
            self._clocks.set(left or (None,) * self.game.players)
            self._emit(events.PlyChanged(ply))

    def resign(self, player: int | None = None) -> None:
        """A player gives up and loses; by default the only one whose move is awaited."""
        with self._lock:
            self._need_game()
            loser = self._player(self._moves.awaited(None) if player is None else player)
            self._finish(result_by_loss(self.game, loser, RESIGNATION))

    def offer_draw(self, player: int) -> bool:
        """A person offers a draw, or accepts one: True if all people have, which ends the game.

        Only in zero-sum games without agents: an agent agrees to nothing. A move withdraws all offers.
        """
        with self._lock:
            self._need_game()
            if not self.game.zero_sum or len(self.people) < self.game.players:
                raise BadOption("a draw can be agreed only among people, and only in a zero-sum game")
            self._draw_offers.add(self._player(player))
            if len(self._draw_offers) < self.game.players:
                return False
            self._finish(result_by_agreement(self.game))
            return True

    def _finish(self, result: Result) -> None:
        self._moves.end, self._moves.hidden = result, {}
        self._run_clocks()
        self._emit(events.GameOver(result))

    def _need_game(self) -> None:
        self._check_flags()
        if self.result is not None:
            raise IllegalMove("the game is over; go back with undo to play on")

    def _player(self, player: int) -> int:
        if not 0 <= player < self.game.players:
            raise BadOption(f"there is no player {player}; players are numbered 0 to {self.game.players - 1}")
        return player

    # --- records ------------------------------------------------------------------------------------------------------

    def record(self) -> dict[str, Any]:
        """The whole game, ready for json.dumps: `from_record` goes on with it. Hidden moves are not in it."""
        with self._lock:
            return write_record(self._moves, self.seats, self.seed, self._clocks)

    @classmethod
    def from_record(
        cls,
        data: dict[str, Any] | str,
        game: Game | None = None,
        seats: Sequence[Agent | str] | None = None,
        trust: bool = False,
        **options: Any,
    ) -> Session:
        """The game that `record` wrote, as a dictionary or as JSON text, at the ply where it was, with clocks stopped.

        The game is made as the record says, unless it is given as `game`: a Python file that the record names is run
        only with `trust`. Agents are made when they are first asked for a move; external programs that the record names
        play only with `trust`. `seats` replaces those of the record; `options` are those of Session.
        """
        recorded = read_record(data, game, trust)
        session = cls(recorded.last, seats, seed=recorded.seed, clocks=recorded.clocks, **options)
        if seats is None:
            refused = not trust and session._make_agent is make_seated  # a caller's own function decides for itself
            session._seats = [
                Seat(name, refuse_programs(make_seated) if refused else session._make_agent) for name in recorded.seats
            ]  # not made: they may lie on another machine
        session._moves.plies = recorded.plies
        session._moves.go_to(recorded.ply)
        session._moves.end = recorded.end
        session._clocks.set(recorded.left)
        return session

    # --- clocks -------------------------------------------------------------------------------------------------------

    def resume(self) -> None:
        """Let the clocks run of all players whose move is awaited. The first move does it too."""
        with self._lock:
            self._is_running = True
            self._run_clocks()

    def pause(self) -> None:
        """Stop the clocks until the next move, or `resume`."""
        with self._lock:
            self._is_running = False
            self._run_clocks()

    def tick(self) -> tuple[float | None, ...]:
        """Read the clocks: the game ends if a player's time is up. A front end calls this a few times a second."""
        with self._lock:
            self._check_flags()
            left = self._clocks.left
            self._emit(events.ClockTicked(left, self._clocks.running))
            return left

    def _run_clocks(self) -> None:
        self._clocks.run(self.waiting_for if self._is_running else ())

    def _check_flags(self) -> None:
        loser = self._clocks.fallen()
        if loser is not None and self.result is None:
            self._finish(result_by_loss(self.game, loser, TIME))

    # --- agents -------------------------------------------------------------------------------------------------------

    def set_seat(self, player: int, seat: Agent | str) -> None:
        """Give a seat to a person or an agent, at any time. An agent that thinks for that seat is cancelled."""
        made = self._seat(self._player(player), seat)
        with self._lock:
            self._seats[player] = made
            self._emit(events.SeatChanged(player, made.name))

    def _seat(self, player: int, given: Agent | str) -> Seat:
        """A seat for a person or an agent, which is made now unless it is late."""
        seat = Seat(given, self._make_agent)
        is_late = isinstance(given, str) and not seat.is_person and self._is_late(given)
        return seat if is_late else seat.check(self.game, self.seed + player)

    def agent(self, player: int) -> Agent:
        """The agent in a seat, which is made now if it was not needed before. BadAgent if a person has the seat."""
        with self._lock:
            seat = self._seats[self._player(player)]
        return seat.make(self.game, self.seed + player)

    def prepare(self) -> None:
        """Get all agents ready for the game (compiling, loading). The clocks stand still meanwhile."""
        with self._lock:
            unready = [(player, seat) for player, seat in enumerate(self._seats) if not seat.is_ready]
            if not unready:
                return
            self._clocks.run(())
        try:
            for player, seat in unready:
                seat.make(self.game, self.seed + player).new_game(self.seed + player)
                seat.is_ready = True
        finally:
            with self._lock:
                self._run_clocks()

    def think(
        self,
        player: int | None = None,
        budget: Budget | str | int | None = None,
        on_snapshot: OnSnapshot | None = None,
        every: float = 0.1,
    ) -> Choice | None:
        """Let an agent whose move is awaited think, and play its move. Returns its choice.

        `player` is by default the only agent whose move is awaited. `budget` is by default a share of the clock, or the
        agent's own. `on_snapshot` and the event AgentThinks show a search every `every` seconds. `stop` makes the agent
        move at once. None if the move was not played: it was cancelled, or the game went on without it.
        """
        self.prepare()
        who, task = self._begin_task(player)

        def is_stopped() -> bool:
            self._check_clocks()
            return task.stop.is_set() or not self._is_wanted(task, who)

        def show(snapshot: Snapshot) -> None:
            if on_snapshot is not None:
                on_snapshot(snapshot)
            self._emit(events.AgentThinks(who, snapshot))

        try:
            agent = task.seat.make(self.game, self.seed + who)
            allowed = self._share_of_clock(who) if budget is None else budget
            choice, last = think(agent, task.position, allowed, who, watcher(show, every), is_stopped)
            choice = check_choice(task.position, agent, who, choice)
            show(last)
            with self._lock:
                self._check_flags()
                if task.cancelled or not self._is_wanted(task, who):
                    return None
                self._submit(choice, task.seat.name)
                return choice
        finally:
            with self._lock:
                del self._tasks[who]
                task.done.set()

    def _begin_task(self, player: int | None) -> tuple[int, Task]:
        """The player whose agent thinks now, and its task. Waits for the end of a task that is no longer wanted."""
        while True:
            with self._lock:
                self._need_game()
                agents = [each for each in self.waiting_for if not self._seats[each].is_person]
                who = self._moves.awaited(agents[0] if player is None and len(agents) == 1 else player)
                before = self._tasks.get(who)
                if before is None:
                    task = self._tasks[who] = Task(self.position, self._seats[who])
                    self.resume()
                    return who, task
                if self._is_wanted(before, who):
                    raise BadAgent(f"{self._seats[who].name} is thinking about this move already")
            before.done.wait()

    def _is_wanted(self, task: Task, player: int) -> bool:
        """True if the position and the seat are still those that an agent thinks about."""
        return (
            not task.cancelled
            and self._moves.end is None
            and self.position is task.position
            and player not in self._moves.hidden
            and self._seats[player] is task.seat
        )

    def _check_clocks(self) -> None:
        """Check the flags while an agent thinks, unless another thread holds the lock."""
        if self._lock.acquire(blocking=False):
            try:
                self._check_flags()
            finally:
                self._lock.release()

    def _share_of_clock(self, player: int) -> Budget | None:
        """A share of the player's clock, within the budget that the agent's name gives; None without a clock."""
        seconds = self._clocks.budget(player)
        if seconds is None:
            return None
        own = self._seats[player].budget or Budget(seconds=seconds)
        return Budget(own.simulations, min(seconds, own.seconds or seconds))

    def advance(self, on_snapshot: OnSnapshot | None = None) -> list[int]:
        """Let every agent move whose move is awaited. Returns the players that moved; none if a person must move, or
        the game is over."""
        agents = [player for player in self.waiting_for if player not in self.people]
        return [player for player in agents if self.think(player, on_snapshot=on_snapshot) is not None]

    def stop(self, player: int | None = None) -> None:
        """Make the agents that think (or one of them) move at once, with their best move so far."""
        with self._lock:
            for each, task in self._tasks.items():
                if player in (None, each):
                    task.stop.set()

    def cancel(self, player: int | None = None) -> None:
        """Make the agents that think (or one of them) stop, without a move."""
        with self._lock:
            for each, task in self._tasks.items():
                if player in (None, each):
                    task.cancelled = True

    def hint(
        self,
        player: int | None = None,
        agent: Agent | str = ADVISER,
        budget: Budget | str | int | None = None,
        on_snapshot: OnSnapshot | None = None,
        every: float = 0.1,
    ) -> Choice:
        """What an agent would play for a player whose move is awaited. Nothing is played."""
        with self._lock:
            self._need_game()
            player, position = self._moves.awaited(player), self.position
            if isinstance(agent, str):
                if agent not in self._advisers:
                    self._advisers[agent] = self._make_agent(agent, self.game, self.seed)
                agent = self._advisers[agent]
        watch = None if on_snapshot is None else watcher(on_snapshot, every)
        return think(agent, position, budget, player, watch, lambda: self.position is not position)[0]

    def _emit(self, event: events.Event) -> None:
        if self._on_event is not None:
            self._on_event(event)
