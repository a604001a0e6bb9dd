"""Arguments that several commands share."""

import ludus
from ludus.terminal.commands.arguments import start_of


def test_commands_take_moves_with_spaces():
    game = ludus.make("gdl:tictactoe")
    assert start_of(game, None, "(mark 1 1); (mark 2 2)").played == ["(mark 1 1)", "(mark 2 2)"]
    assert start_of(game, None, "(mark 1 1);").played == ["(mark 1 1)"]
