"""What happened: the account of every change.

Event records, integrity keys, saga states and the Postgres store behind them. The only package that imports
psycopg; it knows nothing about files.
"""
