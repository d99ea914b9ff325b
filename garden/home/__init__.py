"""Where gardens live: the folder, settings, keys, kinds, logs, embedded Postgres, disk space."""
