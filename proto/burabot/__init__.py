"""The contract between the referee and a bot, and a small client for bots in Python."""
