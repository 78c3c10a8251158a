"""Sends choices before Hello."""

from raw import Stream, connect

stream = Stream(connect())
stream.choose((1, 0))
for _ in stream:
    pass
