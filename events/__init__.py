"""The event log: event records, integrity keys, saga states and the Postgres store behind them.

The only package that imports psycopg. It knows nothing about files.
"""
