"""Databases outside of their folder, and times of more than 24 days."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

TIMES = ("move_time_ms", "bank_ms", "increment_ms", "startup_ms")


def upgrade() -> None:
    """Add where the folder's name is kept, and let times grow; a database in a file has no name."""
    op.create_table(
        "folder", sa.Column("id", sa.String(), nullable=False), sa.PrimaryKeyConstraint("id")
    )
    with op.batch_alter_table("tournament") as tournament:
        for name in TIMES:
            tournament.alter_column(name, existing_type=sa.Integer(), type_=sa.BigInteger())
