"""How older databases become newer ones; loaded only when there is something to do."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

_FOLDER = str(Path(__file__).parent)


def known_revisions() -> frozenset[str]:
    """Return every revision that this program can start from or end at."""
    return frozenset(script.revision for script in ScriptDirectory(_FOLDER).walk_revisions())


def upgrade(connection: Connection, revision: str) -> None:
    """Migrate inside the connection's transaction, so that all of it happens or nothing."""
    config = Config()
    config.set_main_option("script_location", _FOLDER)
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
