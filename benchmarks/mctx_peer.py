"""Self-play of mctx + pgx on this machine: python benchmarks/mctx_peer.py BLOCKS WIDTH GAMES SIMULATIONS [NUMBERS]

Connect-4, Gumbel MuZero policy, a residual network of plain convolutions; NUMBERS is float32 or bfloat16. Prints
simulations a second. Needs jax, mctx and pgx, which may be in an environment of their own; benchmarks.selfplay and
benchmarks.gpu call this file there.
"""

import sys
import time

import jax
import jax.numpy as jnp
import mctx
import pgx

BLOCKS, WIDTH, GAMES, SIMULATIONS = map(int, sys.argv[1:5])
NUMBERS = jnp.dtype(sys.argv[5] if len(sys.argv) > 5 else "float32")
env = pgx.make("connect_four")


def convolve(x, weights):
    return jax.lax.conv_general_dilated(x, weights, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def make_weights(key):
    keys = iter(jax.random.split(key, 2 * BLOCKS + 8))

    def normal(*shape):
        return (jax.random.normal(next(keys), shape) * 0.05).astype(NUMBERS)

    return {
        "stem": normal(3, 3, 2, WIDTH),
        "blocks": [(normal(3, 3, WIDTH, WIDTH), normal(3, 3, WIDTH, WIDTH)) for _ in range(BLOCKS)],
        "policy": (normal(1, 1, WIDTH, 16), normal(16 * 42, 7)),
        "value": (normal(1, 1, WIDTH, 16), normal(16 * 42, 64), normal(64, 1)),
    }


def network(weights, planes):
    x = jax.nn.relu(convolve(planes.astype(NUMBERS), weights["stem"]))
    for first, second in weights["blocks"]:
        x = jax.nn.relu(x + convolve(jax.nn.relu(convolve(x, first)), second))
    policy = jax.nn.relu(convolve(x, weights["policy"][0])).reshape(len(x), -1) @ weights["policy"][1]
    value = jax.nn.relu(convolve(x, weights["value"][0])).reshape(len(x), -1)
    value = jnp.tanh(jax.nn.relu(value @ weights["value"][1]) @ weights["value"][2])
    return policy.astype(jnp.float32), value[:, 0].astype(jnp.float32)


def legal_only(logits, states):
    return jnp.where(states.legal_action_mask, logits, jnp.finfo(logits.dtype).min)


def recur(weights, key, actions, states):
    movers = states.current_player
    states = jax.vmap(env.step)(states, actions)
    logits, values = network(weights, states.observation)
    rewards = states.rewards[jnp.arange(GAMES), movers]
    values = jnp.where(states.terminated, 0.0, values)
    discounts = jnp.where(states.terminated, 0.0, -1.0)
    output = mctx.RecurrentFnOutput(
        reward=rewards, discount=discounts, prior_logits=legal_only(logits, states), value=values
    )
    return output, states


@jax.jit
def move(weights, key, states):
    search, renew = jax.random.split(key)
    logits, values = network(weights, states.observation)
    root = mctx.RootFnOutput(prior_logits=legal_only(logits, states), value=values, embedding=states)
    found = mctx.gumbel_muzero_policy(
        params=weights,
        rng_key=search,
        root=root,
        recurrent_fn=recur,
        num_simulations=SIMULATIONS,
        invalid_actions=~states.legal_action_mask,
        qtransform=mctx.qtransform_completed_by_mix_value,
    )
    states = jax.vmap(env.step)(states, found.action)
    fresh = jax.vmap(env.init)(jax.random.split(renew, GAMES))
    over = states.terminated | states.truncated
    return jax.tree.map(lambda a, b: jnp.where(over.reshape(-1, *[1] * (a.ndim - 1)), a, b), fresh, states)


key = jax.random.PRNGKey(0)
weights = make_weights(key)
states = jax.vmap(env.init)(jax.random.split(key, GAMES))
for _ in range(2):
    states = jax.block_until_ready(move(weights, key, states))
began, moves = time.perf_counter(), 0
while time.perf_counter() < began + 8.0:
    key, used = jax.random.split(key)
    states = jax.block_until_ready(move(weights, used, states))
    moves += 1
print(GAMES * SIMULATIONS * moves / (time.perf_counter() - began))
