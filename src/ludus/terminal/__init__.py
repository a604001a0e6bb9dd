"""The output and the prompts of the command line."""
