"""Reinforcement-learning environments for any game: Gymnasium and PettingZoo. docs/environments.md has examples.

    common.py         the game, its spaces and its drawing, which all environments share
    single.py         GymEnv: one learner, agents of Ludus in the other seats
    zoo.py            AECEnv and ParallelEnv: every player is an agent of PettingZoo
    vector.py         VectorEnv: many games at once, stepped in compiled code
    vector_steps.py   its kernels
    stable.py         Sb3VecEnv: the same for Stable-Baselines3
    registration.py   the ids for gymnasium.make

Importing this package registers the built-in games: `gymnasium.make("ludus/Connect4-v0")`.
"""

from typing import TYPE_CHECKING, Any

from ludus.errors import LudusError

try:
    import gymnasium  # noqa: F401
except ImportError:
    raise LudusError("ludus.envs needs Gymnasium: pip install 'ludus[envs]'") from None

from ludus.envs.registration import register_games

if TYPE_CHECKING:
    from ludus.envs.single import GymEnv
    from ludus.envs.stable import Sb3VecEnv
    from ludus.envs.vector import VectorEnv
    from ludus.envs.zoo import AECEnv, ParallelEnv

__all__ = ["AECEnv", "GymEnv", "ParallelEnv", "Sb3VecEnv", "VectorEnv", "register_games"]

_HOMES = {"AECEnv": "zoo", "GymEnv": "single", "ParallelEnv": "zoo", "Sb3VecEnv": "stable", "VectorEnv": "vector"}
"""The module of each class, below `ludus.envs`."""
_INSTALLED_BY = {"pettingzoo": "'ludus[envs]'", "stable_baselines3": "sb3-contrib"}
"""What brings the libraries that some of the classes need."""

register_games()


def __getattr__(name: str) -> Any:
    """Load an environment when it is first asked for: each needs other libraries."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ludus.envs' has no attribute {name!r}")
    from importlib import import_module

    try:
        return getattr(import_module(f"ludus.envs.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name not in _INSTALLED_BY:
            raise
        raise LudusError(f"ludus.envs.{name} needs {error.name}: pip install {_INSTALLED_BY[error.name]}") from None
