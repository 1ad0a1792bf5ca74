"""The papers' answers, kept by the runs that they follow from."""

import sqlalchemy as sa
from alembic import op

revision = "4"
down_revision = "3"


def upgrade() -> None:
    """Make their table."""
    op.create_table(
        "papers_answers",
        sa.Column("key", sa.String, primary_key=True),
        sa.Column("answers", sa.JSON, nullable=False),
    )


def downgrade() -> None:
    """Take it away."""
    op.drop_table("papers_answers")
