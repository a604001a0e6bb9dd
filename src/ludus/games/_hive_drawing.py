"""The board of Hive for people to see and click: hexagons, stacks, hands, and the cells that moves touch."""

from ludus.board import Board, Cell, Hand, Piece, hexagon_at
from ludus.games._hive_board import BUG, LETTERS, NOBODY, NOWHERE, SLOTS, STEPS, is_top
from ludus.games._hive_setup import kind_name, stock_of
from ludus.games._hive_text import BUG_NAMES, COLOURS, DECORATED, NAMES, coordinates


def draw_hive(code, position, notes):
    """The occupied cells, all cells beside them, and the pieces in hand, one for each kind of bug."""
    state, places = position.state, coordinates(position.state)
    around = {(q + dq, r + dr) for q, r in places.values() for dq, dr in (*STEPS, (0, 0))} or {(0, 0)}
    cells = [Cell(cell_id(q, r), *hexagon_at(q, r), "hexagon") for q, r in sorted(around, key=lambda at: at[::-1])]
    pieces = [
        Piece(cell_id(*place), piece & 1, **face(code, piece), level=int(state.level[piece]))
        for piece, place in sorted(places.items(), key=lambda each: int(state.level[each[0]]))
    ]
    last = [] if state.last == NOBODY else [cell_id(*places[int(state.last)])]
    if position.parent is not None and last:
        before = coordinates(position.parent.state).get(int(state.last))
        last = [cell_id(*before), *last] if before in around else last
    return Board(
        cells,
        pieces,
        {action: touched(code, state, places, action) for action in position.actions_of(int(state.ply) & 1)},
        paints=("white", "black"),
        hands=[Hand(player, hand_of(code, state, player)) for player in range(2)],
        notes=notes,
        last=last,
        pans=True,
        stock=stock_of(code),
        stacks=True,
    )


def cell_id(q, r):
    return f"{q},{r}"


def hand_id(code, piece):
    """The id of the bugs of one kind in a hand, such as wA."""
    return NAMES[code][piece][:2]


def face(code, piece):
    bug = BUG_NAMES[BUG[code, piece]]
    return {
        "shape": "hexagon",
        "symbol": bug,
        "text": NAMES[code][piece][1:],
        "name": f"{COLOURS[piece & 1]} {bug} {NAMES[code][piece]}",
        "kind": kind_name(piece & 1, BUG[code, piece]),
    }


def hand_of(code, state, player):
    """One piece for each kind of bug that is left."""
    left = [piece for piece in range(player, 2 * int(SLOTS[code]), 2) if state.cell[piece] == NOWHERE]
    kinds = {}
    for piece in left:
        kinds.setdefault(int(BUG[code, piece]), []).append(piece)
    return [
        Piece(
            hand_id(code, alike[0]),
            player,
            "hexagon",
            BUG_NAMES[bug],
            LETTERS[bug],
            name=f"{COLOURS[player]} {BUG_NAMES[bug]}",
            count=len(alike),
        )
        for bug, alike in kinds.items()
    ]


def touched(code, state, places, action):
    """The piece, by its cell or in the hand, and the cell that it goes to. A pass is a button."""
    pieces, player = 2 * int(SLOTS[code]), int(state.ply) & 1
    piece, rest = divmod(action, 7 * pieces)
    beside, way = divmod(rest, 7)
    if piece == pieces:
        return []
    piece, beside = piece ^ player, beside ^ player
    begins = cell_id(*places[piece]) if piece in places else hand_id(code, piece)
    if beside == piece:  # the first piece of the game
        return [begins, cell_id(0, 0)]
    (q, r), (dq, dr) = places[beside], STEPS[way] if way < 6 else (0, 0)
    return [begins, cell_id(q + dq, r + dr)]


def attempted(code, state, player, ids):
    """The move of a piece to a cell, legal or not, in notation; of a piece alone, a move onto its own cell."""
    places = coordinates(state)
    tops = {cell_id(*place): piece for piece, place in places.items() if is_top(state, piece)}
    kinds = {piece: hand_id(code, piece) for piece in range(2 * int(SLOTS[code])) if state.cell[piece] == NOWHERE}
    piece = tops.get(ids[0], next((piece for piece, kind in kinds.items() if kind == ids[0]), None))
    if piece is None:
        return None
    name = NAMES[code][piece]
    if len(ids) < 2:
        return f"{name} {name}"
    if ids[1] in tops:
        return f"{name} {NAMES[code][tops[ids[1]]]}"
    if not places:
        return name
    q, r = map(int, ids[1].split(","))
    for way, (dq, dr) in enumerate(STEPS):
        beside = tops.get(cell_id(q - dq, r - dr))
        if beside is not None:
            return f"{name} {DECORATED[way].format(NAMES[code][beside])}"
    return None
