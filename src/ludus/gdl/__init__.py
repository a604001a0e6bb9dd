"""Games described in GDL, the Game Description Language."""
