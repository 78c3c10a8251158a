"""Runs a tournament of an arena, and kills processes at one step of a match's life.

Arguments: the home; then, if somebody is to be killed, the step, who dies (driver, worker or both;
with nobody, whoever passes the step stands still) and, if it is not the first, which time the step
is passed. It happens once in the life of the home.
Prints the standings as JSON, the last of them the format's own order.

The code above the guard runs in the workers too: they import this file as their main module, and
load no more than workers do.
"""

import multiprocessing
import os
import signal
import sys
import time
from pathlib import Path

from arena import steps
from arena.steps import Step

HOME = Path(sys.argv[1])
STEP, WHO = (sys.argv[2], sys.argv[3]) if len(sys.argv) > 3 else ("", "")
CREATED = "created"
IMPATIENT = "IMPATIENT"
"""A variable of the environment: if it is set, a leg that stood still is played again."""

LATER = {Step.DEALING: 7}
"""Steps that are passed often: which time to die."""

if IMPATIENT not in os.environ:
    import patient  # noqa: F401 - to import it is enough

TIME = int(sys.argv[4]) if len(sys.argv) > 4 else 0

passed = 0


def crash(step: str) -> None:
    """Kill whom the arguments say, the first time this step is passed in this home."""
    global passed  # noqa: PLW0603 - counts within this process
    if step != STEP:
        return
    passed += 1
    if passed < (TIME or LATER.get(Step(step) if step != CREATED else Step.LEASED, 1)):
        return
    try:
        os.close(os.open(HOME / "crashed", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    in_worker = multiprocessing.parent_process() is not None
    if WHO in {"driver", "both"}:
        os.kill(os.getppid() if in_worker else os.getpid(), signal.SIGKILL)
    if WHO in {"worker", "both"}:
        os.kill(os.getpid(), signal.SIGKILL)
    while WHO == "nobody":
        time.sleep(1)


steps.checkpoint = crash

if STEP == CREATED:
    import docker

    start = docker.APIClient.start

    def start_container(self: docker.APIClient, name: str) -> None:
        """Die between the creation of a container and its start."""
        crash(CREATED)
        start(self, name)

    docker.APIClient.start = start_container  # type: ignore[method-assign]

if __name__ == "__main__":
    from crash_driver import drive

    sys.exit(drive(HOME))
