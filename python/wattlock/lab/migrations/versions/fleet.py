"""The queue of the fleet."""

import sqlalchemy as sa
from alembic import op

from wattlock.lab.database import TEXT

revision = "2"
down_revision = "1"


def upgrade() -> None:
    """Make its tables."""
    op.create_table(
        "job",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        *(sa.Column(name, TEXT, nullable=False) for name in ("batch", "study", "target", "state", "asked")),
        *(sa.Column(name, sa.Integer, nullable=False) for name in ("attempts", "settled", "cases")),
        *(sa.Column(name, TEXT) for name in ("token", "run", "hash", "reason")),
        sa.Column("options", sa.JSON, nullable=False),
        sa.Column("not_before", sa.Double, nullable=False),
    )
    for name in ("batch", "target", "state"):
        op.create_index(f"ix_job_{name}", "job", [name])
    op.create_table(
        "task",
        sa.Column("run", TEXT, primary_key=True),
        sa.Column("process", sa.Integer, primary_key=True),
        sa.Column("shard", TEXT, primary_key=True),
        sa.Column("job", sa.Integer, sa.ForeignKey("job.number", ondelete="CASCADE"), nullable=False),
        *(sa.Column(name, TEXT, nullable=False) for name in ("target", "state")),
        *(sa.Column(name, TEXT) for name in ("worker", "since", "reason")),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("result", sa.LargeBinary),
    )
    for name in ("job", "state"):
        op.create_index(f"ix_task_{name}", "task", [name])


def downgrade() -> None:
    """Take them away."""
    for name in ("task", "job"):
        op.drop_table(name)
