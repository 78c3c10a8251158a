"""Why the organiser ended a tournament."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Of a tournament that was stopped before, nobody knows the reason."""
    op.add_column("tournament", sa.Column("stop_reason", sa.String(), nullable=True))
