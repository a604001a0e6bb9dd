"""Tree search with a trained network, the method of AlphaZero.

zero                 the player that comes with Ludus for this game, 400 simulations a move
zero:level=2         the same, weaker: levels from 1 (a beginner) to 8 (full strength), at about equal steps of rating
zero:FILE.player     a packed player (ludus pack)
zero:RUN             the latest checkpoint of a run, 400 simulations a move
zero:RUN@40          checkpoint 40          zero:RUN:800   zero:RUN:2s   simulations or seconds a move
c=1.5                weight of the network's policy: more follows it further. A player that comes with Ludus has its
                     own default if matches showed that another weight suits it
fpu=0.2              how much worse than its parent a move without visits is taken to be: less tries more moves
transpositions=yes   positions that are reached in two ways share their statistics
temperature=0.5      draws the move in proportion to (visits and prior) ** (1 / temperature); 0 plays the best move
threads=2            threads that evaluate positions. By default one for each core; 1 in the games of a match or an
                     arena, where the other cores play other games
batch=8              the most positions that wait for the network at once; a search begins with one. By default 8 for
                     each thread, and 512 on a GPU or with engine=torch. With the same number, the moves do not depend
                     on the threads
engine=onnx          the engine that runs the network: cuda, int8, onnx (float32), torch; auto takes the fastest
memory=256MB  reuse=no   as for uct

The run may be one of another board size, if its network is free of sizes (`groups`, `graph`, or `residual` with
`size_free`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ludus.agents.budget import Budget
from ludus.agents.naming import number_from_0, size, whole_from_1, yes_or_no
from ludus.agents.search import SearchAgent
from ludus.errors import BadAgent
from ludus.machine import usual_threads

if TYPE_CHECKING:
    from ludus.agents.naming import Spec
    from ludus.game import Game
    from ludus.runs.players import Player
    from ludus.search.forest import Evaluator, Forest


BUDGET = Budget(simulations=400)
MOST_WAITING = 512
"""Positions that may wait for an evaluator that does not cut batches into chunks."""
GROWTH = 16
"""One position in this many simulations may wait for the network: more would be chosen before their siblings are
known."""


class ZeroAgent(SearchAgent):
    """PUCT over the policy and the values of a network."""

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        name: str = "zero",
        budget: Budget | None = None,
        seed: int = 0,
        c: float = 1.5,
        memory: int = 1 << 28,
        reuse: bool = True,
        batch: int | None = None,
        temperature: float = 0.0,
        fpu: float = 0.2,
        transpositions: bool = False,
    ):
        super().__init__(game, name, budget or BUDGET, seed, reuse)
        self.temperature = temperature
        self.fpu, self.transpositions = fpu, transpositions
        self.evaluator, self.c, self.memory = evaluator, c, memory
        self.batch = usual_batch(evaluator) if batch is None else batch

    def make_forest(self, nodes: int | None) -> Forest:
        from ludus.search.forest import Forest
        from ludus.search.puct import Puct

        return Forest(
            self.game,
            Puct(self.c, self.fpu),
            nodes=nodes,
            transpositions=self.transpositions,
            memory=self.memory,
            batch=self.batch if nodes is None else min(self.batch, 1 + nodes // GROWTH),
            growth=GROWTH,
            seed=self.seed,
        )


def usual_batch(evaluator: Evaluator) -> int:
    """The most positions that wait for an evaluator: as few as keep all its threads busy.

    With more, a search would have to choose without knowing what it waits for.
    """
    from ludus.search.spread import Spread

    if not isinstance(evaluator, Spread):
        return MOST_WAITING
    return min(MOST_WAITING, (1 + evaluator.helpers) * evaluator.chunk)


def player_of(spec: Spec, game: Game) -> Player:
    """The player that an agent's name gives (see runs/players.py)."""
    from ludus.runs.players import find_player

    return find_player(player_named(spec), game)


def evaluator_of(player: Player, game: Game, engine: str) -> Any:
    """The evaluator of a search by a player."""
    from ludus.nets.calibrating import make_playing_evaluator

    return make_playing_evaluator(game, player.load()[0], engine)


def defaults_for(player: Player) -> dict[str, Any]:
    """The defaults of options that depend on the player."""
    from ludus.runs.levels import policy_weight_of

    return {"c": policy_weight_of(player.file)}


def player_named(spec: Spec) -> str | None:
    """The run or the file that an agent's name gives; None if it gives none."""
    whole = ":".join(spec.words)  # a path may have colons
    if len(spec.words) > 1 and Path(whole.partition("@")[0]).exists():
        return whole
    if len(spec.words) > 1:
        raise BadAgent(f"{spec.text}: name one run, as in {spec.kind}:runs/connect4")
    return spec.words[0] if spec.words else None


def engine_name(text: str) -> str:
    from ludus.nets.engines import ENGINE_NAMES

    if text not in ENGINE_NAMES:
        raise ValueError(f"one of {', '.join(ENGINE_NAMES)}")
    return text


def level_number(text: str) -> int:
    from ludus.runs.levels import COUNT

    if not text.isdecimal() or not 1 <= int(text) <= COUNT:
        raise ValueError(f"from 1 to {COUNT}")
    return int(text)


SEARCH_OPTIONS = {
    "c": number_from_0,
    "memory": size,
    "reuse": yes_or_no,
    "batch": whole_from_1,
    "engine": engine_name,
    "fpu": number_from_0,
    "transpositions": yes_or_no,
}

OPTIONS = {
    **SEARCH_OPTIONS,
    "temperature": number_from_0,
    "threads": whole_from_1,
    "level": level_number,
}


def make(spec: Spec, game: Game, seed: int) -> ZeroAgent:
    from ludus.runs.levels import levels_of

    player = player_of(spec, game)
    options = defaults_for(player) | spec.read_options(OPTIONS)
    budget = spec.budget
    level = options.pop("level", None)
    if level is not None:
        if budget is not None or "temperature" in options:
            raise BadAgent(f"{spec.text}: give a level, or a budget and a temperature, not both")
        strength = levels_of(player.file)[level - 1]
        budget, options["temperature"] = Budget(simulations=strength.simulations), strength.temperature
    evaluator = evaluator_of(player, game, options.pop("engine", "auto"))
    threads = (options.pop("threads", 0) or usual_threads()) if game.parallel else 1
    return ZeroAgent(game, evaluator.spread(threads), spec.text, budget, seed, **options)


def default_opponent(game: Game) -> str:
    """The agent that plays if the user names none: the player that comes with Ludus, else uct:10000."""
    from ludus.runs.players import shipped_player

    return "zero" if shipped_player(game) is not None else "uct:10000"
