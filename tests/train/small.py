"""Settings of a run that learns something in seconds."""

SMALL = {
    "blocks": 1,
    "width": 8,
    "games_at_once": 16,
    "iteration": 128,
    "batch": 64,
    "window": 512,
    "budget_rows": 4000,
    "simulations": 8,
    "workers": 1,
    "learner_threads": 1,
}
