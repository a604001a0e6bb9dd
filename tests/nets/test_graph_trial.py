"""The trial of the kernels for graphs on a GPU. Here the CPU stands in for the GPU."""

import functools
import subprocess

import numpy as np
import pytest
import torch

import ludus
from ludus.gpu import relations
from ludus.native import store
from ludus.nets import graph_trial
from ludus.nets.calibrating import sample_positions
from ludus.nets.families import FAMILIES
from ludus.nets.graph_engine import NativeEngine
from ludus.nets.graph_samples import GraphSampler
from ludus.nets.graph_trial import find_problem, lively_network, why_not
from ludus.nets.samples import Targets
from ludus.training.precision import can_use_bfloat16
from ludus.training.steps import ThreadedSteps

CPU = torch.device("cpu")
Steps = functools.partial(ThreadedSteps, device=CPU)


@pytest.fixture(scope="module")
def game():
    return ludus.make("sevn", base=5).compile()


class Wrong(NativeEngine):
    """Adds noise to the answers."""

    def __init__(self, policy=0.0, values=0.0):
        super().__init__()
        self.noise, self.rng = (policy, values), np.random.default_rng(0)

    def run(self, inputs):
        answers = zip(super().run(inputs), self.noise, strict=True)
        return tuple(each + noise * self.rng.normal(size=each.shape).astype(np.float32) for each, noise in answers)


class WrongSteps(ThreadedSteps):
    """Computes the right losses, and gives the optimiser other gradients."""

    def _gradients(self, *arguments):
        losses, gradients = super()._gradients(*arguments)
        return losses, [each.flip(0) for each in gradients]


class WorseSteps(ThreadedSteps):
    """Computes other losses on the larger sample."""

    def _gradients(self, sampler, rows, network, count, seed):
        losses, gradients = super()._gradients(sampler, rows, network, count, seed)
        return losses * (1.5 if losses[0] > 4.0 else 1.0), gradients


def test_what_computes_the_same_has_no_problem(game):
    assert find_problem(game, NativeEngine(), Steps, CPU) == ""


def test_rounding_to_bfloat16_is_no_problem(game):
    if not can_use_bfloat16():
        pytest.skip("this CPU has no instructions for bfloat16")
    assert find_problem(game, NativeEngine(), functools.partial(Steps, bfloat16=True), CPU) == ""


@pytest.mark.parametrize(
    ("engine", "steps", "told"),
    [
        (Wrong(policy=1.0), Steps, "the logits of the network's layers differ by"),
        (Wrong(values=0.5), Steps, "the values of the network's layers differ by"),
        (NativeEngine(), functools.partial(WrongSteps, device=CPU), "the learner's gradients differ by"),
        (NativeEngine(), functools.partial(WorseSteps, device=CPU), "the learner's losses and its gradient's norm are"),
    ],
)
def test_what_differs_is_told(game, engine, steps, told):
    problem = find_problem(game, engine, steps, CPU)
    assert problem.startswith(told)
    assert "\n" not in problem


def test_trees_that_see_other_graphs_are_told(game, monkeypatch):
    network, engine = lively_network(game), NativeEngine()
    engine.load(network)
    states, _ = sample_positions(game, 24)
    reference = graph_trial.GraphEvaluator(game, graph_trial.TorchEngine())
    reference.engine.load(network)
    assert graph_trial.compare_trees(game, engine, reference, states) == ""
    wrong = Wrong(values=0.5)
    wrong.load(network)
    assert graph_trial.compare_trees(game, wrong, reference, states).startswith("the values of searches on the GPU")


# --- the trial as a process -------------------------------------------------------------------------------------------


@pytest.fixture
def on_gpu(monkeypatch):
    """A machine that seems to have a GPU, whose trials are not kept."""
    kept = {}
    monkeypatch.setattr(graph_trial.gpu, "is_usable", lambda: True)
    monkeypatch.setattr(graph_trial, "_versions", lambda: "")
    monkeypatch.setattr(store, "read", kept.get)
    monkeypatch.setattr(store, "write", kept.__setitem__)
    monkeypatch.setattr(relations, "refused", False)
    why_not.cache_clear()
    yield kept
    why_not.cache_clear()


def ended(monkeypatch, status=0, stdout="", stderr=""):
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], status, stdout, stderr))


@pytest.mark.parametrize(
    ("status", "stdout", "stderr", "told"),
    [
        (0, "Compiling\nproblem: the logits differ by 0.50\n", "", "the logits differ by 0.50"),
        (
            1,
            "",
            "Traceback\nModuleNotFoundError: ludus",
            "their trial ended with status 1 (ModuleNotFoundError: ludus)",
        ),
        (-11, "", "", "their trial ended with status -11 (no message)"),
    ],
)
def test_a_trial_that_fails_leaves_graphs_to_the_cpu(game, on_gpu, monkeypatch, status, stdout, stderr, told):
    ended(monkeypatch, status, stdout, stderr)

    class OnGpu(NativeEngine):
        precision = "bfloat16"

    evaluator = FAMILIES["graph"].make_evaluator(game, OnGpu())
    assert type(evaluator.engine) is NativeEngine
    forest = evaluator.share().make_forest([None], trees=2, nodes=4, seed=0)
    assert forest.why_not_on_gpu.startswith(f"the GPU's kernels for graphs are not used: {told}")
    assert not GraphSampler(game, Targets(), 1).fixed_shape  # so steps are not captured
    assert relations.refused
    assert relations._largest_by_triton() is None
    assert not on_gpu


def test_a_trial_that_does_not_end_failed(game, on_gpu, monkeypatch):
    def run(*_, timeout, **__):
        raise subprocess.TimeoutExpired([], timeout)

    monkeypatch.setattr(subprocess, "run", run)
    assert why_not(game.spec).endswith("their trial did not end (TimeoutExpired)")


def test_a_trial_that_went_well_is_not_repeated(game, on_gpu, monkeypatch):
    ended(monkeypatch, 0, "problem: \n")
    assert why_not(game.spec) == ""
    assert len(on_gpu) == 1
    why_not.cache_clear()
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("a process was started"))
    assert why_not(game.spec) == ""
    assert GraphSampler(game, Targets(), 1).fixed_shape


def test_without_a_gpu_nothing_is_tried(game, monkeypatch):
    why_not.cache_clear()
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("a process was started"))
    if not torch.cuda.is_available():
        assert why_not(game.spec) == ""


def test_the_process_names_what_the_machine_lacks(game):
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    told = graph_trial._run('{"source": "sevn", "options": {"base": 5}}')
    assert told == "Unsuitable: the engine cuda needs an NVIDIA GPU that PyTorch can use; this machine shows none"
