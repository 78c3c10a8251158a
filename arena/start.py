"""Where the program `arena` begins: Ctrl-C is heard while it is still loading, too."""

INTERRUPTED = 130


def main() -> int:
    """Load the command line, run it and return its exit code."""
    try:
        from arena.cli import main as run  # noqa: PLC0415 - loading is what may be interrupted

        return run()
    except KeyboardInterrupt:
        # Also until the command line hears it itself, and once it no longer does.
        return INTERRUPTED
