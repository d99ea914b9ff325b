"""Every surface gives the same answers."""
