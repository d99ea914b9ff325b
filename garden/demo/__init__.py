"""The demonstration, on a throw-away home."""
