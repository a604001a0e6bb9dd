"""Seeded fuzzing of every command and every parser: briefly in the tests, for long by `make fuzz`."""
