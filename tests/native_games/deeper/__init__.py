"""A package that lies beside the probe."""
