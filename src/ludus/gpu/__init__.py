"""All code that knows about GPUs: compiling for one, the forest, the network and the learner on it."""
