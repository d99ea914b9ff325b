"""Gardens from elsewhere, and to elsewhere."""
