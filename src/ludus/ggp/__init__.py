"""General game playing between programs: messages, HTTP, and the line of a match. Players and managers share them."""
