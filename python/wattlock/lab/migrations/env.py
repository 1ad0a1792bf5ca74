"""Alembic runs this: the steps that are lacking, on the connection that the lab hands over."""

from alembic import context

from wattlock.lab.database import Base

context.configure(connection=context.config.attributes["connection"], target_metadata=Base.metadata)
with context.begin_transaction():
    context.run_migrations()
