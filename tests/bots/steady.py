"""Plays properly: always the first action."""

from raw import begin

begin().play()
