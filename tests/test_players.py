"""Players as files: packs of runs, and the players that come with Ludus."""

import json
import re
from pathlib import Path

import pytest
from safetensors.numpy import save_file

import ludus
from ludus.agents.identity import identify
from ludus.agents.zero import default_opponent
from ludus.cli import main
from ludus.errors import BadAgent
from ludus.runs import players
from ludus.runs.files import BadRun
from ludus.runs.levels import COUNT, USUAL, levels_of, ratings_of
from ludus.runs.players import find_player, pack_player, read_pack, shipped_players

SETTINGS = {"blocks": 1, "width": 8, "simulations": 8, "iteration_rows": 128}
TICTACTOE = ludus.make("tictactoe")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return ludus.train("tictactoe", steps=4, run=tmp_path_factory.mktemp("packs") / "run", settings=SETTINGS)


@pytest.fixture(scope="module")
def pack(run):
    return pack_player(str(run.folder), run.folder.with_suffix(".player"), note="a test")


def test_a_pack_plays_like_its_run(run, pack):
    file, start = pack.file, TICTACTOE.start()
    packed = ludus.make_agent(f"zero:{file}:50", TICTACTOE).choose(start)
    own = ludus.make_agent(f"zero:{run.folder}:50", TICTACTOE).choose(start)
    assert packed.priors == pytest.approx(own.priors, abs=2e-3)  # half precision
    assert sum(packed.visits) == 50


def test_a_pack_is_small_and_tells_its_origin(run, pack):
    assert pack.rules == "tictactoe()v1"
    assert pack.facts["iteration"] == run.checkpoints()[-1]
    assert pack.facts["games"] == run.log()[-1]["games"]
    assert pack.facts["settings"]["simulations"] == 8
    assert pack.facts["note"] == "a test"
    assert (
        2 * pack.file.stat().st_size
        < (run.checkpoint(pack.facts["iteration"]) / "player.safetensors").stat().st_size * 1.5
    )


def test_packing_tells_the_command_without_default_options(tmp_path, capsys):
    small = {"blocks": 1, "width": 4, "simulations": 4, "iteration_rows": 32, "batch_size": 16, "engine": "torch"}
    game = ludus.make("breakthrough", height=5)
    run = ludus.train(game, steps=1, run=tmp_path / "run", settings=small)
    assert main(["pack", str(run.folder), str(tmp_path / "a.player")]) == 0
    command = f"ludus play breakthrough --option=height=5 --against zero:{tmp_path / 'a.player'}\n"
    assert capsys.readouterr().out.endswith(command)


def test_a_folder_is_no_name_of_a_pack(run):
    with pytest.raises(BadRun, match="is not the name of a file"):
        pack_player(str(run.folder), Path("/"))


def test_identities_of_a_pack_and_of_levels_differ(pack):
    names = [f"zero:{pack.file}", f"zero:{pack.file}:100", f"zero:{pack.file}:level=2", f"zero:{pack.file}:level=3"]
    identities = [identify(name, TICTACTOE) for name in names]
    assert len({each.text for each in identities}) == len({each.label for each in identities}) == 4
    for each in identities:
        assert identify(each.name, TICTACTOE) == each


def test_the_player_that_comes_with_ludus_is_the_default(pack, monkeypatch, capsys):
    monkeypatch.setattr(players, "SHIPPED", pack.file.parent)
    assert default_opponent(TICTACTOE) == "zero"
    assert default_opponent(ludus.make("roshambo")) == "uct:10000"
    assert ludus.make_agent("zero", TICTACTOE).choose(TICTACTOE.start()).simulations == 400
    main(["players"])
    shown = capsys.readouterr().out
    assert re.search(r"(?m)^tictactoe +its only form ", shown)
    assert re.search(rf"(?m)^  tictactoe, {pack.facts['games']:,} games in .* minutes?: a test$", shown)
    with pytest.raises(BadRun, match=r"no player for roshambo.* comes with Ludus: train one"):
        ludus.make_agent("zero", ludus.make("roshambo"))


def test_the_players_that_come_with_ludus_are_listed_in_words(capsys):
    main(["players"])
    shown = capsys.readouterr().out
    assert re.search(r"(?m)^sevn +every size +\d+ +\d+ +\d+ to \d+ +groups 6 x 64 +1\.2 MB$", shown)
    assert re.search(r"(?m)^breakthrough +\S.* +\d+ +\d+ +at least \d+ +residual 5 x 48 +0\.9 MB$", shown)
    assert not re.search(r"\b(inf|nan)\b|\b0\.0 MB", shown)


def test_levels_have_budgets_of_their_own_and_draw_their_moves(pack):
    agent = ludus.make_agent(f"zero:{pack.file}:level=1", TICTACTOE)
    moves = set()
    for seed in range(30):
        agent.new_game(seed)
        choice = agent.choose(TICTACTOE.start())
        assert choice.simulations == USUAL[0].simulations
        moves.add(choice.move)
    assert len(moves) > 3
    for wrong, why in {
        "level=9": "from 1 to 8",
        "level=x": "from 1 to 8",
        "100:level=2": "not both",
        "level=2:temperature=1": "not both",
    }.items():
        with pytest.raises(BadAgent, match=why):
            ludus.make_agent(f"zero:{pack.file}:{wrong}", TICTACTOE)


def test_files_that_are_no_packs_are_refused_in_one_line(pack, tmp_path):
    content = pack.file.read_bytes()
    cases = {"empty": b"", "cut": content[:300], "text": b"hello" * 100, "half": content[: len(content) // 2]}
    for name, bad in cases.items():
        file = tmp_path / f"{name}.player"
        file.write_bytes(bad)
        with pytest.raises(BadRun) as error:
            find_player(str(file), TICTACTOE).load()
        assert "\n" not in str(error.value)
        assert str(file) in str(error.value)
    other = tmp_path / "other.player"
    save_file({}, other, {"about": "none"})
    with pytest.raises(BadRun, match="not a packed player"):
        read_pack(other)
    with pytest.raises(BadRun, match="cannot be read: No such file"):
        read_pack(tmp_path / "none.player")
    with pytest.raises(BadRun, match=r"plays tictactoe.*, not roshambo"):
        find_player(str(pack.file), ludus.make("roshambo")).load()


def test_pack_as_a_command_says_how_to_play(run, capsys, tmp_path):
    main(["pack", str(run.folder), str(tmp_path / "mine.player")])
    assert f"ludus play tictactoe --against zero:{tmp_path / 'mine.player'}" in capsys.readouterr().out


def test_the_players_that_come_with_ludus_can_be_read_and_are_small():
    packs = shipped_players()
    assert sum(pack.file.stat().st_size for pack in packs) < 20e6
    for each in packs:
        game = ludus.make(each.spec.source, **each.spec.options)
        network, facts = each.load(game)
        assert sum(weight.numel() for weight in network.parameters()) > 0
        assert json.dumps(facts)
        assert facts["note"]


def test_levels_rise_to_full_strength_and_ratings_are_those_of_the_weights_that_ship(pack):
    assert levels_of(pack.file) == USUAL
    assert ratings_of(pack.file) == {}
    for each in shipped_players():
        levels, ratings = levels_of(each.file), ratings_of(each.file)
        assert len(levels) == COUNT
        assert levels[-1] == USUAL[-1]
        assert [level.simulations for level in levels] == sorted(level.simulations for level in levels)
        assert [level.temperature for level in levels] == sorted((level.temperature for level in levels), reverse=True)
        if ratings:
            assert ratings["random"].rating == 500
            assert f"level {COUNT}" in ratings
            assert all(each.low <= each.rating <= each.high for each in ratings.values())
