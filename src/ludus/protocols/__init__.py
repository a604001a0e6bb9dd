"""Protocols of other programs, and pictures of boards."""
