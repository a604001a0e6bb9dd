"""Games and players travel to nodes that do not have their files."""

import shutil

import ludus
from ludus.agents import make_agent
from ludus.arena.cluster_workers import files_of
from ludus.cluster.parcel import pack_game, unpack_game, write_files
from tests.own_games import HEAP, HELPER

STONES = """
(role one) (role two)
(init (heap 3)) (init (control one))
(succ 0 1) (succ 1 2) (succ 2 3)
(<= (legal ?p take) (true (control ?p)))
(<= (legal ?p noop) (role ?p) (not (true (control ?p))))
(<= (next (heap ?m)) (true (heap ?n)) (succ ?m ?n))
(<= (next (control two)) (true (control one)))
(<= (next (control one)) (true (control two)))
(<= terminal (true (heap 0)))
(<= (goal ?p 0) (true (heap 0)) (true (control ?p)))
(<= (goal ?p 100) (true (heap 0)) (role ?p) (not (true (control ?p))))
"""


def test_a_game_of_a_user_travels_with_its_helper(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "heap.py").write_text(HEAP)
    (home / "amounts.py").write_text(HELPER)
    game = ludus.make(home / "heap.py", heap=9)
    parcel = pack_game(game)
    shutil.rmtree(home)
    made = unpack_game(parcel, tmp_path / "node")
    assert made.identity == game.identity
    assert made.rules.heap == 9
    assert made.start().text == game.start().text


def test_a_description_in_gdl_travels(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "stones.kif").write_text(STONES)
    game = ludus.make(home / "stones.kif")
    parcel = pack_game(game)
    shutil.rmtree(home)
    assert unpack_game(parcel, tmp_path / "node").identity == game.identity


def test_a_built_in_game_travels_as_its_name(tmp_path):
    parcel = pack_game(ludus.make("connect4", rows=4, columns=5))
    assert parcel.files == {}
    assert unpack_game(parcel, tmp_path).identity == parcel.identity


def test_the_files_of_a_run_make_the_same_agent_elsewhere(run_that_plays, tmp_path):
    run = run_that_plays(3)
    word, place, files = files_of(f"policy:{run.folder}", run.game)
    assert word == str(run.folder)
    assert sorted(files.content) == [
        "about.json",
        *(f"checkpoints/000003/{name}" for name in ("SHA256SUMS", "player.safetensors")),
        "config.toml",
    ]
    write_files(files.content, tmp_path / files.key)
    start = run.game.start()
    here, there = (make_agent(f"policy:{where}", run.game) for where in (run.folder, tmp_path / files.key / place))
    assert there.choose(start).value == here.choose(start).value


def test_agents_without_files_need_none():
    game = ludus.make("tictactoe")
    assert files_of("uct:100", game) is None
    assert files_of("zero", game) is None
