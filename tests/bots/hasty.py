"""Sends choices before anything was asked."""

from raw import begin

stream = begin()
stream.choose((7, 0))
stream.play()
