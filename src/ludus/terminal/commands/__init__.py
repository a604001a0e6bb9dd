"""The commands of the command line, a file for each kind. Nothing heavy is imported before a command needs it."""
