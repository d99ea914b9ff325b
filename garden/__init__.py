"""Memory Garden, the application.

Everything that has effects lives here: settings, the garden home on disk, the embedded database, the
command line, and in time the write path, the tools and the other surfaces. It stands on `events`, `lint` and
`grammar`, and nothing below imports it.
"""

__version__ = "0.1.0"
