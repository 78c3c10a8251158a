"""The steps in a match's life at which a process may die, each marked where it is passed."""

from enum import StrEnum


class Step(StrEnum):
    """What has just happened, or is about to where the name ends in -ing."""

    LEASED = "leased"
    SOCKETS_MADE = "sockets made"
    STARTING = "starting"
    STARTED = "started"
    CONNECTED = "connected"
    DEALING = "dealing"
    DECIDED = "decided"
    REMOVING = "removing"
    RECORDING = "recording"
    RECORDED = "recorded"
    FINISHING = "finishing"
    FINISHED = "finished"


def checkpoint(step: Step) -> None:
    """Mark a step; does nothing.

    This is where a debugger stops a run, and where crash tests put a function that kills the
    process: what must survive kill -9 has to be killed at every step.
    """
