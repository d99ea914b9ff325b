"""The command line: it parses arguments, calls the application and shows the results.

Commands import what they call inside their functions, so that `garden --help` loads none of it.
"""
