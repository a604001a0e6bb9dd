"""Reads a Sevn position from a picture: one of sevn_picture, or a screenshot of the phone app at the start of a game.

Score grid and board are found in pictures of any size with any surroundings. The score grid gives the colours. An
assignment of least cost gives every tile its colour, with no more tiles of a colour than there can be. Any doubt, such
as a tile between two colours, is an error: a picture that cannot be read gives a message, and never a wrong board.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ludus.errors import BadPosition, LudusError, missing_package
from ludus.games.sevn import NAMES, SevnGame, write_text
from ludus.protocols.sevn_picture import MARGIN, PADDING, Box, Layout

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ludus.game import Position


class BadPicture(LudusError):
    """The picture shows no Sevn board that can be read with certainty."""


MOST_PIXELS = 900
"""The longer side of a picture in pixels, after shrinking."""
BRIGHTNESS = 0.4
"""Weight of a difference in brightness relative to one in colour, because tiles are shaded."""

# Distances are in L*a*b*: 2 is just visible, and 100 is the distance between black and white.
LEAST_APART = 8.0
"""Least distance between any two colours."""
NEAR, FARTHEST = 0.6, 16.0
"""Limits of the distance of a tile to its colour: a fraction of its distance to any other colour, and a maximum."""
MARGIN_OF_CHOICE = 0.3
"""Least extra cost of the second best assignment of colours, in squares of the least distance between colours."""
MOST_CHANGE = 30.0
"""Upper limit of the strength of an edge."""
SAME, DIFFERENT = 7.0, 11.0
"""Distances in unshaded parts: at most SAME is one colour, at least DIFFERENT is two colours."""
LEAST_UNIT = 4.0
"""Least size of a cell of the score grid in pixels, after shrinking."""


def to_lab(pixels: NDArray[Any]) -> NDArray[np.float64]:
    """Red, green and blue from 0 to 255 [..., 3] as CIE L*a*b*, in which distances are as people see them."""
    part = pixels / 255.0
    linear = np.where(part > 0.04045, ((part + 0.055) / 1.055) ** 2.4, part / 12.92)
    mix = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = linear @ mix.T / np.array([0.9505, 1.0, 1.089])
    root = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    x, y, z = np.moveaxis(root, -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], -1)


def load(picture: Any) -> NDArray[np.float64]:
    """A picture, or its file, as L*a*b* [height, width, 3], shrunk to at most MOST_PIXELS."""
    try:
        from PIL import Image, ImageOps
    except ModuleNotFoundError as error:
        raise missing_package("reading a picture", error.name, "plots") from None
    if not isinstance(picture, Image.Image):
        try:
            if os.path.exists(picture) and not os.path.isfile(picture):
                raise BadPicture(f"{picture} is not a regular file")
            picture = Image.open(os.fspath(picture))
            picture.load()
        except FileNotFoundError:
            raise BadPicture(f"there is no file {picture}") from None
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
            raise BadPicture(f"{picture} is not a picture that can be opened") from None
    picture = ImageOps.exif_transpose(picture)
    if picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info:
        picture = picture.convert("RGBA")
        picture = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture)
    picture = picture.convert("RGB")
    longer = max(picture.size)
    if min(picture.size) < 60 or longer > 20 * min(picture.size):
        raise BadPicture(f"a picture of {picture.width} x {picture.height} pixels is too small to show a board")
    if longer > MOST_PIXELS:
        size = [max(1, round(side * MOST_PIXELS / longer)) for side in picture.size]
        picture = picture.resize(size, Image.Resampling.BOX if longer > 2 * MOST_PIXELS else Image.Resampling.LANCZOS)
    return to_lab(np.asarray(picture, np.float64))


def read_picture(picture: Any, base: int | None = None, to_move: int | None = None) -> Position:
    """The position that a picture shows: a Pillow image, or the name of a file.

    `base` is detected if not given. `to_move`, 1 or 2, overrides the player to move in the picture. Raises BadPicture.
    """
    bases = [7, 5, 3, 9, 11] if base is None else [SevnGame(base=base).rules.base]
    pixels = load(picture)
    doubts: list[Doubt] = []
    for each in bases:
        for read in (own_board, phone_board) if each == 7 else (own_board,):
            try:
                return position_of(read(pixels, each), to_move)
            except Doubt as doubt:
                doubts.append(doubt)
    likeliest = max(doubts, key=lambda doubt: doubt.sureness)
    raise BadPicture(str(likeliest) if likeliest.sureness else NO_BOARD)


class Doubt(Exception):
    """The reason why no board was read; `sureness`, from 0, tells how far the reading came."""

    def __init__(self, reason: str, sureness: int):
        super().__init__(reason)
        self.sureness = sureness


@dataclass
class Seen:
    """The content of a picture: paint and lead of each colour, and the paint of each cell that is not empty."""

    base: int
    paints: NDArray[np.float64]  # [base, 3]
    leads: list[int]
    tiles: NDArray[np.float64]  # [base * base, 3]
    empty: NDArray[np.bool_]  # [base * base]
    turn: int | None  # the player to move, 1 or 2; None if the picture does not show it
    marked: bool  # is there a score grid, with markers?


# --- Colours ----------------------------------------------------------------------------------------------------------


def distances(paints: NDArray[np.float64], tiles: NDArray[np.float64]) -> NDArray[np.float64]:
    """The distance of each tile to each paint, [tiles, paints].

    Shading moves a colour along a line through black, so differences along that line have a smaller weight.
    """
    lengths = np.linalg.norm(paints, axis=1)
    directions = paints / np.maximum(lengths, 1e-9)[:, None]
    along = tiles @ directions.T
    beside = np.linalg.norm(tiles[:, None] - along[..., None] * directions, axis=-1)
    return np.hypot(beside, BRIGHTNESS * (along - lengths))


def position_of(seen: Seen, to_move: int | None) -> Position:
    """The position, if the content of the picture is certain and consistent; raises Doubt."""
    base = seen.base
    board = np.zeros(base * base, int)
    cells = np.flatnonzero(~seen.empty)
    if len(cells):
        board[cells] = choose_colours(seen, cells) + 1
    turn = to_move or seen.turn
    if turn is None:
        raise Doubt("it cannot be seen whose turn it is; say so with --to-move", 5)
    try:
        return SevnGame(base=base).parse(write_text(turn, seen.leads, board.reshape(base, base)))
    except BadPosition as error:
        raise Doubt(f"no game leads to what it shows: {error.args[0].split(': ', 1)[-1]}", 4) from None


def choose_colours(seen: Seen, cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """The colours of the tiles on `cells`, assigned together; raises Doubt if any of them is uncertain."""
    from scipy.optimize import linear_sum_assignment

    available = [seen.base - abs(lead) for lead in seen.leads]
    if len(cells) > sum(available):
        raise Doubt("there are more tiles on its board than its score grid leaves", 2)
    places, rows = np.repeat(np.arange(seen.base), available), np.arange(len(cells))
    tiles, paints = seen.tiles[cells], seen.paints
    for again in (True, False):
        apart = distances(paints, paints) + 1e9 * np.eye(seen.base)
        one, other = sorted(np.unravel_index(apart.argmin(), apart.shape))
        if apart.min() < LEAST_APART:
            names = f"{NAMES[one]} and {NAMES[other]}"
            raise Doubt(f"two colours of its score grid, {names}, are too much alike", 2 if seen.marked else 0)
        away = distances(paints, tiles)
        chosen = places[linear_sum_assignment(away[:, places] ** 2)[1]]
        if again:  # tiles are larger than markers, and shaded: the second pass takes the paints from them
            groups = [tiles[chosen == colour] for colour in range(seen.base)]
            paints = np.array(
                [np.median(group, axis=0) if len(group) > 2 else paints[i] for i, group in enumerate(groups)]
            )
    others = away.copy()
    others[rows, chosen] = np.inf
    doubtful = away[rows, chosen] - np.minimum(FARTHEST, NEAR * others.min(axis=1))
    if (doubtful > 0).sum() > seen.base:
        raise Doubt(NO_BOARD, 1)
    if doubtful.max() > 0:
        strange = away.min(axis=1)  # a tile of no colour can displace others, which then seem worse than itself
        worst = int(cells[(strange if strange.max() > SAME else doubtful).argmax()])
        name = SevnGame(base=seen.base).cell_name(worst)
        raise Doubt(f"the tile on {name} has none of the colours of the score grid, or not one that is left", 3)
    if second_best(away**2, chosen, available) < MARGIN_OF_CHOICE * apart.min() ** 2:
        raise Doubt("the colours of its tiles cannot be told apart for sure", 3)
    from_markers = distances(seen.paints, paints)
    if (from_markers.argmin(axis=1) != np.arange(seen.base)).any() or from_markers.diagonal().max() > FARTHEST:
        raise Doubt("the colours of its tiles are not those of its score grid", 3)
    return chosen


def second_best(cost: NDArray[np.float64], chosen: NDArray[np.int64], available: list[int]) -> float:
    """The extra cost of the second best assignment of colours to tiles [n], compared with the best one, `chosen`.

    Another assignment changes the colours of tiles in a cycle, or in a chain that ends at a colour with tiles left. The
    cheapest tile for each step is known, so this is the shortest cycle or path between colours.
    """
    count = len(available)
    steps = np.full((count, count), np.inf)
    extra = cost - cost[np.arange(len(chosen)), chosen][:, None]
    for tile, colour in enumerate(chosen):
        steps[colour] = np.minimum(steps[colour], np.where(np.arange(count) == colour, np.inf, extra[tile]))
    for middle in range(count):
        steps = np.minimum(steps, steps[:, middle, None] + steps[None, middle])
    left = np.array(available) > np.bincount(chosen, minlength=count)
    return float(min(steps.diagonal().min(), steps[:, left].min(initial=np.inf)))


# --- Pictures of sevn_picture -----------------------------------------------------------------------------------------


@dataclass
class Frame:
    """The place of a layout in the pixels."""

    unit: float
    left: float
    top: float
    contrast: float = 0.0

    def pixels_of(self, box: Box, shrink: float = 0.0) -> tuple[slice, slice]:
        """The rows and columns of a box without `shrink` of it on each side."""
        left, top, right, bottom = box
        wide, high = shrink * (right - left), shrink * (bottom - top)
        x0, x1 = self.left + self.unit * (left + wide), self.left + self.unit * (right - wide)
        y0, y1 = self.top + self.unit * (top + high), self.top + self.unit * (bottom - high)
        return slice(round(y0), max(round(y1), round(y0) + 1)), slice(round(x0), max(round(x1), round(x0) + 1))


class Edges:
    """The change of the picture from each pixel to the second next, along rows and along columns."""

    def __init__(self, pixels: NDArray[np.float64]):
        self.sums: list[NDArray[np.float64]] = []
        for axis in (0, 1):  # changes from row to row, then from column to column
            there = np.moveaxis(pixels, axis, 0)
            change = np.zeros(there.shape[:2])
            change[1:-1] = np.minimum(np.linalg.norm(there[2:] - there[:-2], axis=-1), MOST_CHANGE)
            self.sums.append(np.pad(np.cumsum(change, axis=1), ((0, 0), (1, 0))))

    def profile(self, axis: int, begin: float = -np.inf, end: float = np.inf) -> NDArray[np.float64]:
        """The mean change at each row (axis 0) or column (1), between `begin` and `end` of the other axis."""
        sums = self.sums[axis]
        first, last = int(max(begin, 0)), int(min(end, sums.shape[1] - 1))
        return (sums[:, last] - sums[:, first]) / max(1, last - first)


def comb(profile: NDArray[np.float64], unit: float, lines: NDArray[np.float64], rests: NDArray[np.float64]) -> Any:
    """For each place of the layout, the contrast of edges at `lines` to none at `rests`: (contrasts, first place)."""
    width = max(1, round(0.1 * unit))
    smooth = np.convolve(profile, np.ones(width) / width, "same")
    pad = int(unit * (PADDING + MARGIN)) + 1
    padded = np.pad(smooth, pad)
    count = len(padded) - round(unit * float(lines.max())) - 1
    if count <= 0:
        return np.zeros(0), 0
    places = np.arange(count)
    at = padded[places + np.rint(unit * lines).astype(int)[:, None]]
    between = padded[places + np.rint(unit * rests).astype(int)[:, None]]
    # All lines must exist: a few strong ones do not compensate for missing ones.
    few = len(lines) // 4
    return np.partition(at, few, axis=0)[: few + 1].mean(axis=0) - between.mean(axis=0), -pad


def fits(edges: Edges, layout: Layout, frame: Frame | None, unit: float) -> Frame:
    """The best place for a layout of this unit; with a `frame`, near it and using only the pixels in it."""
    base, (left, top, right, bottom) = layout.base, layout.panel
    tiles, cells = ([layout.tile(i, i) for i in range(base)], [layout.score(0, i) for i in range(layout.columns)])
    rows = [layout.score(i, 0) for i in range(base)]
    places, contrast = [], 0.0
    for axis in (0, 1):
        begin, end = (1, 3) if axis == 0 else (0, 2)
        boxes = tiles + (rows if axis == 0 else cells)
        lines = np.array(
            [*(box[side] for box in boxes for side in (begin, end)), layout.panel[begin], layout.panel[end]]
        )
        rests = np.array([(box[begin] + box[end]) / 2 for box in (boxes if axis == 0 else tiles)])
        if frame is None:
            profile = edges.profile(axis)
        elif axis == 0:
            profile = edges.profile(axis, frame.left + unit * left, frame.left + unit * right)
        else:
            profile = edges.profile(axis, frame.top + unit * top, frame.top + unit * bottom)
        contrasts, first = comb(profile, unit, lines, rests)
        if frame is not None:
            near = frame.top if axis == 0 else frame.left
            away = np.abs(np.arange(len(contrasts)) + first - near)
            contrasts = np.where(away <= 0.6 * unit + 1, contrasts, -np.inf)
        if not len(contrasts):
            return Frame(unit, 0.0, 0.0, -np.inf)
        places.append(float(contrasts.argmax() + first))
        contrast += float(contrasts.max())
    return Frame(unit, places[1], places[0], contrast)


def find_frames(pixels: NDArray[np.float64], layout: Layout) -> list[Frame]:
    """Possible places of the layout, the most likely first."""
    edges = Edges(pixels)
    height, width = pixels.shape[:2]
    wide, high = layout.panel[2] - layout.panel[0], layout.panel[3] - layout.panel[1]
    largest = min(width / (wide - 1.5 * PADDING), height / (high - 1.5 * PADDING))
    smallest = max(LEAST_UNIT, 0.2 * largest)
    if largest < smallest:
        return []
    units = np.geomspace(smallest, largest, 1 + int(np.log(largest / smallest) / 0.008))
    found = sorted((fits(edges, layout, None, unit) for unit in units), key=lambda frame: -frame.contrast)
    kept: list[Frame] = []
    for frame in found:
        if len(kept) < 6 and all(abs(frame.unit / other.unit - 1) > 0.02 for other in kept):
            kept.append(frame)
    for _ in range(2):
        kept = [
            max((fits(edges, layout, frame, frame.unit * (1 + step)) for step in STEPS), key=lambda each: each.contrast)
            for frame in kept
        ]
    return sorted(kept, key=lambda frame: -frame.contrast)


STEPS = np.linspace(-0.012, 0.012, 13)


def own_board(pixels: NDArray[np.float64], base: int) -> Seen:
    """The content of a picture made by sevn_picture; raises Doubt if it is none."""
    doubts = [Doubt(NO_BOARD, 0)]
    for frame in find_frames(pixels, Layout(base)):
        try:
            return read_frame(pixels, Layout(base), frame)
        except Doubt as doubt:
            doubts.append(doubt)
    raise max(doubts, key=lambda doubt: doubt.sureness)


NO_BOARD = "no board of Sevn can be found in this picture"


def read_frame(pixels: NDArray[np.float64], layout: Layout, frame: Frame) -> Seen:
    """The content of the picture in a frame; raises Doubt."""
    base, columns = layout.base, layout.columns
    height, width = pixels.shape[:2]

    def colour(box: Box, shrink: float = 0.25) -> tuple[NDArray[np.float64], float]:
        rows, lines = frame.pixels_of(box, shrink)
        if rows.start < 0 or lines.start < 0 or rows.stop > height or lines.stop > width:
            raise Doubt(NO_BOARD, 0)
        part = pixels[rows, lines].reshape(-1, 3)
        mean = part.mean(axis=0)
        return mean, float(np.linalg.norm(part - mean, axis=1).mean())

    panel = colour(layout.between(), 0.0)[0]
    score = np.array([[colour(layout.score(row, column))[0] for column in range(columns)] for row in range(base)])
    socket = np.median(score.reshape(-1, 3), axis=0)
    if np.linalg.norm(socket - panel) < SAME:
        raise Doubt(NO_BOARD, 0)
    away = np.linalg.norm(score - socket, axis=-1)
    marked = away.argmax(axis=1)
    others = np.sort(away, axis=1)[:, -2]
    if (others > np.maximum(SAME, away.max(axis=1) / 2)).any() or (away.max(axis=1) < DIFFERENT).any():
        raise Doubt(NO_BOARD + ": there is no score grid with a marker in each row", 1)
    tiles, uneven = [], []
    for row in range(base):
        for column in range(base):
            mean, spread = colour(layout.tile(row, column))
            tiles.append(mean)
            uneven.append(spread)
    empty = np.linalg.norm(np.array(tiles) - socket, axis=1) < SAME
    for cell in np.flatnonzero(empty).tolist():
        for row, column in ((cell // base + 1, cell % base), (cell // base, cell % base + 1)):
            if row < base and column < base and empty[row * base + column]:
                # The panel is visible between two empty cells, unless something covers both.
                seam = colour(layout.seam(cell, row * base + column), 0.0)[0]
                if np.linalg.norm(seam - socket) < np.linalg.norm(panel - socket) / 4:
                    raise Doubt(NO_BOARD + ": something lies over its empty cells", 1)
    bars = [colour(layout.bar(player), 0.2)[0] for player in range(2)]
    lit = [min(np.linalg.norm(bar - socket), np.linalg.norm(bar - panel)) > 2 * DIFFERENT for bar in bars]
    return Seen(
        base,
        paints=score[np.arange(base), marked],
        leads=[base - int(column) for column in marked],
        tiles=np.array(tiles),
        empty=empty,
        turn=None if lit[0] == lit[1] else 1 + int(lit[1]),
        marked=True,
    )


# --- The phone app ----------------------------------------------------------------------------------------------------

# The app shows the board in perspective, on towers that are higher towards the corners of the board. These are the
# places where tiles and score grid show their colours at the start of a game, on a screen of 9 x 16, in units of its
# width. They were taken from an earlier program.
SCREEN = 16 / 9
MIDDLE = np.array([0.481, 1.152])
TO_THE_RIGHT, DOWNWARDS = np.array([0.0868, 0.0359]), np.array([-0.0481, 0.0647])
FIRST_ROW, NEXT_ROW = 0.15 * SCREEN, 0.02 * SCREEN
"""Places in the score grid, whose markers are in the middle of the screen."""


def place_of_tile(row: int, column: int) -> NDArray[np.float64]:
    """The place where a tile of the app's board shows its colour."""
    down, right = row - 3, column - 3
    place = MIDDLE + right * TO_THE_RIGHT + down * DOWNWARDS
    place[1] -= 0.0068 * max(abs(down), abs(right)) + 0.0164 * min(abs(down), abs(right))
    if abs(down) == abs(right) == 3:  # these can be taken; they are seen from the side
        place += (-0.007, 0.025) if down == right == 3 else (0.057, 0.057)
    return place


def phone_board(pixels: NDArray[np.float64], base: int) -> Seen:
    """The content of a screenshot of the app at the start of a game; raises Doubt if it is none."""
    height, width = pixels.shape[:2]
    if abs(height / width / SCREEN - 1) > 0.01:
        raise Doubt(NO_BOARD, 0)

    def colour(place: NDArray[np.float64]) -> NDArray[np.float64]:
        x, y, around = round(place[0] * width), round(place[1] * width), max(1, round(0.004 * width))
        return np.median(pixels[y - around : y + around + 1, x - around : x + around + 1].reshape(-1, 3), axis=0)

    paints = [colour(np.array([0.5, FIRST_ROW + row * NEXT_ROW])) for row in range(base)]
    tiles = [colour(place_of_tile(cell // base, cell % base)) for cell in range(base * base)]
    return Seen(base, np.array(paints), [0] * base, np.array(tiles), np.zeros(base * base, bool), 1, False)
