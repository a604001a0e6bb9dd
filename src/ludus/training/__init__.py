"""Learning: self-play -> replay -> learner -> checkpoint, in a folder that a person can open (see run.py)."""
