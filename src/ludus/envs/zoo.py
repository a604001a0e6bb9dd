"""AECEnv and ParallelEnv: any game with every player as an agent of PettingZoo.

In both, the players are player_0, player_1 and so on. A player observes a dictionary:

    observation     the position from its view: float32, shape game.observation
    action_mask     int8 [actions]: 1 for a legal action

All rewards are 0 until the game ends, then each player gets its result in [-1, 1]. Nothing is truncated. An action that
the mask forbids ends the game: its player gets -1, the others 0, and all infos have `illegal_action`. With
illegal="raise" it raises IllegalMove instead. In a game that is over at its start, every player of an AECEnv is
terminated after reset, and a ParallelEnv has no agents.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pettingzoo
from gymnasium import spaces

from ludus.envs.common import (
    ILLEGAL,
    LOSE,
    LOST,
    RAISE,
    RENDER_FPS,
    RENDER_MODES,
    GameSource,
    action_id,
    choice_of,
    mask_of,
    observation_space,
    open_game,
    render,
)
from ludus.errors import IllegalMove
from ludus.position import Position
from ludus.rules import EVERYONE

NO_CHOICE = -1
"""The action of a player who has no choice where everyone moves."""


class _Players:
    """The game, the names and spaces of its players, and the present position."""

    metadata: dict[str, Any]

    def __init__(
        self, game: GameSource, *, illegal: str = LOSE, render_mode: str | None = None, **options: Any
    ) -> None:
        """`game` and `options` as for ludus.make.

        illegal     "lose": an illegal action ends the game with reward -1; "raise": it raises IllegalMove
        """
        self.game = open_game(game, options)
        self.illegal = choice_of("illegal", illegal, ILLEGAL)
        self.render_mode = choice_of("render_mode", render_mode, [None, *RENDER_MODES])
        self.metadata = {
            "name": f"ludus_{self.game.name}",
            "render_modes": RENDER_MODES,
            "render_fps": RENDER_FPS,
            "is_parallelizable": self.game.simultaneous,
        }
        self.possible_agents = [f"player_{player}" for player in range(self.game.players)]
        self.agents: list[str] = []
        self.players = {name: player for player, name in enumerate(self.possible_agents)}
        """The number of each player by its name."""
        mask = spaces.Box(0, 1, (self.game.actions,), np.int8)
        view = spaces.Dict({"observation": observation_space(self.game), "action_mask": mask})
        self.observation_spaces = dict.fromkeys(self.possible_agents, view)
        self.action_spaces = {name: spaces.Discrete(self.game.actions) for name in self.possible_agents}
        self.position: Position | None = None
        """The present position, with its history; None before the first reset."""
        self._random: np.random.Generator | None = None

    def observation_space(self, agent: str) -> Any:
        """The space of the dictionaries that a player observes."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """The space of the action ids."""
        return self.action_spaces[agent]

    def render(self) -> Any:
        """The board as text or as an image, depending on render_mode."""
        return None if self.position is None else render(self.position, self.render_mode)

    def close(self) -> None:
        """Nothing is open."""

    def _begin(self, seed: int | None) -> Position:
        if seed is not None or self._random is None:
            self._random = np.random.default_rng(seed)
        self.agents = list(self.possible_agents)
        return self._played_on(self.game.start(int(self._random.integers(2**31))))

    def _played_on(self, position: Position) -> Position:
        """The first position from here on in which a player has a choice."""
        nobody = (NO_CHOICE,) * self.game.players
        while not position.is_over and not any(map(position.actions_of, range(self.game.players))):
            position = position.play(nobody)
        return position

    def _legal(self, position: Position, player: int, action: Any) -> bool:
        """True if a player may play this action; with illegal="raise", IllegalMove if not."""
        legal = action_id(action) in position.actions_of(player)
        if not legal and self.illegal == RAISE:
            raise IllegalMove(f"action {action} of player_{player} is not legal; its action_mask has the legal ones")
        return legal

    def _play(self, position: Position, chosen: dict[int, int]) -> Position:
        """The position after the actions of all who have a choice, by player."""
        if position.to_move == EVERYONE:
            return self._played_on(position.play(tuple(chosen.get(k, NO_CHOICE) for k in range(self.game.players))))
        return self._played_on(position.play(chosen[position.to_move]))

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()


class AECEnv(_Players, pettingzoo.AECEnv):
    """Any game, one player after the other.

    Where everyone moves at once, the players with a choice are asked in turn, and nobody sees an action before all are
    given. The mask of a player who has no choice is all 0; such a player is never asked.
    """

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game; the same seed gives the same game for the same actions. There are no options."""
        self.position = self._begin(seed)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._chosen: dict[int, int] = {}
        self._skip_agent_selection = None
        if self.position.is_over:
            self._end_by_the_rules()
            self._accumulate_rewards()
        else:
            self._select()
        self._show()

    def observe(self, agent: str) -> dict[str, Any]:
        """What a player observes now."""
        if self.position is None:
            raise IllegalMove("no game is under way: call reset()")
        player = self.players[agent]
        actions = [] if self.terminations.get(agent, True) else self.position.actions_of(player)
        return {"observation": self.position.observe(player), "action_mask": mask_of(self.game, actions)}

    def step(self, action: Any) -> None:
        """Play an action of the player `agent_selection`; None if the game is over."""
        if self.position is None or not self.agents:
            raise IllegalMove("no game is under way: call reset()")
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        player = self.players[agent]
        if not self._legal(self.position, player, action):
            self._end({agent: LOST}, illegal_action=True)
        else:
            self._chosen[player] = int(action)
            if self._select():
                self.position, self._chosen = self._play(self.position, self._chosen), {}
                if self.position.is_over:
                    self._end_by_the_rules()
                else:
                    self._select()
        self._accumulate_rewards()
        self._show()

    def _select(self) -> bool:
        """Ask the next player who has a choice and has not made it; returns True if there is none."""
        assert self.position is not None
        for agent, player in self.players.items():
            if player not in self._chosen and self.position.actions_of(player):
                self.agent_selection = agent
                return False
        return True

    def _end_by_the_rules(self) -> None:
        assert self.position is not None
        self._end(dict(zip(self.possible_agents, self.position.values, strict=True)))

    def _end(self, rewards: dict[str, float], **info: Any) -> None:
        self.rewards |= rewards
        self.terminations = dict.fromkeys(self.agents, True)
        self.infos = {agent: dict(info) for agent in self.agents}
        self.agent_selection = self.agents[0]


class ParallelEnv(_Players, pettingzoo.ParallelEnv):
    """Any game, with an action of every player in each step; meant for games in which all players move at once.

    The action of a player who has no choice is ignored. Its mask allows action 0 alone, so that a policy has something
    to choose, and its info has `choice` False.
    """

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin a game; the same seed gives the same game for the same actions. There are no options."""
        self.position = self._begin(seed)
        if self.position.is_over:
            self.agents = []
        self._show()
        return self._views(), self._infos()

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        """Play the actions of all players, by name; those of players without a choice may be left out."""
        if self.position is None or not self.agents:
            raise IllegalMove("no game is under way: call reset()")
        deciders = {agent: player for agent, player in self.players.items() if self.position.actions_of(player)}
        missing = [agent for agent in deciders if agent not in actions]
        if missing:
            raise IllegalMove(f"the action of {missing[0]} is missing")
        wrong = [agent for agent, k in deciders.items() if not self._legal(self.position, k, actions[agent])]
        if not wrong:
            self.position = self._play(self.position, {k: int(actions[agent]) for agent, k in deciders.items()})
        values = [LOST if agent in wrong else 0.0 for agent in self.agents] if wrong else list(self.position.values)
        over = self.position.is_over or bool(wrong)
        views, infos = self._views(over), self._infos(over)
        for info in infos.values():
            info |= {"illegal_action": True} if wrong else {}
        rewards, ends = dict(zip(self.agents, values, strict=True)), dict.fromkeys(self.agents, over)
        truncations = dict.fromkeys(self.agents, False)
        if over:
            self.agents = []
        self._show()
        return views, rewards, ends, truncations, infos

    def _views(self, over: bool = False) -> dict[str, Any]:
        assert self.position is not None
        views = {}
        for agent in self.agents:
            player = self.players[agent]
            actions = [] if over else self.position.actions_of(player) or [0]
            views[agent] = {"observation": self.position.observe(player), "action_mask": mask_of(self.game, actions)}
        return views

    def _infos(self, over: bool = False) -> dict[str, Any]:
        assert self.position is not None
        return {
            agent: {"choice": not over and bool(self.position.actions_of(self.players[agent]))} for agent in self.agents
        }
