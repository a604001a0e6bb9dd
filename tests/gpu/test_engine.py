"""The engine and the learner on a GPU: run only where there is one."""

import numpy as np
import pytest
import torch

import ludus
from ludus.nets.engines import TorchEngine
from ludus.nets.evaluator import make_evaluator
from ludus.nets.families import make_network
from ludus.nets.rows import Rows, empty_rows
from ludus.runs.config import Config, with_settings
from ludus.runs.run import Run
from ludus.training.learner import Learner
from ludus.training.replay import Window
from ludus.training.trainer import Trainer
from ludus.training.worker import Worker

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
CONFIG = with_settings(Config(), {"blocks": 3, "width": 16, "batch_size": 256, "simulations": 8, "considered_moves": 7})


@pytest.fixture(scope="module")
def game():
    return ludus.make("connect4").compile()


def planes_of(rows: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2, (rows, 2, 6, 7)).astype(np.float32)


def network_of(game: ludus.Game, seed: int):
    torch.manual_seed(seed)
    return make_network("residual", game, blocks=3, width=16)


def rows_of(game: ludus.Game, count: int) -> Rows:
    evaluator = make_evaluator(game, network_of(game, 0), "torch")
    return Worker(game, CONFIG, evaluator, 64, seed=1).play(count, 8)


@pytest.mark.parametrize("rows", [64, 100, 512])
def test_the_gpu_gives_the_answers_of_the_cpu_also_with_new_weights(game, rows):
    from ludus.gpu.engine import CudaEngine

    gpu, cpu = CudaEngine(), TorchEngine()
    gpu.load(network_of(game, 0))
    assert gpu.unfused == []
    shared = gpu.share()
    for seed in range(1, 4):
        gpu.load(network_of(game, seed))
        cpu.load(network_of(game, seed))
        for engine in (gpu, shared):
            for mine, theirs in zip(engine.run(planes_of(rows)), cpu.run(planes_of(rows)), strict=True):
                np.testing.assert_allclose(mine, theirs, atol=0.03)


def test_an_engine_writes_into_no_other_memory(game):
    from ludus.gpu.engine import CudaEngine

    gpu = CudaEngine()
    gpu.load(network_of(game, 0))
    gpu.run(planes_of(512))
    others = [torch.full((512, 2, 6, 7), 7.0, device="cuda") for _ in range(50)]
    for seed in range(3):
        gpu.run(planes_of(512, seed))
    torch.cuda.synchronize()
    assert all(bool((other == 7.0).all()) for other in others)


@pytest.mark.parametrize(
    "settings", [{}, {"soft_policy_weight": 1.0, "reply_policy_weight": 0.2}, {"roles": True}, {"network": "mlp"}]
)
def test_the_gpu_learns_what_the_cpu_learns(game, settings):
    config = with_settings(CONFIG, settings)
    window = Window(config, empty_rows(game.new_states(1), 2))
    window.add(rows_of(game, 4000))
    learned = {}
    for device in ("cpu", "cuda"):
        torch.manual_seed(0)
        learner = Learner(game, config.make_network(game), config, device)
        rng = np.random.default_rng(0)
        learned[device] = [learner.learn(window.rows, 20, i / 10, rng) for i in range(10)]
    for mine, theirs in zip(learned["cuda"], learned["cpu"], strict=True):
        assert mine.policy == pytest.approx(theirs.policy, rel=0.03)
        assert mine.value == pytest.approx(theirs.value, rel=0.1)
    assert learned["cuda"][-1].policy < learned["cuda"][0].policy - 0.01


def test_a_run_on_the_gpu_goes_on_where_it_was(game, tmp_path):
    settings = {
        "parallel_games": 64,
        "iteration_rows": 500,
        "workers": 2,
        "concurrent_learning": True,
        "planned_rows": 4000,
    }
    run = Run.create(tmp_path / "run", game, with_settings(CONFIG, settings))
    trainer = Trainer(run)
    for _ in range(3):
        trainer.iterate()
    trainer.save()
    again = Trainer(Run.open(tmp_path / "run"))
    again.restore(3)
    first, second = trainer.iterate(), again.iterate()
    assert first is not None
    assert second is not None
    assert second.losses.policy == pytest.approx(first.losses.policy, rel=0.02)
    assert second.steps == first.steps
