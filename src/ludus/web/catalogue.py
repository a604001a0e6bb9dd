"""The games and agents that the server offers, and how they are made from names that come from anyone.

A name from a request never becomes a path. Games are looked up by key, and runs by name in the folder of runs. Python
files are run only if they were given when the server was started.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
import tempfile
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ludus import registry
from ludus.agents.naming import names_a_program, parse
from ludus.agents.search import SearchAgent
from ludus.api.seats import make_seated
from ludus.errors import BadAgent, BadOption, LudusError, UnknownGame
from ludus.gdl.described import DescribedGame
from ludus.gdl.game import make_file
from ludus.gdl.limits import LIMITS
from ludus.gdl.reasoned import ReasonedGame
from ludus.gdl.sheets import rule_sheets
from ludus.gdl.tables import TooLarge
from ludus.machine import cpu_count
from ludus.runs.description import read_description
from ludus.runs.files import BadRun, write_bytes, write_whole
from ludus.runs.levels import COUNT
from ludus.runs.players import Pack, shipped_players
from ludus.sources import DESCRIPTION, read_source, real_path
from ludus.spec import GameSpec
from ludus.web.settings import GROUNDING_SECONDS, QUERY_SECONDS, RULES_LIMIT, WebSettings
from ludus.web.turns import Turns
from ludus.web.views import moves_of, view_of

if TYPE_CHECKING:
    from ludus.agents.agent import Agent
    from ludus.game import Game

GAMES_KEPT = 32
"""Number of games with options that stay in memory for the next session."""
PATIENCE = 2.0
"""Seconds that an uploaded rule sheet waits, if the reasoner cannot play it, while another one is grounded."""
MOST_RULES = 200
"""Number of uploaded rule sheets that are kept."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
"""The names of runs and rule sheets."""
WITH_RUN = ("zero", "policy", "rollout")
"""The kinds of agents that play with the network of a run."""
LARGEST_BATCH = 256
"""Largest option `batch` of an agent."""

AGENTS = (
    ("random", "Random", "Any legal move."),
    ("greedy", "Greedy", "The best move by the game's heuristic, one move ahead."),
    ("adversarial:3", "Alpha-beta", "The game's heuristic, three plies ahead. Two players who move in turn."),
    ("uct:1000", "Tree search, weak", "Random playouts, 1,000 simulations a move."),
    ("uct:10000", "Tree search", "Random playouts, 10,000 simulations a move."),
    ("uct:2s", "Tree search, 2 seconds", "Random playouts for two seconds a move."),
    ("solver", "Perfect play", "Solves the position. For small games of two players who move in turn."),
)
"""Agents that the page offers: name, title, description."""


@dataclass(frozen=True)
class Entry:
    """A game of the catalogue."""

    key: str
    title: str
    about: str
    players: int
    simultaneous: bool
    source: str
    """"built-in", "gdl", "file" or "rules" (uploaded)."""
    defaults: Mapping[str, Any]
    """The options and their defaults."""
    make: Callable[..., Game]
    digest: str = ""
    """The digest of a description in a file from the command line."""

    @property
    def is_described(self) -> bool:
        """True for a description in GDL, which takes seconds to make: it is grounded and compiled first."""
        return self.source in ("gdl", "rules") or self.key.endswith(DESCRIPTION)

    def json(self) -> dict[str, Any]:
        options = [
            {"name": name, "default": value, "kind": type(value).__name__} for name, value in self.defaults.items()
        ]
        return {
            "key": self.key,
            "title": self.title,
            "about": self.about[:1].upper() + self.about[1:],
            "players": self.players,
            "simultaneous": self.simultaneous,
            "source": self.source,
            "options": options,
        }


class Catalogue:
    """All games by key, and agents by name."""

    def __init__(self, settings: WebSettings):
        self.settings = settings
        self.turns = Turns(cpu_count())
        self._lock = threading.RLock()
        self._describing = threading.Lock()
        """Held while a description in GDL is grounded and compiled, which may take a minute: one at a time."""
        self._made: OrderedDict[tuple[str, str], Game] = OrderedDict()
        self._reasoned: set[tuple[str, str]] = set()
        """The games, as in `_made`, that could not be grounded: the reasoner plays them from then on."""
        self._warming: set[int] = set()
        """The identities of games that are being compiled."""
        self._entries: dict[str, Entry] = {}
        LIMITS.grounding_seconds, LIMITS.grounding_megabytes = GROUNDING_SECONDS, settings.grounding_megabytes
        LIMITS.query_seconds, LIMITS.query_megabytes = QUERY_SECONDS, settings.query_megabytes
        for name in settings.agents:
            parse(name)  # refuses a name that means nothing
        for name in registry.names():
            self._add(_built_in(name))
        for sheet in rule_sheets():
            key, about = f"gdl:{sheet.name}", sheet.about.partition(". ")[0].removesuffix(".")
            self._add(Entry(key, sheet.title, about, sheet.roles, False, "gdl", DescribedGame.options(), _maker(key)))
        for file in settings.files:
            self._add(_own_file(file))
        for path in sorted(self.rules_folder.glob("*.kif"))[:MOST_RULES]:
            if NAME.fullmatch(path.stem):
                self._add(_rule_sheet(path))

    def _add(self, entry: Entry) -> None:
        self._entries[entry.key] = entry

    @property
    def entries(self) -> list[Entry]:
        with self._lock:
            return list(self._entries.values())

    def entry(self, key: str) -> Entry:
        with self._lock:
            if key not in self._entries:
                raise UnknownGame(f"no game is called {key[:80]!r}; /api/catalogue lists them")
            return self._entries[key]

    def game(self, key: str, options: Mapping[str, Any] | None = None) -> Game:
        """The game of a key with options. Sessions share it; Python code called back from kernels is not shared."""
        entry, given = self.entry(key), dict(options or {})
        unknown = [name for name in given if name not in entry.defaults]
        if unknown:
            known = ", ".join(entry.defaults) or "none"
            raise BadOption(f"{entry.title} has no option {unknown[0][:40]!r}; its options are {known}")
        known_as = _known_as(entry, given)
        with self._lock:
            game = self._made.get(known_as)
            if game is not None:
                self._made.move_to_end(known_as)
                return game
        with self._describing if self.takes_long(key, given) else contextlib.nullcontext():
            with self._lock:
                if known_as in self._made:  # another thread has made it meanwhile
                    return self._made[known_as]
                is_reasoned = known_as in self._reasoned
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a slow reasoner is in the catalogue's text, not on the console
                game = entry.make(**({**given, "reasoner": True} if is_reasoned else given))
            if isinstance(game, ReasonedGame) and not given.get("reasoner"):
                with self._lock:
                    self._reasoned.add(known_as)
            if game.parallel:
                with self._lock:
                    self._made[known_as] = game
                    while len(self._made) > GAMES_KEPT:
                        self._made.popitem(last=False)
            return game

    def takes_long(self, key: str, options: Mapping[str, Any]) -> bool:
        """True if the game must be grounded and compiled first: a description in GDL that was not made yet."""
        if not self.entry(key).is_described or options.get("reasoner"):
            return False
        known_as = _known_as(self.entry(key), options)
        with self._lock:
            return known_as not in self._made and known_as not in self._reasoned

    def warm_up(self, key: str, game: Game) -> None:
        """Compile what a game between people needs, beside the game, and switch the game to it when it is ready."""
        with self._lock:
            if game.compiled or id(game) in self._warming:
                return
            self._warming.add(id(game))

        def compile_twin() -> None:
            try:
                known = self.entry(key).defaults
                options = {name: value for name, value in game.spec.options.items() if name in known}
                start = self.entry(key).make(**options).compile().start()
                for position in (start, start if start.is_over else start.play(start.actions[0])):
                    moves_of(position, view_of(position))
                game.compile()
            except LudusError:  # rules that cannot be compiled are played as they are; agents say what is wrong
                return
            finally:
                with self._lock:
                    self._warming.discard(id(game))

        threading.Thread(target=compile_twin, name="ludus warm-up", daemon=True).start()

    def key_of(self, spec: GameSpec) -> str | None:
        """The key of the game that a stored spec names; None if the catalogue has no such game."""
        name = Path(spec.source).name if registry.has_file(spec) else spec.source
        for entry in self.entries:
            is_named = entry.key in (name, f"file:{name}", f"rules:{name.removesuffix('.kif')}")
            if is_named and self._has_rules_of(entry, spec):
                return entry.key
        return None

    def _has_rules_of(self, entry: Entry, spec: GameSpec) -> bool:
        """True if a file from the command line has the rules of a stored spec; other games are known by their name."""
        if entry.source != "file" or not spec.digest:
            return True
        if entry.is_described:  # the game itself takes seconds to make
            return entry.digest == spec.digest
        game = self.game(entry.key, {name: value for name, value in spec.options.items() if name in entry.defaults})
        return game.digest == spec.digest

    def json(self) -> dict[str, Any]:
        return {
            "games": [{**entry.json(), "trained": self.has_player(entry.key)} for entry in self.entries],
            "agents": [
                *self._levels(),
                *({"name": name, "title": title, "about": about, "games": None} for name, title, about in AGENTS),
                *(
                    {"name": name, "title": name, "about": "A program that the server was started with.", "games": None}
                    for name in self.settings.agents
                ),
            ],
            "runs": self.runs(),
        }

    # --- trained players that come with Ludus -------------------------------------------------------------------------

    @cached_property
    def _players(self) -> dict[str, list[Pack]]:
        """The trained players that come with Ludus, by the key of their game."""
        found: dict[str, list[Pack]] = {}
        for pack in shipped_players():
            key = self.key_of(pack.spec)
            if key is not None:
                found.setdefault(key, []).append(pack)
        return found

    def has_player(self, key: str, options: Mapping[str, Any] | None = None) -> bool:
        """True if a trained player for the game with these options comes with Ludus."""
        return key in self._players and self.has_player_for(key, self.game(key, options))

    def has_player_for(self, key: str, game: Game) -> bool:
        """True if a trained player for this game, which has that key, comes with Ludus."""
        return any(pack.suits(game) for pack in self._players.get(key, ()))

    def _levels(self) -> list[dict[str, Any]]:
        """The trained players that come with Ludus: at full strength first, then weaker ones."""
        keys, about = sorted(self._players), "A trained player that comes with Ludus."
        return [
            {
                "name": "zero" if level == COUNT else f"zero:level={level}",
                "title": f"Trained, level {level} of {COUNT}",
                "about": about,
                "games": keys,
            }
            for level in (range(COUNT, 0, -1) if keys else ())
        ]

    # --- rule sheets --------------------------------------------------------------------------------------------------

    @property
    def rules_folder(self) -> Path:
        return self.settings.games / "rules"

    def add_rules(self, name: str, text: str) -> str:
        """Keep an uploaded rule sheet and return its key. It is parsed and checked; it is data and never run."""
        if not NAME.fullmatch(name):
            raise BadOption("the name of a rule sheet needs 1 to 80 letters, digits, dots, dashes or underscores")
        if len(text.encode()) > RULES_LIMIT:
            raise BadOption(f"a rule sheet may have {RULES_LIMIT >> 10} KB at most")
        path = self.rules_folder / f"{name.removesuffix('.kif')}.kif"
        if not path.exists() and len(list(self.rules_folder.glob("*.kif"))) >= MOST_RULES:
            raise BadOption(f"{MOST_RULES} rule sheets are kept at most: remove some from {self.rules_folder.name}")
        if path.exists() and path.read_text(encoding="utf-8") != text:
            raise BadOption(f"there is another rule sheet called {path.stem}: choose another name")
        with tempfile.TemporaryDirectory(prefix="ludus-") as folder:
            draft = Path(folder) / path.name
            draft.write_text(text, encoding="utf-8")
            self._check_rules(draft)
        self.rules_folder.mkdir(parents=True, exist_ok=True)
        write_whole(path, lambda place: write_bytes(place, text))
        with self._lock:
            self._add(_rule_sheet(path))
        return f"rules:{path.stem}"

    def _check_rules(self, path: Path) -> None:
        """Raise LudusError for a description that cannot be played.

        The reasoner finds the first moves, mostly within a second; grounding, which may take half a minute, is left to
        the first game. Only rules that are too hard for the reasoner are grounded here.
        """
        try:
            _ = make_file(path, reasoner=True).start().is_over
        except TooLarge:
            if not self._describing.acquire(timeout=PATIENCE):
                raise BadOption("another rule sheet is being prepared: try again when it is done") from None
            try:
                make_file(path, reasoner=False)
            finally:
                self._describing.release()

    # --- runs and agents ----------------------------------------------------------------------------------------------

    def run_folder(self, name: str) -> Path:
        """The folder of a run, by its name in the folder of runs."""
        folder = self.settings.runs / name
        if not NAME.fullmatch(name) or folder.is_symlink() or not (folder / "config.toml").is_file():
            raise BadRun(f"there is no run called {name[:80]!r}; /api/catalogue lists the runs")
        return folder

    def runs(self) -> list[dict[str, Any]]:
        """The runs in the folder of runs, the latest first."""
        found = []
        folders = [path for path in self.settings.runs.glob("*") if NAME.fullmatch(path.name)]
        for folder in sorted(folders, key=_changed_at, reverse=True):
            try:
                spec = read_description(self.run_folder(folder.name)).spec
                key = None if spec is None else self.key_of(spec)
            except LudusError:
                continue
            numbers = sorted(
                int(path.name) for path in (folder / "checkpoints").glob("[0-9]*") if path.name.isdecimal()
            )
            found.append(
                {
                    "name": folder.name,
                    "game": key,
                    "title": key if key is None else self.entry(key).title,
                    "options": {} if spec is None else dict(spec.options),
                    "checkpoints": numbers,
                }
            )
        return found

    def make_agent(self, name: str, game: Game, seed: int) -> Agent:
        """The agent of that name, which may come from anyone: runs are named by their name in the folder of runs."""
        agent = make_seated(self.agent_path(name), game, seed)
        agent.name = name
        if isinstance(agent, SearchAgent):
            agent.pace = self.turns.pace
        return agent

    def is_late(self, name: str, key: str, game: Game) -> bool:
        """True for an agent that is made when it is first needed: its network takes seconds to load the first time."""
        spec = parse(name)
        if spec.kind not in WITH_RUN or "torch" in sys.modules:
            return False
        self.agent_path(name)
        has_network = not self.needs_player(name) or self.has_player_for(key, game)
        return (
            has_network
            and spec.options.get("level", "1") in map(str, range(1, COUNT + 1))
            and set(spec.options) <= {"level"}
        )

    def needs_player(self, name: str) -> bool:
        """True for an agent with the network of a trained player that comes with Ludus."""
        spec = parse(name)
        return spec.kind in WITH_RUN and not spec.words

    def agent_path(self, name: str) -> str:
        """An agent's name with the path of its run in place of the run's name; BadAgent if it cannot be made here."""
        spec = parse(name)
        if name in self.settings.agents:
            return name
        if len(name) > 200 or not name.isprintable():
            raise BadAgent("the name of an agent has at most 200 printable characters")
        if names_a_program(name):
            raise BadAgent(f"{spec.kind} is a program: the server offers those that it was started with, by --agent")
        if spec.kind == "human":
            raise BadAgent("a person cannot be asked here: give the seat to a person instead")
        if spec.kind == "sb3":
            raise BadAgent("sb3 takes a file: the server offers those that it was started with, by --agent")
        if "batch" in spec.options and not 0 < int(_digits(spec.options["batch"])) <= LARGEST_BATCH:
            raise BadAgent(f"{name}: batch may be 1 to {LARGEST_BATCH} here")
        if spec.kind not in WITH_RUN:
            return name  # a word that is no budget and no option is refused by the agent's kind
        if not spec.words:
            return name  # the player that comes with Ludus
        if len(spec.words) > 1:
            raise BadAgent(f"{name}: name one run, as in {spec.kind}:NAME; /api/catalogue lists the runs")
        run, at, checkpoint = spec.words[0].partition("@")
        folder = self.run_folder(run)
        parts = [f"{folder}{at}{checkpoint}" if part == spec.words[0] else part for part in name.split(":")]
        if ":" in str(folder):
            raise BadAgent(f"{folder} cannot be named in an agent: its path has a colon")
        return ":".join(parts)


def _known_as(entry: Entry, options: Mapping[str, Any]) -> tuple[str, str]:
    """The key by which a game with options is kept in memory."""
    changed = {name: value for name, value in options.items() if value != entry.defaults.get(name)}
    return entry.key, json.dumps(changed, sort_keys=True)


def _changed_at(path: Path) -> float:
    """When a folder was changed; 0 for one that has gone meanwhile, or a link to nothing."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _digits(text: str) -> str:
    return text if text.isascii() and text.isdecimal() and len(text) < 10 else "0"


def _maker(source: str) -> Callable[..., Game]:
    return lambda **options: registry.make(source, **options)


def _about(kind: type) -> str:
    lines = (sys.modules[kind.__module__].__doc__ or "").strip().splitlines() or [""]
    return lines[0].removeprefix(f"{kind.title}: ")  # type: ignore[attr-defined]


def _built_in(name: str) -> Entry:
    kind = registry.game_class(name)
    return Entry(
        name, kind.title, _about(kind), kind.players, kind.simultaneous, "built-in", kind.options(), _maker(name)
    )


def _own_file(file: str) -> Entry:
    """A file from the command line: a Python file is run here, because the user has named it."""
    path = real_path(file)
    key = f"file:{path.name}"
    if file.endswith(DESCRIPTION):
        return _rule_sheet(path, key, "file")
    if not file.endswith(".py"):
        raise UnknownGame(f"--game takes a file that ends in .py or {DESCRIPTION}, not {file}")
    kind = registry.game_class(str(path))
    return Entry(
        key, kind.title, _about(kind), kind.players, kind.simultaneous, "file", kind.options(), _maker(str(path))
    )


def _rule_sheet(path: Path, key: str = "", source: str = "rules") -> Entry:
    if not path.is_file():
        raise UnknownGame(f"{path} is not a file")
    text = path.read_text(encoding="utf-8", errors="replace")
    roles = len(re.findall(r"^\s*\(\s*role ", text, re.MULTILINE | re.IGNORECASE)) or 1
    about = "Rules in GDL, from a file" if source == "file" else "Rules in GDL, uploaded"
    return Entry(
        key or f"rules:{path.stem}",
        path.stem,
        about,
        roles,
        False,
        source,
        DescribedGame.options(),
        _maker(str(path)),
        read_source(path).digest if source == "file" else "",
    )
