"""The numbered SQL files that build the database schema, shipped as package data."""
