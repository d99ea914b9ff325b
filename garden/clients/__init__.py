"""MCP clients on this machine: where their settings are, and the entry that starts this program.

A change of their files is planned as a value and shown before it is made. Only the entry's own bytes change.
"""
