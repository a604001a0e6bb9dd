"""The promises of a game about every position. Each is a function that raises BrokenPromise if it is broken."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ludus import rules as generic
from ludus.board import board_json
from ludus.errors import IllegalMove, LudusError
from ludus.game import Position
from ludus.rng import generator
from ludus.rules import EVERYONE
from ludus.testing.estimate_promises import estimate_of, heuristics_of
from ludus.testing.group_promises import groups_of, touched_by
from ludus.testing.lockstep import (
    CLOSE,
    BrokenPromise,
    Guarded,
    Lockstep,
    Way,
    difference,
    guarded,
    guarded_states,
    some_symmetries,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNWRITTEN = -(10**9)
"""Content of `actions` before the game writes into it."""


@dataclass
class Facts:
    """The answers of the rules about a position."""

    over: bool
    mover: int
    values: tuple[float, ...]
    legal: tuple[tuple[int, ...], ...]

    def agrees(self, other: Facts) -> bool:
        """True if everything except the legal actions is the same."""
        same = (self.over, self.mover) == (other.over, other.mover)
        return same and np.allclose(self.values, other.values, rtol=0, atol=CLOSE)


# --- The beginning ----------------------------------------------------------------------------------------------------


def check_reset(run: Lockstep) -> None:
    """Check `reset`: begin a game in all ways, over random bytes."""
    clean = run.game.new_states(1)
    word = generator(run.seed, run.number)
    with run.blame("reset", run.plain):
        run.plain.call("reset", clean, word)
    run.shown = clean.copy()
    for way in run.ways:
        for empty in (True, True, True, False):  # repeated, to find a reset that uses an rng of its own
            way.guarded = guarded_states(run.game) if empty else guarded_states(run.game, run.choose)
            random = generator(run.seed, run.number)
            with run.blame("reset", way):
                way.call("reset", way.states, random)
            run.check_margins(way, "reset", way.guarded)
            if way.states.tobytes() != clean.tobytes():
                where = f"in {way.label} {difference(clean, way.states)}"
                if empty:
                    raise run.broken(f"reset must give the same state for the same seed; {where}")
                raise run.broken(f"reset must write the whole state, whatever was there before; {where}")
            if random[0] != word[0]:
                raise run.broken(f"reset must draw the same random numbers each time; in {way.label} it does not")


# --- Queries of the search --------------------------------------------------------------------------------------------


def facts_of(run: Lockstep, states: NDArray[Any]) -> Facts:
    """The facts in plain Python. Each function is called by itself, so that the message can name it."""
    game = run.game
    values = guarded((game.players,), np.float32, math.nan)
    with run.asking("outcome", states), np.errstate(over="ignore"):
        answer = generic.outcome(game.rules, game.state_view(states), values.array)
    if not isinstance(answer, bool | np.bool_ | int | np.integer):
        raise run.broken(f"outcome must return True if the game is over, else False; it returns {answer!r}")
    over = bool(answer)
    run.check_margins(run.plain, "outcome", values)
    listed = values.array.tolist()
    unwritten = np.isnan(values.array)
    if not over:
        if not unwritten.all():
            raise run.broken(f"outcome must write values only when the game is over; it writes {listed}")
        return moves_of(run, states)
    if unwritten.any():
        missing = ", ".join(game.player_name(int(player)) for player in np.flatnonzero(unwritten))
        raise run.broken(f"outcome must write the value of every player; that of {missing} is not a number")
    if (np.abs(values.array) > 1 + CLOSE).any():
        raise run.broken(f"values must be from -1 to 1; they are {listed}")
    if game.zero_sum and abs(values.array.sum()) > CLOSE * game.players:
        raise run.broken(f"values must add up to 0, or zero_sum be False; they are {listed}")
    return Facts(True, EVERYONE, tuple(listed), ((),) * game.players)


def moves_of(run: Lockstep, states: NDArray[Any]) -> Facts:
    """The facts of a position in which the game is not over."""
    game = run.game
    with run.asking("to_move", states), np.errstate(over="ignore"):
        mover = generic.to_move(game.rules, game.state_view(states))
    if mover == EVERYONE and not game.simultaneous:
        raise run.broken("to_move may be EVERYONE only in a game that sets simultaneous")
    if mover != EVERYONE and not (whole(mover) and 0 <= mover < game.players):
        raise run.broken(f"to_move must be a player from 0 to {game.players - 1}, or EVERYONE; it is {mover!r}")
    needed = "play_together" if mover == EVERYONE else "play"
    if not game.has(needed):
        raise run.broken(f"{needed} is missing, and here it is needed")
    legal: list[tuple[int, ...]] = [()] * game.players
    for player in range(game.players) if mover == EVERYONE else [int(mover)]:
        actions = guarded((game.most_legal,), np.int32, UNWRITTEN)
        with run.asking("legal", states), np.errstate(over="ignore"):
            count = generic.legal(game.rules, game.state_view(states), player, actions.array)
        run.check_margins(run.plain, "legal", actions)
        legal[player] = checked_ids(run, count, actions, game.player_name(player))
    if not any(legal):
        raise run.broken("someone must have a legal action while the game is not over; nobody has")
    return Facts(False, int(mover), (0.0,) * game.players, tuple(legal))


def checked_ids(run: Lockstep, count: Any, actions: Guarded, who: str) -> tuple[int, ...]:
    """The legal actions of a player, after checking number, range and duplicates."""
    game = run.game
    if not (whole(count) and 0 <= count <= game.most_legal):
        raise run.broken(f"legal must return a number from 0 to most_legal, {game.most_legal}; it returns {count!r}")
    ids = actions.array[: int(count)].tolist()
    if UNWRITTEN in ids:
        raise run.broken(
            f"legal must write as many actions as it returns; of {count}, {ids.count(UNWRITTEN)} are missing"
        )
    outside = [id for id in ids if not 0 <= id < game.actions]
    if outside:
        raise run.broken(f"action ids must be from 0 to actions - 1, {game.actions - 1}; {who} has {outside[0]}")
    if len(set(ids)) < len(ids):
        twice = next(id for id in ids if ids.count(id) > 1)
        raise run.broken(f"legal must give an action only once; {who} has {twice} more than once")
    return tuple(ids)


def inspected(run: Lockstep, way: Way, states: NDArray[Any]) -> Facts:
    """The facts in machine code."""
    game = run.game
    values = guarded((game.players,), np.float32, math.nan)
    actions = guarded((game.players, game.most_legal), np.int32, UNWRITTEN)
    counts = guarded((game.players,), np.int32, 0)
    with run.asking("outcome, to_move or legal", states, way):
        over, mover = way.call("inspect", states, values.array, actions.array, counts.array)
    run.check_margins(way, "outcome or legal", values, actions, counts, way.guarded)
    legal = tuple(tuple(actions.array[player, : counts.array[player]].tolist()) for player in range(game.players))
    idle = [player for player in range(game.players) if over or mover not in (EVERYONE, player)]
    if (actions.array[idle] != UNWRITTEN).any():
        raise run.broken(f"nothing may be written outside the arrays handed over; legal does in {way.label}")
    found = tuple(values.array.tolist()) if over else (0.0,) * game.players
    return Facts(bool(over), int(mover), found, legal)


def check_inspect(run: Lockstep, way: Way, facts: Facts) -> None:
    """Check that machine code gives the same facts."""
    theirs = inspected(run, way, way.states)
    for name, expected, got in (
        ("outcome", facts.over, theirs.over),
        ("outcome", facts.values, theirs.values),
        ("to_move", facts.mover, theirs.mover),
        ("legal", facts.legal, theirs.legal),
    ):
        if expected != got and not (expected is facts.values and np.allclose(expected, got, rtol=0, atol=CLOSE)):
            raise run.broken(f"{name} must give the same in {way.label} as in plain Python: {expected}, not {got}")


def observations_of(run: Lockstep, way: Way, states: NDArray[Any]) -> NDArray[np.float32]:
    """The planes of all players, one after another."""
    shape = run.game.observation
    seen = [np.zeros(0, np.float32)]
    for player in range(run.game.players if shape is not None else 0):
        times = 2 if way is not run.plain or not run.native else 1  # plain Python is slow
        planes = [guarded(shape or (), np.float32, 0) for _ in range(times)]
        for each in planes:
            with run.asking("observe", states, way):
                way.call("observe", states, player, each.array)
        run.check_margins(way, "observe", *planes)
        if not np.isfinite(planes[0].array).all():
            raise run.broken("observe must write finite numbers only")
        low, high = run.game.observation_bounds
        if planes[0].array.min() < low or planes[0].array.max() > high:
            raise run.broken(f"observe must keep to observation_bounds, from {low} to {high}")
        if not np.array_equal(planes[0].array, planes[-1].array):
            raise run.broken("observe must write the same each time it is asked about a position")
        board = None if run.game.mask is None else planes[0].array[run.game.mask]
        if board is not None and not (np.isin(board, (0.0, 1.0)).all() and board.any()):
            raise run.broken(f"plane {run.game.mask}, the mask, must be 1 on the board and 0 around it")
        seen.append(planes[0].array.ravel())
    return np.concatenate(seen)


def graphs_of(run: Lockstep, way: Way, facts: Facts) -> list[NDArray[Any]]:
    """The graphs of the players who move here: features, then edges, of each player."""
    shape = run.game.graph
    found: list[NDArray[Any]] = []
    for player, ids in enumerate(facts.legal):
        if shape is None or not ids:
            continue
        features = guarded((shape.nodes, shape.features), np.float32, math.nan)
        edges = guarded((shape.edges, 3), np.int32, UNWRITTEN)
        sizes = guarded((2,), np.int32, UNWRITTEN)
        with run.asking("graph", way.states, way):
            listed = np.array(ids, np.int32)
            way.call("graph", way.states, player, listed, len(ids), features.array, edges.array, sizes.array)
        run.check_margins(way, "graph", features, edges, sizes)
        n, m = sizes.array.tolist()
        if not (len(ids) <= n <= shape.nodes and 0 <= m <= shape.edges):
            most = f"{shape.nodes} nodes, {shape.edges} edges"
            raise run.broken(f"a graph has a node for each of the {len(ids)} moves and at most {most}; sizes: {n}, {m}")
        nodes, arrows = features.array[:n], edges.array[:m]
        if not np.isfinite(nodes).all():
            raise run.broken("graph must write all features of each node, finite numbers only")
        kinds = len(shape.relations)
        if m and not ((arrows >= 0).all() and (arrows[:, 0] < kinds).all() and (arrows[:, 1:] < n).all()):
            raise run.broken(f"an edge is (relation below {kinds}, node below {n}, node below {n}); not all are")
        if len(np.unique(arrows, axis=0)) < m:
            raise run.broken("graph must not give an edge twice")
        found += [nodes, arrows]
    return found


def check_native(run: Lockstep, facts: Facts) -> None:
    """Check that all functions give the same in machine code."""
    guesses, estimate = heuristics_of(run, run.plain), estimate_of(run, run.plain, facts.over)
    planes = observations_of(run, run.plain, run.plain.states)
    graphs = graphs_of(run, run.plain, facts)
    groups, touched = groups_of(run, run.plain, run.plain.states), touched_by(run, run.plain, facts.legal)
    for way in run.native:
        check_inspect(run, way, facts)
        if not np.allclose(guesses, heuristics_of(run, way), rtol=0, atol=CLOSE):
            raise run.broken(f"heuristic must give the same in {way.label} as in plain Python")
        if not np.allclose(estimate, estimate_of(run, way, facts.over), rtol=0, atol=CLOSE, equal_nan=True):
            raise run.broken(f"cut_off must give the same in {way.label} as in plain Python")
        if not np.allclose(planes, observations_of(run, way, way.states), rtol=CLOSE, atol=CLOSE):
            raise run.broken(f"observe must give the same in {way.label} as in plain Python")
        theirs = graphs_of(run, way, facts)
        if not all(a.shape == b.shape and np.allclose(a, b) for a, b in zip(graphs, theirs, strict=True)):
            raise run.broken(f"graph must give the same in {way.label} as in plain Python")
        if not np.allclose(groups, groups_of(run, way, way.states), rtol=CLOSE, atol=CLOSE):
            raise run.broken(f"groups must give the same in {way.label} as in plain Python")
        if touched != touched_by(run, way, facts.legal):
            raise run.broken(f"touches must give the same in {way.label} as in plain Python")
        run.check_margins(way, "heuristic, cut_off, observe, graph, groups or touches", way.guarded)


# --- Text and notation ------------------------------------------------------------------------------------------------


def check_text(run: Lockstep, thorough: bool) -> None:
    """Check `write` and `read`; `thorough` also tries invalid texts."""
    game, position = run.game, Position(run.game, run.plain.states.copy())
    with run.asking("write", position.states, hint="define write(self, state): the position as one line of text"):
        text = position.text
    if not isinstance(text, str) or not text.strip() or "\n" in text:
        raise run.broken(f"write must give one line of text, not {text!r}")
    with run.asking("draw", position.states):
        drawn = game.draw(position.state)
    if not isinstance(drawn, str) or not drawn.strip():
        raise run.broken(f"draw must give a text, not {drawn!r}")
    with run.blame(
        "read", run.plain, hint="define read(self, text, state): what write has written, back into the state"
    ):
        again = game.parse(text)
    if again.states.tobytes() != position.states.tobytes():
        where = difference(position.states, again.states)
        raise run.broken(f"read must restore the whole state that write has written; {where}")
    if again.text != text:
        raise run.broken(f"a text must be written as it was read; {text!r} becomes {again.text!r}")
    if thorough:
        with run.asking("describe", position.states, hint="give what json.dumps takes"):
            json.dumps(game.describe(position.state))
        with run.asking("drawing", position.states, hint="ludus docs board says what a board holds"):
            json.dumps(board_json(position))
    at = int(run.choose.integers(len(text)))
    for wrong in ("", "?", text[:-1], text + text, text[:at] + text[at + 1 :], text[:at] + "\u00e4" + text[at + 1 :]):
        if thorough:
            with run.blame("read", run.plain, hint=f"raise BadPosition for {wrong!r}", allowed=LudusError):
                game.parse(wrong)


def check_notation(run: Lockstep, facts: Facts, thorough: bool) -> None:
    """Check `write_move` and `read_move`; `thorough` also tries invalid moves."""
    game, states = run.game, run.plain.states.copy()
    state = game.state_view(states)
    for player, ids in enumerate(facts.legal):
        names: dict[str, int] = {}
        for action in ids:
            with run.asking("write_move", states):
                name = game.write_move(state, player, action)
            if not isinstance(name, str) or not name or name != name.strip():
                raise run.broken(f"write_move must give a text without spaces around it, not {name!r}")
            if facts.mover == EVERYONE and "," in name:
                raise run.broken(
                    f"write_move must not use a comma where everyone moves, as it parts the moves: {name!r}"
                )
            if name in names:
                raise run.broken(f"write_move must tell actions apart; {names[name]} and {action} are both {name!r}")
            names[name] = action
        for name in run.choose.permutation(list(names))[:10].tolist():
            with run.asking("read_move", states):
                action = game.read_move(state, player, name)
            if action != names[name]:
                raise run.broken(f"read_move must read what write_move wrote: {name!r} is {names[name]}, not {action}")
        for wrong in ("", "?!", "-", "999999999") if ids and thorough else ():
            hint = f"raise IllegalMove for {wrong!r}"
            with run.asking("read_move", states, hint=hint, allowed=IllegalMove):
                game.read_move(state, player, wrong)


# --- Symmetries -------------------------------------------------------------------------------------------------------


def check_symmetries(run: Lockstep, facts: Facts) -> list[NDArray[Any]]:
    """Check the symmetries; returns the images of the position."""
    return [check_symmetry(run, facts, which) for which in symmetries_of(run)]


def turn_of(run: Lockstep) -> int:
    """The number of the symmetry that plain Python checks in this position."""
    numbers = some_symmetries(run.game)
    return numbers[(len(run.line) + run.number) % len(numbers)]


def symmetries_of(run: Lockstep) -> list[int]:
    """The numbers of the symmetries to check: all, but before anything is compiled, after the start one by turns."""
    if not run.game.has("symmetry"):
        return []
    every = run.native or run.not_native or not run.line
    return [which for which in some_symmetries(run.game) if every or which == turn_of(run)]


def check_symmetry(run: Lockstep, facts: Facts, which: int) -> NDArray[Any]:
    """Check one symmetry; returns the image of the position.

    Plain Python is slow, so it takes part for one symmetry of each position, by turns, and where a promise is broken:
    its messages say more.
    """
    if not run.native or which == turn_of(run):
        return _check_symmetry(run, run.ways, facts, which)
    try:
        return _check_symmetry(run, run.native, facts, which)
    except BrokenPromise:
        _check_symmetry(run, run.ways, facts, which)
        raise


def _check_symmetry(run: Lockstep, ways: list[Way], facts: Facts, which: int) -> NDArray[Any]:
    """Check one symmetry in these ways; the others are compared with the first."""
    first = ways[0]
    image, lists = mapped(run, first, first.states, which, facts.legal)
    if which == 0 and image.tobytes() != first.states.tobytes():
        raise run.broken(f"symmetry 0 must be the identity; {difference(first.states, image)}")
    if which == 0 and lists != facts.legal:
        raise run.broken(f"symmetry 0 must be the identity; it turns the actions {facts.legal} into {lists}")
    for way in ways[1:]:
        found, found_lists = mapped(run, way, way.states, which, facts.legal)
        if found.tobytes() != image.tobytes() or found_lists != lists:
            raise run.broken(f"symmetry must give the same in {way.label} as in {first.label}; number {which} does not")
    for ids, images in zip(facts.legal, lists, strict=True):
        if len(set(images)) < len(ids):
            reason = f"number {which} turns {ids} into {images}"
            raise run.broken(f"symmetry must turn distinct actions into distinct actions; {reason}")
    with run.seen_as(f"the image under symmetry {which} of the position"):
        theirs = facts_of(run, image) if first is run.plain else inspected(run, first, image)
        if not facts.agrees(theirs):
            was, now = ((each.mover, each.over, each.values) for each in (facts, theirs))
            raise run.broken(f"symmetry must keep the player to move and the outcome; number {which}: {was}, {now}")
        for ids, images in zip(theirs.legal, lists, strict=True):
            if set(ids) != set(images):
                reason = f"under symmetry {which} they are {sorted(ids)}, not {sorted(images)}"
                raise run.broken(f"the legal actions of an image must be the images of the legal actions; {reason}")
        observations_of(run, run.ways[-1], image)
    return image


def check_exchange(run: Lockstep, joint: NDArray[np.int32], after: NDArray[Any]) -> None:
    """Check that playing and mapping commute: `after` is the position after `joint`. Uses the fastest way."""
    way = run.ways[-1]
    for which in symmetries_of(run):
        image, lists = mapped(run, way, run.plain.states, which, [(int(id),) if id >= 0 else () for id in joint])
        with run.blame("play", way):
            way.call("step", image, np.array([ids[0] if ids else -1 for ids in lists], np.int32))
        expected, _ = mapped(run, way, after, which, [])
        if image.tobytes() != expected.tobytes():
            where = difference(expected, image, "mapped after playing", "played after mapping")
            reason = f"under symmetry {which}, with {run.tell(joint)}, {where}"
            raise run.broken(f"playing and mapping must give the same in either order; {reason}")


def mapped(
    run: Lockstep, way: Way, states: NDArray[Any], which: int, lists: Iterable[tuple[int, ...]]
) -> tuple[NDArray[Any], tuple[tuple[int, ...], ...]]:
    """The image of a position, written over random bytes several times, and the images of lists of actions."""
    images: list[NDArray[Any]] = []

    def turn(ids: tuple[int, ...]) -> tuple[int, ...]:
        image = guarded_states(run.game, run.choose)
        actions = guarded((len(ids),), np.int32, 0)
        actions.array[:] = ids
        with run.asking("symmetry", states, way):
            way.call("symmetry", states, which, image.array, actions.array, len(ids))
        run.check_margins(way, "symmetry", image, actions)
        images.append(image.array)
        if images[0].tobytes() != image.array.tobytes():
            where = difference(images[0], image.array, "once", "then")
            raise run.broken(f"symmetry must write the whole image, whatever was there before; number {which}: {where}")
        return tuple(actions.array.tolist())

    turn(())
    return images[0], tuple(turn(ids) if ids else () for ids in lists)


# --- Fingerprints -----------------------------------------------------------------------------------------------------


class Fingerprints:
    """The fingerprints of all positions met."""

    def __init__(self) -> None:
        self.of: dict[bytes, int] = {}
        self.first: dict[int, NDArray[Any]] = {}

    def check(self, run: Lockstep, states: NDArray[Any]) -> None:
        """Check that equal positions have equal fingerprints, and positions with different futures different ones."""
        prints = []
        for way in run.ways:
            with run.asking("fingerprint", states, way):
                prints.append(int(way.call("fingerprint", states)))
            if prints[-1] != prints[0]:
                reason = f"in plain Python: {prints[0]:#x}, not {prints[-1]:#x}"
                raise run.broken(f"fingerprint must give the same in {way.label} as {reason}")
        if self.of.setdefault(states.tobytes(), prints[0]) != prints[0]:
            raise run.broken("fingerprint must be the same each time it is asked about a position")
        other = self.first.setdefault(prints[0], states.copy())
        if other.tobytes() != states.tobytes() and not same_future(run, other, states):
            reason = f"another position has the same: {Position(run.game, other).text}"
            raise run.broken(f"fingerprint must differ where the future does; {reason}")


def same_future(run: Lockstep, one: NDArray[Any], other: NDArray[Any]) -> bool:
    """True if a few random games from both positions go the same way."""
    for _ in range(5):
        pair = [one.copy(), other.copy()]
        for _ in range(20):
            facts, theirs = (facts_of(run, states) for states in pair)
            if not facts.agrees(theirs) or [*map(set, facts.legal)] != [*map(set, theirs.legal)]:
                return False
            if facts.over:
                break
            joint = pick(run, facts)
            with run.blame("play", run.plain):
                for states in pair:
                    run.plain.call("step", states, joint)
    return True


# --- The course of a game ---------------------------------------------------------------------------------------------


def pick(run: Lockstep, facts: Facts) -> NDArray[np.int32]:
    """A random action of the mover, or one of each player (-1 for one without a choice)."""
    ids = [int(run.choose.choice(legal)) if legal else -1 for legal in facts.legal]
    return np.array(ids if facts.mover == EVERYONE else [ids[facts.mover]], np.int32)


def check_replay(run: Lockstep, trail: list[bytes]) -> None:
    """Check that the moves of the game, played again, lead to the same states."""
    for way in run.ways:
        states = run.game.new_states(1)
        with run.blame("reset", way):
            way.call("reset", states, generator(run.seed, run.number))
        for ply, joint in enumerate(run.line, 1):
            with run.blame("play", way):
                way.call("step", states, joint.copy())
            if states.tobytes() != trail[ply]:
                where = difference(np.frombuffer(trail[ply], states.dtype).reshape(states.shape), states)
                reason = f"played again in {way.label}, after {ply} plies {where}"
                raise run.broken(f"the same moves must lead to the same states; {reason}")


def arrays_in(rules: Any) -> Iterator[NDArray[Any]]:
    """The arrays among the fields of the rules."""
    return (field for field in rules if isinstance(field, np.ndarray))


def whole(number: Any) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool)
