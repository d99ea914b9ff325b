"""The only door to `users/` and `history/`: paths, opening beneath a handle, replacing, copies and strays."""
