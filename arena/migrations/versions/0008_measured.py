"""What stood still, what failed attempts were made of, and what of the machine is unfair."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add columns; of what was played before, nothing is known."""
    op.add_column("result", sa.Column("stalls", sa.Integer(), nullable=True))
    op.add_column("result", sa.Column("stalled_us", sa.BigInteger(), nullable=True))
    op.add_column("report", sa.Column("last_sent", sa.String(), nullable=True))
    op.add_column("report", sa.Column("last_received", sa.String(), nullable=True))
    op.add_column("tournament", sa.Column("host_causes", sa.String(), nullable=True))
