"""Sb3VecEnv: the compiled games of VectorEnv for Stable-Baselines3, which has an interface of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from ludus.envs.common import LOSE, GameSource
from ludus.envs.vector import VectorEnv
from ludus.errors import Unsuitable


class Sb3VecEnv(VecEnv):
    """`num_envs` games of one learner against random opponents, stepped in compiled code.

    The info of a game that ended has `terminal_observation`, `values`, which are all players' results, and
    `illegal_action`.
    """

    def __init__(
        self,
        game: GameSource,
        num_envs: int = 64,
        *,
        seat: int | str = "random",
        illegal: str = LOSE,
        render_mode: str | None = None,
        **options: Any,
    ):
        """The arguments are those of VectorEnv."""
        self.envs = VectorEnv(game, num_envs, seat=seat, illegal=illegal, render_mode=render_mode, **options)
        self._chosen = np.zeros(num_envs, np.int64)
        super().__init__(num_envs, self.envs.single_observation_space, self.envs.single_action_space)

    def reset(self) -> NDArray[np.float32]:
        """Begin all games; `seed(number)` before it sets the seed."""
        observations, _ = self.envs.reset(seed=self._seeds[0])
        self._reset_seeds()
        return observations

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Take one action for each game; `step_wait` plays them."""
        self._chosen = actions

    def step_wait(self) -> tuple[NDArray[np.float32], NDArray[Any], NDArray[Any], list[dict[str, Any]]]:
        """Observations, rewards, ends and infos after the actions of `step_async`."""
        observations, rewards, ended, _, found = self.envs.step(self._chosen)
        infos: list[dict[str, Any]] = [{"TimeLimit.truncated": False} for _ in range(self.num_envs)]
        for index in np.flatnonzero(ended):
            ends = found["final_info"]
            infos[index] |= {
                "terminal_observation": found["final_obs"][index],
                "values": ends["values"][index],
                "illegal_action": bool(ends["illegal_action"][index]),
            }
        return observations, rewards.astype(np.float32), ended, infos

    def env_method(self, method_name: str, *arguments: Any, indices: Any = None, **named: Any) -> list[Any]:
        """`action_masks` of the games, which MaskablePPO asks for; games have no other method."""
        if method_name != "action_masks":
            raise Unsuitable(f"the games of Sb3VecEnv have no method {method_name}; they have action_masks")
        masks = self.envs.action_masks()
        return [masks[index] for index in self._get_indices(indices)]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of VectorEnv, once for each game."""
        return [getattr(self.envs, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refused: the games have no attributes of their own."""
        raise Unsuitable("the games of Sb3VecEnv have no attributes to set: give them when you make it")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """False for each game."""
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[Any]:
        """The images of all boards, with render_mode="rgb_array"."""
        return self.envs.render() or [None] * self.num_envs

    def close(self) -> None:
        """Nothing is open."""
