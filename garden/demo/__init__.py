"""The demonstration: a garden from nothing, tended, disturbed, attacked and proven, on a throw-away home."""
