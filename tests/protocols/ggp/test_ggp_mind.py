"""The process that thinks for a player: what it compiles before a match needs it."""

import threading
from types import SimpleNamespace

import numba
import pytest

from ludus.protocols import ggp_learning, ggp_mind
from ludus.protocols.ggp_mind import FIRST_KINDS, KINDS, game_of_kind, warm_up
from ludus.search.forest import Forest


@pytest.mark.parametrize(("players", "at_once"), KINDS)
@pytest.mark.parametrize("reasoner", [False, True])
def test_a_game_of_each_kind_has_its_players_and_its_order(players, at_once, reasoner):
    game = game_of_kind(players, at_once, reasoner)
    # The reasoner does not prove that roles take turns.
    assert (game.players, game.simultaneous) == (players, players > 1 if reasoner else at_once)


def types_of_a_search(game):
    """What the machine code of searches depends on."""
    forest = Forest(game, nodes=2)
    return tuple(map(numba.typeof, (game.rules, forest.trees, forest.buffer, forest._values)))


def test_games_of_up_to_16_players_have_the_machine_code_of_the_kinds():
    for reasoner in (False, True):
        known = {types_of_a_search(game_of_kind(*kind, reasoner)) for kind in KINDS}
        for players in (4, 6, 7, 12, 16):
            for at_once in (False, True):
                assert types_of_a_search(game_of_kind(players, at_once, reasoner)) in known


def test_a_tree_of_a_game_of_16_players_fits_in_the_usual_memory():
    forest = Forest(game_of_kind(16, True, reasoner=True), memory=1 << 28)
    assert forest.bytes <= 1 << 28
    assert len(forest.trees.nodes) > 1000


def test_a_match_that_compiles_is_over_at_once_and_its_work_is_not_lost():
    sent = []
    mind, compiling = ggp_mind.Mind(sent.append), threading.Event()
    thought = SimpleNamespace(threads=[threading.Thread(target=compiling.wait, daemon=True)], is_compiling=False)
    thought.threads[0].start()
    resting = threading.Thread(target=mind._rest, args=(7, thought), daemon=True)
    resting.start()
    resting.join(0.2)
    assert sent == []
    thought.is_compiling = True
    resting.join(10.0)
    assert sent == [["idle", 7]]
    assert thought.threads[0].is_alive()
    compiling.set()


def test_kinds_beyond_the_first_are_compiled_while_there_is_no_match(monkeypatch):
    compiled, learned, sent, idle = [], [], [], threading.Event()
    began, all_done = threading.Event(), threading.Event()

    def make_agent(name, game):
        compiled.append(game.players)
        return SimpleNamespace(new_game=lambda seed: None)

    monkeypatch.setattr(ggp_mind, "make_agent", make_agent)
    monkeypatch.setattr(ggp_mind, "game_of_kind", lambda players, at_once, reasoner=False: game(players))
    monkeypatch.setattr(ggp_mind, "Line", lambda game: SimpleNamespace(moves=lambda player: []))
    monkeypatch.setattr(ggp_learning, "warm_up", lambda game: learned.append(game.players) or began.set())
    game = lambda players: SimpleNamespace(players=players)  # noqa: E731

    def run():
        warm_up(sent.append, True, idle)
        all_done.set()

    threading.Thread(target=run, daemon=True).start()
    assert began.wait(10.0)
    assert sent == [["warm"]]
    assert not all_done.wait(0.05)
    assert compiled == [players for players, _ in KINDS[:FIRST_KINDS] for _ in range(2)]
    idle.set()
    assert all_done.wait(10.0)
    assert compiled == [players for players, _ in KINDS for _ in range(2)]
    assert learned == [players for players, _ in KINDS]
