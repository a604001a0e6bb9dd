"""Pictures of Sevn are read as what they show, whatever happened to them on the way, or refused: never misread."""

import io
from random import Random

import numpy as np
import pytest

from ludus.cli import main
from ludus.errors import BadOption
from ludus.registry import make

Image = pytest.importorskip("PIL.Image")
ImageDraw = pytest.importorskip("PIL.ImageDraw")
pytest.importorskip("scipy")

from ludus.protocols.sevn_picture import PALETTES, Layout, render, rgb  # noqa: E402
from ludus.protocols.sevn_screen import BadPicture, place_of_tile, read_picture, second_best  # noqa: E402

OWN = ["#1b9e77", "#d95f02", "#7570b3", "#e7298a", "#66a61e", "#e6ab02", "#222222"]


def position_after(plies, seed=1, base=7):
    random = Random(seed)
    position = make("sevn", base=base).start(seed)
    for _ in range(plies):
        if not position.is_over:
            position = position.play(random.choice(position.actions))
    return position


def scaled(factor, how=Image.Resampling.BILINEAR):
    return lambda image: image.resize([round(side * factor) for side in image.size], how)


def noisy(strength):
    def add(image):
        pixels = np.asarray(image) + np.random.default_rng(1).normal(0, strength, (image.height, image.width, 3))
        return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))

    return add


def jpeg(quality):
    def store(image):
        file = io.BytesIO()
        image.save(file, "JPEG", quality=quality)
        return Image.open(file)

    return store


def inside(colour, left, top, right, bottom):
    """Somewhere in a larger picture."""

    def paste(image):
        large = Image.new("RGB", (image.width + left + right, image.height + top + bottom), colour)
        large.paste(image, (left, top))
        return large

    return paste


def lit_from_the_left(image):
    light = np.linspace(1.03, 0.95, image.width)[None, :, None]
    return Image.fromarray((np.asarray(image) * light).clip(0, 255).astype(np.uint8))


@pytest.mark.parametrize(
    ("palette", "plies", "look", "changes"),
    [
        ("ludus", 0, {}, []),
        ("dusk", 0, {"background": "#202428"}, [noisy(12)]),
        ("sea", 0, {"background": "#88aacc", "shading": 1.3}, [jpeg(40)]),
        ("candy", 0, {"background": "black"}, [scaled(0.55)]),
        (OWN, 0, {"shading": 0.0}, [scaled(1.7), jpeg(60)]),
        ("ludus", 12, {"background": "white"}, [noisy(8), jpeg(50)]),
        ("dusk", 20, {"width": 1100}, [scaled(0.4, Image.Resampling.NEAREST)]),
        ("sea", 28, {"background": "black"}, [inside("#dddddd", 300, 90, 150, 200)]),
        ("candy", 25, {"width": 400}, [inside("#30343a", 10, 300, 60, 0), noisy(10)]),
        (OWN, 16, {"background": "#703030"}, [lit_from_the_left, jpeg(70)]),
        ("ludus", 99, {}, [scaled(0.8)]),  # a finished game
        ("dusk", 35, {"width": 300}, [jpeg(75)]),
    ],
)
def test_pictures_are_read_right(palette, plies, look, changes):
    position = position_after(plies, seed=plies + 1)
    image = render(position, palette, **look)
    for change in changes:
        image = change(image)
    assert read_picture(image, base=7) == position


@pytest.mark.parametrize(("base", "plies"), [(3, 0), (5, 9), (9, 30), (11, 0)])
def test_the_base_is_found_out(base, plies):
    position = position_after(plies, base=base)
    assert read_picture(jpeg(85)(render(position))) == position


def test_whose_turn_it_is():
    position = position_after(3)
    assert position.to_move == 1
    image = render(position)
    assert read_picture(image, base=7, to_move=1).text == "1" + position.text[1:]
    ImageDraw.Draw(image).rectangle((0, 0, 50, 300), "#d6d6d6")  # the bar of player 1 is gone, that of player 2 is not
    assert read_picture(image, base=7) == position
    ImageDraw.Draw(image).rectangle((550, 0, 600, 300), "#d6d6d6")
    with pytest.raises(BadPicture, match="whose turn"):
        read_picture(image, base=7)
    assert read_picture(image, base=7, to_move=2) == position


def test_transparent_and_grey_pictures():
    position = position_after(4)
    image = render(position).convert("RGBA")
    image.putalpha(255)
    assert read_picture(image, base=7) == position
    with pytest.raises(BadPicture):
        read_picture(image.convert("L"), base=7)


# --- What is no board -------------------------------------------------------------------------------------------------


def tile_box(image, row, column):
    unit = image.width / Layout(7).size[0]
    return [unit * side for side in Layout(7).tile(row, column)]


def with_tile(colour, plies=0, row=3, column=3):
    image = render(position_after(plies, seed=5), width=400)
    ImageDraw.Draw(image).rectangle(tile_box(image, row, column), rgb(colour))
    return image


def of_another_colour(plies):
    """One tile gets the colour of the one beside it."""
    position = position_after(plies, seed=5)
    cells = position.game.cells(position.state)
    row, column = next(
        (row, column)
        for row in range(7)
        for column in range(6)
        if cells[row, column] and cells[row, column + 1] and cells[row, column] != cells[row, column + 1]
    )
    return with_tile(PALETTES["ludus"][cells[row, column + 1] - 1], plies, row, column)


def with_two_markers():
    image = render(position_after(0), width=400)
    unit = image.width / Layout(7).size[0]
    ImageDraw.Draw(image).rectangle([unit * side for side in Layout(7).score(2, 3)], rgb(PALETTES["ludus"][2]))
    return image


def photo():
    """Soft coloured shapes."""
    pixels = np.random.default_rng(3).integers(0, 256, (9, 7, 3)).astype(np.uint8)
    return Image.fromarray(pixels).resize((450, 800), Image.Resampling.BICUBIC)


def grid(count, colours, top=0):
    """Squares on a dark ground."""
    image = Image.new("RGB", (420, 420 + top), "#222222")
    side, random = 420 / count, Random(2)
    for row in range(count):
        for column in range(count):
            colour = colours[(row + column) % 2] if len(colours) == 2 else random.choice(colours)
            left, upper = side * column, top + side * row
            ImageDraw.Draw(image).rectangle((left + 2, upper + 2, left + side - 3, upper + side - 3), colour)
    return image


def cropped(left, top, right, bottom):
    image = render(position_after(0), width=400)
    return image.crop((left, top, image.width - right, image.height - bottom))


def rows_hidden(plies):
    image = render(position_after(plies), width=400)
    ImageDraw.Draw(image).rectangle((0, tile_box(image, 5, 0)[1], 400, image.height), "#f8f8f8")
    return image


@pytest.mark.parametrize(
    "image",
    [
        pytest.param(Image.new("RGB", (400, 600), "#d6d6d6"), id="nothing"),
        pytest.param(noisy(80)(Image.new("RGB", (300, 400), "#808080")), id="noise"),
        pytest.param(Image.linear_gradient("L").resize((400, 600)), id="gradient"),
        pytest.param(photo(), id="photo"),
        pytest.param(grid(8, ["#eeeed2", "#769656"]), id="chess"),
        pytest.param(grid(7, list(PALETTES["candy"])), id="squares"),
        pytest.param(grid(7, list(PALETTES["candy"]), top=200), id="squares, with room for a score grid"),
        pytest.param(cropped(0, 0, 0, 90), id="without its last row"),
        pytest.param(cropped(0, 0, 80, 0), id="without its last column"),
        pytest.param(cropped(0, 180, 0, 0), id="without its score grid"),
        pytest.param(rows_hidden(0), id="something over its last rows"),
        pytest.param(with_tile("#00ffff"), id="a tile of no colour"),
        pytest.param(with_tile("#f8f8f8"), id="a tile gone from the middle"),
        pytest.param(of_another_colour(0), id="a tile of another colour"),
        pytest.param(of_another_colour(12), id="a tile of another colour, later"),
        pytest.param(with_two_markers(), id="two markers in a row"),
        pytest.param(render(position_after(0), width=400).transpose(Image.Transpose.FLIP_TOP_BOTTOM), id="upside down"),
        pytest.param(render(position_after(0), width=400).rotate(30), id="turned"),
        pytest.param(Image.new("RGB", (30, 30)), id="tiny"),
    ],
)
def test_what_is_no_board_is_refused(image):
    with pytest.raises(BadPicture):
        read_picture(image, base=7)


def test_no_base_is_seen_in_what_is_no_board():
    with pytest.raises(BadPicture, match="no board of Sevn can be found"):
        read_picture(photo())


def test_messages_say_what_is_wrong():
    with pytest.raises(BadPicture, match="the tile on d4 has none of the colours"):
        read_picture(with_tile("#00ffff"), base=7)
    with pytest.raises(BadPicture, match="a and c, are too much alike"):
        read_picture(render(position_after(0), ["#e4572e", "#f3a712", "#e0532c", *PALETTES["sea"][:4]]), base=7)


def test_the_second_best_choice():
    # Two tiles, two colours with room for one each: to swap them costs 3 + 4 more.
    cost = np.array([[1.0, 4.0], [6.0, 2.0]])
    assert second_best(cost, np.array([0, 1]), [1, 1]) == 7
    # With room for one more of the second colour, the first tile alone may change: 3 more.
    assert second_best(cost, np.array([0, 1]), [1, 2]) == 3


# --- The phone app ----------------------------------------------------------------------------------------------------


def phone_screen(position, palette):
    """An imitation of the app: a score grid, and towers seen from a corner of the room; those to take stand out."""
    image = Image.new("RGB", (750, 1334))
    draw = ImageDraw.Draw(image)
    for y in range(1334):
        draw.line((0, y, 750, y), (90 + y // 20, 110 + y // 30, 140))
    paints = [rgb(colour) for colour in PALETTES[palette]]
    for row in range(7):
        draw.rectangle((362, 188 + round(26.7 * row), 388, 211 + round(26.7 * row)), paints[row])
    right, down, foot = np.array([65.1, 26.9]), np.array([-36.1, 48.5]), np.array([0, 30])
    cells = position.game.cells(position.state)
    for row, column in sorted(np.ndindex(7, 7), key=lambda cell: (set(cell) <= {0, 6}, sum(cell))):
        x, y = place_of_tile(row, column) * 750
        base = np.array(paints[cells[row, column] - 1])
        size = 0.2 if {row, column} <= {0, 6} else 0.46
        top = [np.array([x, y]) + a * size * right + b * size * down for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        for first, light in ((1, 0.75), (2, 0.6)):
            one, other = top[first], top[first + 1]
            side = [one, other, other + foot, one + foot]
            draw.polygon([tuple(point) for point in side], tuple((base * light).astype(int)))
        draw.polygon([tuple(point) for point in top], tuple((base * (0.9 + 0.02 * (row % 4))).astype(int)))
    return image


@pytest.mark.parametrize(
    ("palette", "changes"),
    [("dusk", []), ("sea", [jpeg(60)]), ("candy", [scaled(0.5), noisy(6)]), ("dusk", [scaled(1.44)])],
)
def test_the_phone_app_is_read_when_a_game_begins(palette, changes):
    position = position_after(0, seed=8)
    image = phone_screen(position, palette)
    for change in changes:
        image = change(image)
    assert read_picture(image) == position
    assert read_picture(image, base=7, to_move=2).text == "2" + position.text[1:]


def test_a_phone_screen_is_refused_where_a_tile_is_wrong():
    image = phone_screen(position_after(0, seed=8), "dusk")
    x, y = place_of_tile(3, 3) * 750
    ImageDraw.Draw(image).rectangle((x - 15, y - 15, x + 15, y + 15), "#00a0ff")
    with pytest.raises(BadPicture, match="the tile on d4"):
        read_picture(image, base=7)


# --- Drawing, and the command line ------------------------------------------------------------------------------------


def test_pictures_that_cannot_be_drawn():
    position = position_after(0, base=11)
    for palette, message in (("sea", "needs 11 colours, and the palette has 7"), ("mud", "there is no palette 'mud'")):
        with pytest.raises(BadOption, match=message):
            render(position, palette)
    with pytest.raises(BadOption, match="'#12' is not a colour"):
        render(position, background="#12")
    with pytest.raises(BadOption, match="pixels wide, not 7"):
        render(position, width=7)


def test_draw_and_read_on_the_command_line(tmp_path, capsys):
    file = str(tmp_path / "board.png")
    text = "2/-dcc-ba/5.1dbbc.deeaa.eecb1.1ce2"
    assert main(["sevn-draw", text, file, "--palette", "sea", "--width", "500"]) == 0
    assert main(["sevn-read", file, "--base", "5"]) == 0
    assert capsys.readouterr().out == f"{text}\n"
    assert main(["sevn-draw", "1/aaa/aab.cba.cbc a:a3", file]) == 0  # a record
    assert main(["sevn-read", file, "--base", "3", "--to-move", "1"]) == 0
    assert capsys.readouterr().out == "1/baa/1ab.cba.cbc\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sevn-read", "{}/none.png"], "there is no file"),
        (["sevn-read", "{}/text.png"], "is not a picture that can be opened"),
        (["sevn-read", "{}/grey.png", "--base", "7"], "no board of Sevn can be found in this picture"),
        (["sevn-read", "{}/grey.png", "--base", "4"], "base must be an odd number from 3 to 11, not 4"),
        (["sevn-read", "{}/grey.png", "--to-move", "3"], "--to-move must be 1 or 2, not 3"),
        (["sevn-draw", "1/aaa/aab.cba.cbb", "{}/out.png"], "more than 3 tiles of colour b"),
        (["sevn-draw", "1/aaa/aab.cba.cbc", "{}/out.txt"], "does not end like the name of a picture"),
        (["sevn-draw", "1/aaa/aab.cba.cbc", "{}/none/out.png"], "cannot be written: No such file or directory"),
    ],
)
def test_mistakes_get_one_line(arguments, message, tmp_path, capsys):
    (tmp_path / "text.png").write_text("hello")
    Image.new("RGB", (300, 400), "grey").save(tmp_path / "grey.png")
    assert main([part.format(tmp_path) for part in arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert message in told.err
    assert told.err.count("\n") == 1
