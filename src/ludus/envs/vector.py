"""VectorEnv: many games of one learner at once, stepped in compiled code, for Gymnasium."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector import VectorEnv as GymnasiumVectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ludus.envs.common import (
    BEGINNINGS,
    ILLEGAL,
    LOSE,
    RAISE,
    RENDER_FPS,
    RENDER_MODES,
    GameSource,
    choice_of,
    known_options,
    observation_space,
    open_game,
    render,
)
from ludus.envs.vector_steps import ALTERNATE, RANDOM, SELF_PLAY, begin_games, step_games
from ludus.errors import BadOption, IllegalMove, Unsuitable
from ludus.position import Position
from ludus.rng import generators
from ludus.spec import shortened

OPPONENTS = ("random", "self")


class VectorEnv(GymnasiumVectorEnv[NDArray[np.float32], NDArray[np.int64], NDArray[Any]]):
    """`num_envs` games at once. One step is one call of compiled code, with the opponents' moves and new games.

    With opponents="random" the other seats play random moves, and a step leads to the learner's next choice. With
    opponents="self" a step is one move of the player to move, whose view the observation has: the learner plays all
    seats. That needs a game without simultaneous moves.

    The observations are float32 [num_envs, *game.observation]. A game rewards its learner once, at its end, with the
    result in [-1, 1]; in self-play, the player who made the last move. Nothing is truncated.

    Entries of the infos:

        action_mask     int8 [num_envs, actions]: 1 for a legal action
        player          int64 [num_envs]: the player who acts next, in whose view the observation is
        final_obs       object [num_envs]: with AutoresetMode.SAME_STEP, the last observation of a game that ended
        final_info      for a game that ended (directly in the infos, unless the mode is SAME_STEP): `values` float32
                        [num_envs, players], every player's result; `acted` int64 [num_envs], the player whom the
                        reward is for; `illegal_action` bool [num_envs]

    As in Gymnasium, `_name` says in which games the entry `name` is set.
    """

    def __init__(
        self,
        game: GameSource,
        num_envs: int = 1,
        *,
        opponents: str = "random",
        seat: int | str = "random",
        illegal: str = LOSE,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        render_mode: str | None = None,
        **options: Any,
    ):
        """`game` and `options` as for ludus.make.

        seat            the learner's seat: a number from 0, "random" for each game, or "alternate"
        illegal         "lose": an illegal action ends the game with reward -1; "raise": it raises IllegalMove
        autoreset_mode  SAME_STEP: the step that ends a game returns the beginning of the next; NEXT_STEP: the step
                        after it does so, and ignores the action; DISABLED: games that ended must be begun anew by
                        reset(options={"reset_mask": ended})
        """
        self.game = open_game(game, options)
        players = self.game.players
        if isinstance(num_envs, bool) or not isinstance(num_envs, int | np.integer) or num_envs < 1:
            raise BadOption(f"num_envs must be a whole number from 1, not {shortened(num_envs)}")
        choice_of("opponents", opponents, OPPONENTS)
        choice_of("seat", seat, ["random", "alternate", *range(players)])
        self.illegal = choice_of("illegal", illegal, ILLEGAL)
        known = [mode.value for mode in AutoresetMode]
        mode = autoreset_mode.value if isinstance(autoreset_mode, AutoresetMode) else autoreset_mode
        self.autoreset_mode = AutoresetMode(choice_of("autoreset_mode", mode, known))
        self.render_mode = choice_of("render_mode", render_mode, [None, *RENDER_MODES])
        self.metadata = {
            "render_modes": RENDER_MODES,
            "render_fps": RENDER_FPS,
            "autoreset_mode": self.autoreset_mode,
        }
        self._seating = {"random": RANDOM, "alternate": ALTERNATE}.get(str(seat), 0)
        if opponents == "self":
            if self.game.simultaneous:
                raise Unsuitable(f"{self.game.name} has simultaneous moves: opponents must be random, not self")
            self._seating = SELF_PLAY
        self._seat = int(seat) if self._seating == 0 else 0
        self.num_envs = num_envs
        self.single_observation_space = observation_space(self.game)
        self.single_action_space = spaces.Discrete(self.game.actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._states = self.game.new_states(num_envs)
        self._random: NDArray[np.uint64] | None = None
        self._seats = np.zeros(num_envs, np.int64)
        self._masks = np.zeros((num_envs, self.game.actions), np.bool_)
        self._ended = np.zeros(num_envs, np.bool_)
        self._final = np.zeros((num_envs, *(self.game.observation or ())), np.float32)
        self._scratch = (
            np.zeros(self.game.most_legal, np.int32),
            np.zeros(players, np.int32),
            np.zeros(players, np.float32),
        )

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin all games anew; the same seed gives the same games for the same actions.

        A list has a seed for each game; None in it keeps the random numbers of its game.
        options={"reset_mask": mask}, bool [num_envs], begins only the games in which the mask is True.
        """
        wanted = self._wanted(options)
        seeds = self._seeds(seed)
        super().reset(seed=None if isinstance(seed, Sequence) else seed)
        if seed is not None or self._random is None:
            fresh = generators(int(self.np_random.integers(2**31)), self.num_envs)
            for index, given in enumerate(seeds):
                if given is not None:
                    fresh[index] = generators(given, 1)[0]
            anew = wanted
            if seeds and self._random is not None:
                anew = wanted & np.array([given is not None for given in seeds])
            # The seats are turned on by one before the first game: then they are 0, 1, 2 and so on.
            seats = np.arange(self.num_envs) - 1 if self._seating == ALTERNATE else np.full(self.num_envs, self._seat)
            if self._random is None:
                self._random = fresh
            self._random[anew], self._seats[anew] = fresh[anew], seats[anew]
        observations = np.zeros(self._final.shape, np.float32)
        began = begin_games(
            *self._games(), self._seating, BEGINNINGS, wanted, observations, self._masks, self._ended, *self._scratch
        )
        self._check(began)
        self._show()
        return observations, self._infos()

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Play one action in each game, int [num_envs]."""
        if self._random is None:
            raise IllegalMove("the games have not begun: call reset()")
        given = np.asarray(actions)
        if not np.issubdtype(given.dtype, np.integer):
            raise IllegalMove(f"actions must be integers, not {given.dtype}")
        if self.autoreset_mode is AutoresetMode.DISABLED and self._ended.any():
            index = int(np.flatnonzero(self._ended)[0])
            raise IllegalMove(f"game {index} is over: begin it by reset(options={{'reset_mask': ...}})")
        chosen = np.ascontiguousarray(given, np.int64)
        if chosen.shape != (self.num_envs,):
            raise IllegalMove(f"give one action for each of the {self.num_envs} games, not the shape {chosen.shape}")
        if self.illegal == RAISE:
            self._refuse_illegal(chosen)
        count = self.num_envs
        observations = np.zeros(self._final.shape, np.float32)
        rewards, results = np.zeros(count, np.float64), np.zeros((count, self.game.players), np.float32)
        terminated, illegal, acted = np.zeros(count, np.bool_), np.zeros(count, np.bool_), np.zeros(count, np.int64)
        same_step = self.autoreset_mode is AutoresetMode.SAME_STEP
        began = step_games(
            *self._games(),
            self._seating,
            BEGINNINGS,
            same_step,
            chosen,
            observations,
            self._masks,
            self._ended,
            rewards,
            terminated,
            results,
            self._final,
            acted,
            illegal,
            *self._scratch,
        )
        self._check(began)
        infos = self._infos()
        if terminated.any():
            ends = {"values": results, "acted": acted, "illegal_action": illegal}
            ends |= {f"_{name}": terminated.copy() for name in ends}
            if same_step:
                final = np.full(count, None, object)
                where = np.flatnonzero(terminated)
                for index, last in zip(where.tolist(), self._final[where], strict=True):
                    final[index] = last
                infos |= {"final_obs": final, "_final_obs": terminated.copy()}
                infos |= {"final_info": ends, "_final_info": terminated.copy()}
            else:
                infos |= ends
        self._show()
        return observations, rewards, terminated, np.zeros(count, np.bool_), infos

    def action_masks(self) -> NDArray[np.bool_]:
        """bool [num_envs, actions]: True for a legal action."""
        return self._masks.copy()

    def position(self, index: int) -> Position:
        """The present position of one game, without its history."""
        return Position(self.game, self._states[[index]])

    def render(self) -> tuple[Any, ...] | None:
        """The boards of all games as texts or images, depending on render_mode."""
        frames = tuple(render(self.position(index), self.render_mode) for index in range(self.num_envs))
        return None if self.render_mode in (None, "human") else frames

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def _seeds(self, seed: int | Sequence[int | None] | None) -> Sequence[int | None]:
        """The seed of each game, if they were given one by one."""
        if not isinstance(seed, Sequence):
            return []
        if isinstance(seed, str) or len(seed) != self.num_envs:
            raise BadOption(f"seed must be a whole number, or a list of {self.num_envs}, one for each game")
        if any(each is not None and (not isinstance(each, int | np.integer) or each < 0) for each in seed):
            raise BadOption("each seed must be a whole number from 0 on, or None")
        return [None if each is None else int(each) for each in seed]

    def _wanted(self, options: dict[str, Any] | None) -> NDArray[np.bool_]:
        """bool [num_envs]: True for the games that a reset with these options begins."""
        given = known_options(options, "reset_mask").get("reset_mask")
        if given is None:
            return np.ones(self.num_envs, np.bool_)
        mask = np.asarray(given)
        if mask.dtype != np.bool_ or mask.shape != (self.num_envs,) or not mask.any():
            raise BadOption(f"reset_mask must be an array of {self.num_envs} booleans, at least one of them True")
        if self._random is None:
            raise BadOption("the games have not begun: call reset() without a reset_mask first")
        return np.ascontiguousarray(mask)

    def _games(self) -> tuple[Any, ...]:
        return self.game.rules, self._states, self._random, self._seats

    def _infos(self) -> dict[str, Any]:
        everywhere = np.ones(self.num_envs, np.bool_)
        return {
            "action_mask": self._masks.copy().view(np.int8),
            "_action_mask": everywhere,
            "player": self._seats.copy(),
            "_player": everywhere.copy(),
        }

    def _check(self, began: bool) -> None:
        self.game.raise_pending()
        if not began:
            raise Unsuitable(f"{self.game.name}: the learner gets no turn in its seat; give another seat")

    def _refuse_illegal(self, chosen: NDArray[np.int64]) -> None:
        known = (chosen >= 0) & (chosen < self.game.actions)
        rows = np.arange(self.num_envs)
        bad = ~self._ended & ~(known & self._masks[rows, np.where(known, chosen, 0)])
        if bad.any():
            index = int(np.flatnonzero(bad)[0])
            raise IllegalMove(
                f"game {index}: action {chosen[index]} is not legal; infos['action_mask'] has the legal ones"
            )
