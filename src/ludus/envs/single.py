"""GymEnv: one learner plays any game, with agents of Ludus in the other seats, for Gymnasium."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ludus.agents.agent import Agent
from ludus.agents.naming import make_agent
from ludus.envs.common import (
    BEGINNINGS,
    ILLEGAL,
    LOSE,
    LOST,
    RAISE,
    RENDER_FPS,
    RENDER_MODES,
    GameSource,
    action_id,
    choice_of,
    known_options,
    mask_of,
    observation_space,
    open_game,
    render,
)
from ludus.errors import BadOption, IllegalMove, Unsuitable
from ludus.game import Game
from ludus.position import Position
from ludus.rules import EVERYONE
from ludus.spec import shortened

Opponent = str | Agent
"""An agent by its name, such as "uct:100", or the agent itself."""


class GymEnv(gymnasium.Env[NDArray[np.float32], np.int64]):
    """A game of one learner. A step plays its action, and then the others up to the learner's next choice.

    The observation is the position from the learner's view, float32, shape game.observation. The reward is 0 until the
    game ends, then the learner's result in [-1, 1]. Nothing is truncated: every game of Ludus ends. Where all players
    move at once, the opponents choose at the same time as the learner.

    Entries of the info:

        action_mask     int8 [actions]: 1 for a legal action
        player          the learner's seat
        values          at the end of the game: float32 [players], every player's result
        illegal_action  at the end of the game: True if an illegal action of the learner ended it

    `action_masks()` returns the mask as sb3-contrib's MaskablePPO asks for it.
    """

    metadata = {"render_modes": RENDER_MODES, "render_fps": RENDER_FPS}

    def __init__(
        self,
        game: GameSource,
        *,
        opponents: Opponent | Sequence[Opponent] = "random",
        seat: int | str = "random",
        illegal: str = LOSE,
        render_mode: str | None = None,
        **options: Any,
    ):
        """`game` and `options` as for ludus.make.

        opponents   the agent in all other seats, or a list with one for each, in the order of the seats
        seat        the learner's seat: a number from 0, "random" for each game, or "alternate"
        illegal     "lose": an illegal action ends the game with reward -1; "raise": it raises IllegalMove
        """
        self.game = open_game(game, options)
        self.seating = choice_of("seat", seat, ["random", "alternate", *range(self.game.players)])
        self.illegal = choice_of("illegal", illegal, ILLEGAL)
        self.render_mode = choice_of("render_mode", render_mode, [None, *RENDER_MODES])
        self._given = _opponents(opponents, self.game)
        self.opponents: list[Agent] = self._make_opponents()
        """The agents in the other seats, in their order; none after close()."""
        self.observation_space = observation_space(self.game)
        self.action_space = spaces.Discrete(self.game.actions)
        self.position: Position | None = None
        """The present position, with its history; None before the first reset."""
        self.seat = 0
        """The learner's seat in this game."""
        self._games = 0
        self._over = True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin a game; the same seed gives the same games. options={"seat": 1} sets the learner's seat in this one."""
        super().reset(seed=seed)
        if seed is not None:
            self._games = 0
        wanted = known_options(options, "seat").get("seat", self.seating)
        choice_of("seat", wanted, ["random", "alternate", *range(self.game.players)])
        self.opponents = self.opponents or self._make_opponents()
        for _ in range(BEGINNINGS):
            self.seat = self._seat(wanted)
            self.position = self.game.start(self._seed())
            for agent in self.opponents:
                agent.new_game(self._seed())
            self._play_others()
            if not self.position.is_over:
                break
        else:
            raise Unsuitable(f"{self.game.name}: the learner gets no turn in seat {self.seat}; give another seat")
        self._games += 1
        self._over = False
        self._show()
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Play the learner's action, an id."""
        if self._over or self.position is None:
            raise IllegalMove("no game is under way: call reset()")
        action = action_id(action)
        legal = action in self.position.actions_of(self.seat)
        if not legal and self.illegal == RAISE:
            raise IllegalMove(f"action {action} is not legal; info['action_mask'] has the legal ones")
        if legal:
            self._play(action)
            self._play_others()
            values = np.array(self.position.values, np.float32)
        else:
            values = np.zeros(self.game.players, np.float32)
            values[self.seat] = LOST
        self._over = self.position.is_over or not legal
        reward, info = 0.0, self._info()
        if self._over:
            reward = float(values[self.seat])
            info |= {"values": values, "illegal_action": not legal}
        self._show()
        return self._observation(), reward, self._over, False, info

    def action_masks(self) -> NDArray[np.bool_]:
        """bool [actions]: True for the learner's legal actions."""
        return self._mask().astype(np.bool_)

    def render(self) -> Any:
        """The board as text or as an image, depending on render_mode."""
        return None if self.position is None else render(self.position, self.render_mode)

    def close(self) -> None:
        """End the game under way and opponents that are programs. reset() starts them again."""
        self.opponents, self._over = [], True

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the opponents: searches and programs cannot be copied."""
        return {name: value for name, value in self.__dict__.items() if name != "opponents"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """In a copy, opponents that were given by name are made anew; they have seen nothing of the game under way."""
        self.__dict__.update(state)
        self.opponents = self._make_opponents()

    # --- parts ------------------------------------------------------------------------------------------------------

    def _seat(self, wanted: int | str) -> int:
        if wanted == "random":
            return int(self.np_random.integers(self.game.players))
        return self._games % self.game.players if wanted == "alternate" else int(wanted)

    def _make_opponents(self) -> list[Agent]:
        return [
            make_agent(given, self.game, place) if isinstance(given, str) else given
            for place, given in enumerate(self._given)
        ]

    def _seed(self) -> int:
        return int(self.np_random.integers(2**31))

    def _play_others(self) -> None:
        """Play the other players up to the learner's next choice."""
        assert self.position is not None
        while not self.position.is_over and not self.position.actions_of(self.seat):
            self._play(None)

    def _play(self, action: int | None) -> None:
        """Play one move: the learner's action, if it has a choice here, and those of the others who move."""
        position = self.position
        assert position is not None
        if position.to_move == EVERYONE:
            joint = [self._choice(player, action) for player in range(self.game.players)]
            self.position = position.play(tuple(joint))
        else:
            self.position = position.play(self._choice(position.to_move, action))

    def _choice(self, player: int, action: int | None) -> int:
        """The action of a player: the learner's, or the one that its agent chooses; -1 if it has no choice."""
        assert self.position is not None
        if not self.position.actions_of(player):
            return -1
        if player == self.seat:
            assert action is not None
            return action
        agent = self.opponents[player - (player > self.seat)]
        return agent.choose(self.position, player=player).action

    def _mask(self) -> NDArray[np.int8]:
        actions = [] if self.position is None or self._over else self.position.actions_of(self.seat)
        return mask_of(self.game, actions)

    def _observation(self) -> NDArray[np.float32]:
        assert self.position is not None
        return self.position.observe(self.seat)

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._mask(), "player": self.seat}

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()


def _opponents(given: Opponent | Sequence[Opponent], game: Game) -> list[Opponent]:
    """What was given for each of the other seats, in their order."""
    others = game.players - 1
    each: list[Any] = list(given) if isinstance(given, list | tuple) else [given] * others
    if len(each) != others:
        raise BadOption(
            f"{game.name} has {others} other seats: give as many opponents, or one for all, not {len(each)}"
        )
    for agent in each:
        if not isinstance(agent, str) and not callable(getattr(agent, "choose", None)):
            raise BadOption(
                f"an opponent must be the name of an agent, such as uct:100, or an agent, not {shortened(agent)}"
            )
    return each
