"""An open garden in a fresh home."""

from tests.tools.conftest import _the_account_holds_in_the_end, ada, database, garden

__all__ = ["_the_account_holds_in_the_end", "ada", "database", "garden"]
