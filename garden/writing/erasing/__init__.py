"""Erasing: a passage, a document or a user leaves the files, the event log and everything made of them."""
