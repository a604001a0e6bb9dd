"""One search for every game: trees in flat arrays, selection rules, the forest, playouts, and the exact solver."""
