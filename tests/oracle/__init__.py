"""The rules of the game a second time, slow and plain, to check the engine against.

Every function names the part of the rules it writes out. Cards are two letters ("TS" is the ten of
spades), hands are sorted lists, options and outcomes are plain dicts.
"""
