"""Read one position, and step to the next. The functions run as plain Python and compiled (see ludus.native)."""

from ludus.rules import EVERYONE, legal, observe, outcome, play, play_together, to_move


def inspect(rules, states, values, actions, counts):
    """Read states[0]: returns (is the game over, the player to move or EVERYONE).

    Fills `values` [players] if the game is over, else `actions` [players, most_legal] and `counts` [players].
    """
    state = states[0]
    mover = EVERYONE
    over = outcome(rules, state, values)
    if not over:
        mover = to_move(rules, state)
        for player in range(counts.size):
            if mover in (EVERYONE, player):
                counts[player] = legal(rules, state, player, actions[player])
    return over, mover


def step(rules, states, joint):
    """Play in states[0]: `joint` holds the mover's action, or one action for each player where everyone moves."""
    if to_move(rules, states[0]) == EVERYONE:
        play_together(rules, states[0], joint)
    else:
        play(rules, states[0], joint[0])


def view(rules, states, player, planes):
    """Write a network's input for states[0] from a player's view into `planes`, which is zeroed."""
    observe(rules, states[0], player, planes)
