"""How others talk to Ludus: protocols of other programs, and pictures of boards."""
