"""Runs migrations on the connection, and in the transaction, that the store hands over."""

from alembic import context

from arena.tables import Match

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Match.metadata,
    render_as_batch=True,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
