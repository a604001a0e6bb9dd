"""Inputs that once broke something: (target, input). All of them run in the tests."""

LONG = "9" * 5000
RECORD = (
    '{"format": "ludus game 1", "game": {"source": "tictactoe", "options": {}, "digest": ""}, "name": "tictactoe", '
    '"version": 1, "start": "3/3/3", "seats": ["human", "human"], "seed": SEED, "moves": [], "ply": 0, '
    '"clocks": [null, null], "left": [LEFT, null], "end": null}'
)

CORPUS: list[tuple[str, object]] = [
    # Numbers with more digits than Python converts
    ("position:laststone", f"{LONG} a"),
    ("position:roshambo", f"{LONG} -/-"),
    ("move:laststone", (0, LONG)),
    # Integers beyond the range of a float
    ("session", RECORD.replace("LEFT", "1" + "0" * 400).replace("SEED", "0")),
    ("session", RECORD.replace("LEFT", "null").replace("SEED", "1" + "0" * 400)),
    # Sizes that are infinite, or less than a byte
    ("time", LONG),
    ("time", ".5"),
    ("agent", f"solver:memory={LONG}GB"),
    # Moves that are neither text nor ids
    *(("action:connect4", (0, move)) for move in ("None", "float('inf')", "('n', 'e')", "2**70", "np.array(['a'])")),
    *(("action:roshambo", (0, move)) for move in ("None", "float('inf')", "('n', 'e')", "(0, None)", "((0, 1), 2)")),
    # Limits of time and memory
    ("command:cachex-referee", ("cachex-referee", "3", "agent:random", "agent:random", "--time", "inf")),
    ("command:cachex-referee", ("cachex-referee", "3", "agent:random", "agent:random", "--space", "nan")),
    # Players that do not exist
    ("command:cachex-referee", ("cachex-referee", "3", "agent:random", "nothing.of.this.name")),
    ("command:cachex-referee", ("cachex-referee", "3", "agent:random", "binary")),
    ("command:cachex-referee", ("cachex-referee", "3", "agent:random", "text.txt:Player")),
    # Names that are too long for a file, and error messages that repeat them
    ("command:ratings", ("ratings", "x" * 70_000)),
    ("command:sevn-read", ("sevn-read", "x" * 300)),
    ("command:export", ("export", "x" * 300, "--onnx", "out.onnx")),
    # Names that are not UTF-8
    ("command:sevn-draw", ("sevn-draw", "1/aaa/aab.cba.cbc", "\udcff.png")),
    ("command:replay", ("replay", "\udcff")),
    # Numbers at and beyond their limits
    ("command:match", ("match", "tictactoe", "random", "random", "--games", "1000000000000")),
    ("command:match", ("match", "tictactoe", "random", "random", "--openings", "1000000000000")),
    ("command:match", ("match", "tictactoe", "random", "random", "--seed", LONG)),
    ("command:match", ("match", "tictactoe", "random", "random", "--parallel", "1000000000000")),
    ("command:uhp", ("uhp", "--seed", "9999999999")),
    ("command:perft", ("perft", "tictactoe", "--depth", "1000000000000")),
    ("command:solve", ("solve", "tictactoe", "--memory", "1000000GB")),
    ("command:replay", ("replay", "results.sqlite", "9" * 30)),
    ("command:train", ("train", "tictactoe", "--set", "workers=1000000000000")),
    ("command:train", ("train", "tictactoe", "--set", "opening_plies=1000000000000")),
    ("command:grade", ("grade", "random", "tictactoe", "--positions", "/dev/zero")),
    ("command:sevn-read", ("sevn-read", "/dev/zero")),
    ("command:sevn-read", ("sevn-read", "fifo")),
    ("command:check", ("check", "fifo.py")),
]
