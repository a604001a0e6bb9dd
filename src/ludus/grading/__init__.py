"""Grading agents against exact truth: positions with known values, and how well moves keep them."""
