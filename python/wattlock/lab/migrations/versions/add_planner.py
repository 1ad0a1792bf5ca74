"""The goals of the planner."""

import sqlalchemy as sa
from alembic import op

revision = "3"
down_revision = "2"


def upgrade() -> None:
    """Make its table."""
    op.create_table(
        "goal",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("question", sa.JSON, nullable=False),
        sa.Column("within_percent", sa.Double, nullable=False),
        sa.Column("now_percent", sa.Double),
        *(sa.Column(name, sa.String, nullable=False) for name in ("state", "asked")),
        *(sa.Column(name, sa.String) for name in ("token", "reason")),
    )
    op.create_index("ix_goal_state", "goal", ["state"])


def downgrade() -> None:
    """Take it away."""
    op.drop_table("goal")
