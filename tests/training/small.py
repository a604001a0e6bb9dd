"""Settings of a run that learns something in seconds."""

SMALL = {
    "blocks": 1,
    "width": 8,
    "parallel_games": 16,
    "iteration_rows": 128,
    "batch_size": 64,
    "window_rows": 512,
    "planned_rows": 4000,
    "simulations": 8,
    "workers": 1,
    "learner_threads": 1,
}
