"""What objects show in a notebook: pictures and tables without scripts, with every text escaped."""

import math
from xml.etree import ElementTree

import pytest

import ludus
from ludus.agents.snapshot import Block, Snapshot
from ludus.displays import Chart, Point, draw_charts, html_table
from ludus.runs.curves import draw_learning

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg):
    return [element.text for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def lines_of(svg):
    """The points of each line of a chart."""
    found = ElementTree.fromstring(svg).iter(f"{SVG}polyline")
    return [[tuple(map(float, pair.split(","))) for pair in line.get("points").split()] for line in found]


def test_a_chart_draws_its_points_in_order_and_higher_values_higher_up():
    svg = draw_charts([Chart("loss", "minutes", [Point(2, 1.0), Point(0, 3.0), Point(1, 2.0)])], "a run")
    (line,) = lines_of(svg)
    xs, ys = zip(*line, strict=True)
    assert list(xs) == sorted(xs)
    assert list(ys) == sorted(ys)  # y grows downwards in SVG
    assert {"a run", "loss", "minutes", "1.0", "3.0"} <= set(texts(svg))


def test_points_that_are_not_numbers_are_left_out_and_infinite_intervals_reach_the_edge():
    points = [Point(0, 1.0, -math.inf, 2.0), Point(1, math.nan), Point(math.inf, 1.0), Point(2, 1.5, 1.0, math.inf)]
    svg = draw_charts([Chart("rating", "minutes", points)], "a run")
    assert len(lines_of(svg)[0]) == 2
    assert "nan" not in svg
    assert "inf" not in svg
    assert draw_charts([Chart("rating", "minutes", [Point(1, math.nan)])], "a run") == ""


def test_a_chart_of_one_point_has_axes():
    assert {"-1.0", "0.0", "1.0"} <= set(texts(draw_charts([Chart("rating", "minutes", [Point(1, 0.0)])], "a run")))


def test_texts_are_escaped():
    rude = "<script>alert('&\"')</script>"
    for shown in (
        draw_charts([Chart(rude, rude, [Point(1, 1.0)])], rude),
        html_table([rude, rude], [[rude, rude]], rude),
    ):
        assert "<script" not in shown
        assert ElementTree.fromstring(shown) is not None
    assert rude in texts(draw_charts([Chart(rude, rude, [Point(1, 1.0)])], rude))


def test_a_table_leaves_out_empty_columns():
    table = ElementTree.fromstring(html_table(["move", "P", "N"], [["a1", "", "3"], ["b2", "", ""]]))
    assert [[cell.text for cell in row] for row in table.iter("tr")] == [["move", "N"], ["a1", "3"], ["b2", None]]


def test_a_run_shows_its_curves(hollow_run):
    run = hollow_run(1)
    assert run._repr_svg_() is None
    for iteration in range(1, 4):
        rating = None if iteration == 1 else 100.0 * iteration
        figures = {
            "policy": 2.0 / iteration,
            "value": 0.5,
            "rating": rating,
            "rating_low": rating,
            "rating_high": rating,
        }
        run.add_to_log({"iteration": iteration, "seconds": 60.0 * iteration, **figures})
    svg = run._repr_svg_()
    assert [len(line) for line in lines_of(svg)] == [3, 3, 2]
    assert "Tic-tac-toe: learned" in texts(svg)
    assert repr(run) == "<run learned of tictactoe>"


def test_a_log_that_was_edited_is_drawn_as_far_as_it_holds_numbers():
    log = [{"seconds": 60, "policy": "much", "value": 1.0}, {"policy": 1.0}, {"seconds": 120, "value": True}]
    assert [len(line) for line in lines_of(draw_learning(log, "a run"))] == [1]


def test_a_search_shows_its_tree_and_its_moves():
    position = ludus.make("tictactoe").start().play("b2")
    agent = ludus.make_agent("uct:300", position.game, seed=1)
    with ludus.analyse(position, agent) as analysis:
        *_, snapshot = analysis
        tree = ludus.Tree(agent)
        svg = tree._repr_svg_()
        assert analysis._repr_svg_() == svg
    edges = sorted(tree.root.edges, key=lambda edge: -edge.visits)
    shown = texts(svg)
    assert {"o moves", f"N {edges[0].visits}  Q {edges[0].value:+.2f}"} <= set(shown)
    assert shown.count(edges[0].move) >= 1
    boxes = [each for each in ElementTree.fromstring(svg).iter(f"{SVG}rect") if each.get("rx") == "4"]
    assert len(boxes) == 24
    assert "x moves" in texts(tree.node([edges[0].move])._repr_svg_())

    rows = list(ElementTree.fromstring(snapshot._repr_html_()).iter("tr"))
    assert [cell.text for cell in rows[0]] == ["move", "N", "Q", "policy"]
    assert [cell.text for cell in rows[1]][:2] == [edges[0].move, str(edges[0].visits)]
    assert len(rows) == 1 + len(position.moves)
    assert repr(snapshot).startswith("<snapshot after 300 simulations: ")

    unread = ludus.Tree(agent)
    agent.choose(position.play("a1"))
    assert tree._repr_svg_() == svg  # what was read stays as it was
    assert unread._repr_svg_() is None
    assert repr(unread) == "<tree of uct:300, stale>"


def test_proven_moves_show_their_value_and_length():
    position = ludus.make("tictactoe").parse("xx1/oo1/3")
    agent = ludus.make_agent("uct:300", position.game, seed=1)
    agent.choose(position)
    assert any("+1 in 1" in text for text in texts(ludus.Tree(agent)._repr_svg_()))


def test_where_everyone_moves_at_once_the_tree_has_joint_moves_and_each_player_a_table():
    position = ludus.make("roshambo").start()
    agent = ludus.make_agent("uct:100", position.game, seed=1)
    *_, snapshot = ludus.analyse(position, agent, player=0)
    assert "everyone moves" in texts(ludus.Tree(agent)._repr_svg_())
    assert any("," in text and "rock" in text for text in texts(ludus.Tree(agent)._repr_svg_()))
    assert snapshot._repr_html_().count("<table>") == 2


def test_an_agent_without_a_tree_shows_no_tree():
    position = ludus.make("tictactoe").start()
    with ludus.analyse(position, "random") as analysis:
        assert analysis._repr_svg_() is None
        (snapshot,) = analysis
    assert "<th" in snapshot._repr_html_()


def test_a_long_list_of_moves_is_cut():
    game = ludus.make("hive")
    position = game.start()
    actions = list(position.actions) * 30
    block = Block(0, actions, actions[0], 0.0, list(range(len(actions))))
    shown = Snapshot(position, 0, (block,), (), 10, 0.1, 1.0, False)._repr_html_()
    assert shown.count("<tr>") == 21
    assert "more moves" in shown


def test_ratings_show_a_table(tmp_path):
    table = ludus.rate(["random", "greedy"], "tictactoe", games=4, parallel=1, results=tmp_path / "results.sqlite")
    shown = ElementTree.fromstring(table._repr_html_())
    cells = [[cell.text for cell in row] for row in shown.iter("tr")]
    assert cells[0] == ["agent", "rating", "from", "to", "games", "score"]
    assert {row[0][3:] for row in cells[1:]} == {"random", "greedy"}
    assert str(tmp_path) not in repr(table)


@pytest.mark.parametrize("kind", ["tictactoe", "roshambo"])
def test_pictures_hold_no_scripts_and_no_links(kind):
    game = ludus.make(kind)
    agent = ludus.make_agent("uct:50", game, seed=1)
    agent.choose(game.start(), player=0)
    for svg in (game.start()._repr_svg_(), ludus.Tree(agent)._repr_svg_()):
        tags = {element.tag.removeprefix(SVG) for element in ElementTree.fromstring(svg).iter()}
        assert tags <= {"svg", "g", "rect", "circle", "path", "polyline", "polygon", "text"}
