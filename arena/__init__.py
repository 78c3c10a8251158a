"""The arena is everything around a match: bots, sandboxes, tournaments, results and ratings."""
