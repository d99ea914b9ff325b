"""The way in: the dispatcher of every call, tokens, the feed, and the threads that calls run in."""
