"""The built-in games, one public module each."""
