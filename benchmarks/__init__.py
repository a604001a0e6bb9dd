"""What the documentation claims, as commands."""
