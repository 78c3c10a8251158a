"""Strings that are promised before they are told, and lists of strings that are fixed."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add promises; what was mixed into the seeds of old tournaments becomes their list.

    Foreign keys must be off: a table that others refer to can be dropped.
    """
    op.add_column("bot_version", sa.Column("entropy_digest", sa.String(), nullable=True))
    op.add_column("bot_version", sa.Column("revealed", sa.BigInteger(), nullable=True))
    op.add_column("tournament", sa.Column("listed", sa.BigInteger(), nullable=True))
    op.create_table(
        "listed_string",
        sa.Column("tournament_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("bot_version_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("forgone", sa.BigInteger(), nullable=True),
        sa.Column("reason", sa.String(), nullable=False),
        sa.CheckConstraint("kind IN ('open', 'promised', 'known')", name="listed_string_kind"),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournament.id"]),
        sa.ForeignKeyConstraint(["bot_version_id"], ["bot_version.id"]),
        sa.PrimaryKeyConstraint("tournament_id", "number"),
    )
    op.execute("UPDATE tournament SET listed = started")
    _list_strings()
    # Older versions of SQLite cannot drop a column: there the table is made anew.
    with op.batch_alter_table("tournament") as table:
        table.drop_column("entropy")


def _list_strings() -> None:
    connection = op.get_bind()
    found = connection.execute(
        sa.text("SELECT id, entropy FROM tournament WHERE entropy IS NOT NULL ORDER BY id")
    ).all()
    for tournament, entropy in found:
        for number, (label, _text, _created) in enumerate(json.loads(entropy), start=1):
            name, _, version = label.rpartition("@")
            connection.execute(
                sa.text(
                    "INSERT INTO listed_string "
                    "(tournament_id, number, bot_version_id, kind, reason) "
                    "SELECT :tournament, :number, bot_version.id, 'open', '' "
                    "FROM bot_version JOIN bot ON bot.id = bot_version.bot_id "
                    "WHERE bot.name = :name AND bot_version.number = :version"
                ),
                {
                    "tournament": tournament,
                    "number": number,
                    "name": name,
                    "version": int(version),
                },
            )
