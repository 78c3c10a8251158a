"""Pairs of entrants, and rules that organisers saved."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add what the first tables lack; tournaments made before are of bots alone."""
    op.add_column("entrant", sa.Column("pair", sa.Integer(), nullable=True))
    op.create_table(
        "saved_rules",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("folded", sa.String(), nullable=False),
        sa.Column("variant", sa.String(), nullable=False),
        sa.Column("rules", sa.String(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("folded"),
    )
