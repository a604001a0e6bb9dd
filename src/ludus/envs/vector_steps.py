"""Many games advanced in one call of compiled code.

Shapes use B games, P players, A actions, R = most_legal.
"""

from ludus.native import below, intensive_kernel, kernel, part
from ludus.rules import EVERYONE, legal, observe, outcome, play, play_together, reset, to_move
from ludus.search.random_play import play_random_move

ALTERNATE, RANDOM, SELF_PLAY = -1, -2, -3
"""How the learner's seat of the next game is chosen. In self-play the learner plays all seats."""


@part
def play_to_turn(rules, state, random, seat, self_play, actions, joint, values):
    """Play random moves for the other players up to the learner's next choice; returns True if the game is over.

    In self-play nothing is played. At the end of the game its result is in values [P]. Scratch: actions [R], joint [P].
    """
    while not outcome(rules, state, values):
        mover = to_move(rules, state)
        if self_play or mover == seat or (mover == EVERYONE and legal(rules, state, seat, actions) > 0):
            return False
        play_random_move(rules, state, random, actions, joint)
    return True


@part
def begin_game(rules, states, random, seats, i, seating, beginnings, actions, joint, values):
    """Begin game i anew and play up to the learner's first choice; returns False if there is none."""
    if seating == ALTERNATE:
        seats[i] = (seats[i] + 1) % joint.size
    for _ in range(beginnings):
        if seating == RANDOM:
            seats[i] = below(random[i], joint.size)
        reset(rules, states[i], random[i])
        if not play_to_turn(rules, states[i], random[i], seats[i], seating == SELF_PLAY, actions, joint, values):
            return True
    return False


@part
def show(rules, states, seats, i, seating, observations, masks, actions):
    """Write the learner's observation of game i into observations[i], which is zeroed, and its legal actions."""
    if seating == SELF_PLAY:
        seats[i] = to_move(rules, states[i])
    observe(rules, states[i], seats[i], observations[i])
    masks[i, :] = False
    for k in range(legal(rules, states[i], seats[i], actions)):
        masks[i, actions[k]] = True


@kernel
def begin_games(
    rules, states, random, seats, seating, beginnings, wanted, observations, masks, ended, actions, joint, values
):
    """Begin the games of wanted bool [B]. Returns False if a learner gets no turn in `beginnings` attempts.

    Fills observations float32 [B, ...], which is zeroed, masks bool [B, A], seats int64 [B] and ended bool [B] of all B
    games. Scratch: actions [R], joint [P], values [P].
    """
    for i in range(seats.size):
        if wanted[i]:
            if not begin_game(rules, states, random, seats, i, seating, beginnings, actions, joint, values):
                return False
            ended[i] = False
        if ended[i]:
            observe(rules, states[i], seats[i], observations[i])
        else:
            show(rules, states, seats, i, seating, observations, masks, actions)
    return True


@intensive_kernel
def step_games(
    rules,
    states,
    random,
    seats,
    seating,
    beginnings,
    same_step,
    chosen,
    observations,
    masks,
    ended,
    rewards,
    terminated,
    results,
    final_observations,
    players,
    illegal,
    actions,
    joint,
    values,
):
    """Advance all B games to the learner's next choice. Returns as `begin_games` does.

    The learner plays chosen int64 [B]; the other players play random moves. An action outside masks bool [B, A] ends
    the game: illegal bool [B] is set, and the learner's result is -1 and the others' 0. Where a game ends, rewards
    float64 [B] is the result of the player who acted, players int64 [B], and results float32 [B, P] has all results.
    With `same_step` the next game begins at once, and final_observations float32 [B, ...] has the end of the last one
    in the view of that player; else the next call begins it and ignores the action. observations and rewards are
    zeroed.
    Scratch: actions [R], joint [P], values [P].
    """
    self_play = seating == SELF_PLAY
    for i in range(seats.size):
        state = states[i]
        terminated[i] = False
        illegal[i] = False
        players[i] = seats[i]
        over = False
        if not ended[i]:
            seat, action = seats[i], chosen[i]
            if action < 0 or action >= masks.shape[1] or not masks[i, action]:
                illegal[i] = True
                over = True
                values[:] = 0.0
                values[seat] = -1.0
            else:
                if to_move(rules, state) != EVERYONE:
                    play(rules, state, action)
                else:
                    for player in range(joint.size):
                        count = legal(rules, state, player, actions)
                        joint[player] = actions[below(random[i], count)] if count > 0 else -1
                    joint[seat] = action
                    play_together(rules, state, joint)
                over = play_to_turn(rules, state, random[i], seat, self_play, actions, joint, values)
            if over:
                terminated[i] = True
                rewards[i] = values[seat]
                for player in range(joint.size):
                    results[i, player] = values[player]
                if same_step:
                    final_observations[i].fill(0.0)
                    observe(rules, state, seat, final_observations[i])
        if ended[i] or (over and same_step):
            if not begin_game(rules, states, random, seats, i, seating, beginnings, actions, joint, values):
                return False
            over = False
        ended[i] = over
        if over:
            observe(rules, state, seats[i], observations[i])
            masks[i, :] = False
        else:
            show(rules, states, seats, i, seating, observations, masks, actions)
    return True
