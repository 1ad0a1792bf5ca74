"""The first tables."""

import sqlalchemy as sa
from alembic import op

from wattlock.lab.database import TEXT

revision = "1"
down_revision = None


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "run",
        sa.Column("hash", TEXT, primary_key=True),
        *(sa.Column(name, TEXT, nullable=False) for name in ("id", "study", "title", "created", "arrived")),
        *(sa.Column(name, TEXT, nullable=False) for name in ("device", "device_name", "way", "evidence")),
        *(sa.Column(name, TEXT) for name in ("card", "energy_evidence", "wattlock")),
        sa.Column("is_counted", sa.Boolean, nullable=False),
        sa.Column("probe_sha256", TEXT, nullable=False),
        *(sa.Column(name, sa.Integer, nullable=False) for name in ("cases", "with_number", "processes", "size_B")),
        sa.Column("estimates", sa.LargeBinary, nullable=False),
    )
    for name in ("study", "created", "device"):
        op.create_index(f"ix_run_{name}", "run", [name])
    op.create_table(
        "library",
        sa.Column("run", TEXT, sa.ForeignKey("run.hash", ondelete="CASCADE"), primary_key=True),
        sa.Column("name", TEXT, primary_key=True),
    )
    op.create_index("ix_library_name", "library", ["name"])
    op.create_table(
        "reason",
        sa.Column("run", TEXT, sa.ForeignKey("run.hash", ondelete="CASCADE"), primary_key=True),
        sa.Column("place", sa.Integer, primary_key=True),
        sa.Column("text", TEXT, nullable=False),
    )
    op.create_table(
        "token",
        sa.Column("id", TEXT, primary_key=True),
        sa.Column("scope", TEXT, nullable=False),
        sa.Column("sha256", TEXT, nullable=False, unique=True),
        sa.Column("created", TEXT, nullable=False),
        sa.Column("expires", TEXT),
        sa.Column("revoked", TEXT),
    )
    op.create_table(
        "action",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        *(sa.Column(name, TEXT, nullable=False) for name in ("at", "address", "what", "of")),
        sa.Column("token", TEXT),
    )


def downgrade() -> None:
    """Take them away."""
    for name in ("action", "token", "reason", "library", "run"):
        op.drop_table(name)
