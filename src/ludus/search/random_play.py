"""Random play: one random move, whole random games, and new games that begin with random moves."""

from ludus.native import below, intensive_kernel, kernel, part
from ludus.rules import EVERYONE, cut_off, legal, outcome, play, play_together, playout, reset, to_move
from ludus.search.tree import copy_state


@part
def play_joint(rules, state, joint):
    """Play joint[0] where one player moves, or joint [P], one action for each player, where all move at once."""
    if to_move(rules, state) == EVERYONE:
        play_together(rules, state, joint)
    else:
        play(rules, state, joint[0])


@part
def play_random_move(rules, state, random, actions, joint):
    """Play a random legal move, one for each player where all move at once. Scratch: actions [R], joint [P]."""
    mover = to_move(rules, state)
    if mover != EVERYONE:
        count = legal(rules, state, mover, actions)
        play(rules, state, actions[below(random, count)])
    else:
        for player in range(joint.size):
            count = legal(rules, state, player, actions)
            joint[player] = actions[below(random, count)] if count > 0 else -1
        play_together(rules, state, joint)


@part
def play_out(rules, state, random, actions, joint, values):
    """Play random moves to the end of the game and write its result to values [P]. Scratch: actions [R], joint [P].

    A game may end it earlier with an estimate (`cut_off`).
    """
    if playout(rules, state, random, values):
        return
    plies = 0
    while not outcome(rules, state, values) and not cut_off(rules, state, plies, values):
        play_random_move(rules, state, random, actions, joint)
        plies += 1


@intensive_kernel
def play_games(rules, start, states, random, actions, joint, values, count):
    """Play `count` random games from start[0] to the end. Scratch: states [1], actions [R], joint [P], values [P]."""
    for _ in range(count):
        copy_state(states, 0, start, 0)
        play_out(rules, states[0], random, actions, joint, values)


@kernel
def count_plies(rules, states, random, actions, joint, values, count):
    """The plies of `count` random games. Scratch: states [1], actions [R], joint [P], values [P]."""
    plies = 0
    for _ in range(count):
        reset(rules, states[0], random)
        while not outcome(rules, states[0], values):
            play_random_move(rules, states[0], random, actions, joint)
            plies += 1
    return plies


@kernel
def begin_games(rules, states, random, which, max_plies, actions, joint, values):
    """Begin a new game in states[i] wherever which[i] is True: states [B], random uint64 [B, 1], which bool [B].

    Each game begins with 0 to `max_plies` random moves; a game that ends within them is begun again. Scratch: actions
    [R], joint [P], values [P].
    """
    for i in range(which.size):
        while which[i]:
            reset(rules, states[i], random[i])
            for _ in range(below(random[i], max_plies + 1)):
                if not outcome(rules, states[i], values):
                    play_random_move(rules, states[i], random[i], actions, joint)
            if not outcome(rules, states[i], values):
                break
