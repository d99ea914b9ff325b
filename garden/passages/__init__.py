"""What recall can find in a document: its passages, their words, and what a change does to them."""
