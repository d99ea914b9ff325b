"""The write path: planning an edit, its steps, and everything that brings the account and a file together."""
