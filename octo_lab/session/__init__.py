"""What people say and what becomes of it: routing, workers, turns, commands."""
