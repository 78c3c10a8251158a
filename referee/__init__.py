"""The referee plays one match: it deals, enforces the rules, keeps the clock, writes the record.

It knows nothing of tournaments, databases or containers. The modules of rules, views, scoring and
shuffling are pure: no clock, no I/O, no randomness that is not an argument.
"""
