"""Positions whose exact value is known, and moves graded by them."""
