"""Settings of runs that learn something in seconds."""

QUICK = {
    "blocks": 1,
    "width": 8,
    "parallel_games": 16,
    "iteration_rows": 128,
    "batch_size": 64,
    "window_rows": 512,
    "simulations": 8,
    "workers": 1,
    "learner_threads": 1,
}
"""For runs that a preflight plans."""
SMALL = {**QUICK, "planned_rows": 4000}
"""For runs without a preflight."""
