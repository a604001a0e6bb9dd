"""What the command line shows, and how it talks with a person."""
