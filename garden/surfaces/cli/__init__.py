"""The command line: it parses words, calls the application and shows what came back; no behaviour of its own.

Implementations are imported inside the commands, so that `garden --help` loads none of them.
"""
