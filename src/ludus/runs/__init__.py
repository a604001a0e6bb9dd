"""The folder of a training run: settings, files, checkpoints."""
