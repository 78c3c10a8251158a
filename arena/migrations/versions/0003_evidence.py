"""What faults were made of, and what bots used."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

FAULT = {
    "deals_played": sa.Integer,
    "deals_lost": sa.Integer,
    "sent": sa.String,
    "received": sa.String,
    "limit_us": sa.BigInteger,
    "elapsed_us": sa.BigInteger,
    "bank_us": sa.BigInteger,
}
REPORT = {
    "memory_limit": sa.BigInteger,
    "memory_kills": sa.Integer,
    "throttled_seconds": sa.Float,
    "throttled_periods": sa.Integer,
    "start_seconds": sa.Float,
    "log_bytes": sa.Integer,
    "decisions": sa.Integer,
    "answers": sa.Integer,
    "time_us": sa.BigInteger,
    "p50_us": sa.BigInteger,
    "p95_us": sa.BigInteger,
    "p99_us": sa.BigInteger,
    "max_us": sa.BigInteger,
    "sending_us": sa.BigInteger,
    "sent_bytes": sa.BigInteger,
    "sent_messages": sa.Integer,
    "received_bytes": sa.BigInteger,
    "received_messages": sa.Integer,
}


def upgrade() -> None:
    """Add columns; of matches played before, nothing is known."""
    for table, columns in (("fault", FAULT), ("report", REPORT)):
        for name, kind in columns.items():
            op.add_column(table, sa.Column(name, kind(), nullable=True))
