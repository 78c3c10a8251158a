"""Formats that go on by results, changes of the list of entrants, entropy of submissions."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

TOURNAMENT = (
    *("id", "name", "folded", "created", "started", "variant", "rules", "format", "seats"),
    *("rounds", "decks", "match_format", "tables", "move_time_ms", "bank_ms", "increment_ms"),
    *("startup_ms", "sandbox", "seed", "seed_given", "commitment"),
)
MATCH = (
    *("id", "tournament_id", "number", "round", "seats", "state", "attempt", "voids", "owner"),
    *("lease_until", "hard_until", "reason"),
)
MATCH_STATES = "state IN ('planned', 'leased', 'done', 'incomplete', 'cancelled')"


def upgrade() -> None:
    """Add what these need, and keep every row.

    All tournaments made before are round robins, whose schedule is known from the first match on.
    """
    op.add_column("bot_version", sa.Column("entropy", sa.String(), nullable=True))
    if op.get_context().dialect.name == "sqlite":
        _make_anew()
    else:
        _alter()
    op.create_table(
        "change",
        sa.Column("tournament_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("reason_kind", sa.String(), nullable=False),
        sa.Column("bot_version_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=True),
        sa.Column("after", sa.Integer(), nullable=True),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("kind IN ('join', 'leave')", name="change_kind"),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournament.id"]),
        sa.ForeignKeyConstraint(["bot_version_id"], ["bot_version.id"]),
        sa.PrimaryKeyConstraint("tournament_id", "number"),
    )


def _make_anew() -> None:
    """Make tables anew of which SQLite cannot alter a column or a constraint.

    Foreign keys must be off: tables that others refer to are dropped.
    """
    _make_tournament()
    _move("tournament", TOURNAMENT, options="'{}'", seeding="'given'", frozen="0", complete="1")
    _make_match()
    op.drop_index("match_by_state", "match")
    _move("match", MATCH, stage="''")
    op.create_index("match_by_state", "match", ["tournament_id", "state", "number"], unique=False)


def _alter() -> None:
    """Alter the tables of a database that has only just been made: it holds no rows."""
    op.alter_column("tournament", "rounds", existing_type=sa.Integer(), nullable=True)
    for column in (
        sa.Column("options", sa.String(), nullable=False),
        sa.Column("seeding", sa.String(), nullable=False),
        sa.Column("frozen", sa.Boolean(), nullable=False),
        sa.Column("entropy", sa.String(), nullable=True),
        sa.Column("complete", sa.Boolean(), nullable=False),
        sa.Column("stopped", sa.BigInteger(), nullable=True),
    ):
        op.add_column("tournament", column)
    op.add_column("match", sa.Column("stage", sa.String(), nullable=False))
    op.drop_constraint("match_state", "match", type_="check")
    op.create_check_constraint("match_state", "match", MATCH_STATES)


def _move(table: str, columns: tuple[str, ...], **new: str) -> None:
    """Move the rows of a table into its new form, under its name."""
    names, kept = ", ".join((*columns, *new)), ", ".join((*columns, *new.values()))
    op.execute(f'INSERT INTO "new_{table}" ({names}) SELECT {kept} FROM "{table}"')  # noqa: S608 - no input
    op.drop_table(table)
    op.rename_table(f"new_{table}", table)


def _make_tournament() -> None:
    op.create_table(
        "new_tournament",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("folded", sa.String(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("started", sa.BigInteger(), nullable=True),
        sa.Column("variant", sa.String(), nullable=False),
        sa.Column("rules", sa.String(), nullable=False),
        sa.Column("format", sa.String(), nullable=False),
        sa.Column("seats", sa.Integer(), nullable=False),
        sa.Column("rounds", sa.Integer(), nullable=True),
        sa.Column("options", sa.String(), nullable=False),
        sa.Column("seeding", sa.String(), nullable=False),
        sa.Column("frozen", sa.Boolean(), nullable=False),
        sa.Column("decks", sa.Integer(), nullable=False),
        sa.Column("match_format", sa.String(), nullable=False),
        sa.Column("tables", sa.Integer(), nullable=False),
        sa.Column("move_time_ms", sa.Integer(), nullable=False),
        sa.Column("bank_ms", sa.Integer(), nullable=False),
        sa.Column("increment_ms", sa.Integer(), nullable=False),
        sa.Column("startup_ms", sa.Integer(), nullable=False),
        sa.Column("sandbox", sa.String(), nullable=False),
        sa.Column("seed", sa.String(), nullable=False),
        sa.Column("seed_given", sa.Boolean(), nullable=False),
        sa.Column("commitment", sa.String(), nullable=False),
        sa.Column("entropy", sa.String(), nullable=True),
        sa.Column("complete", sa.Boolean(), nullable=False),
        sa.Column("stopped", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("folded"),
    )


def _make_match() -> None:
    op.create_table(
        "new_match",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("tournament_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("seats", sa.String(), nullable=False),
        sa.Column("stage", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("voids", sa.Integer(), nullable=False),
        sa.Column("owner", sa.String(), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("hard_until", sa.BigInteger(), nullable=True),
        sa.Column("reason", sa.String(), nullable=False),
        sa.CheckConstraint(
            "(state = 'leased') = (owner IS NOT NULL AND lease_until IS NOT NULL "
            "AND hard_until IS NOT NULL)",
            name="match_lease",
        ),
        sa.CheckConstraint(MATCH_STATES, name="match_state"),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournament.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("tournament_id", "number", name="match_number"),
    )
