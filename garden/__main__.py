"""`python -m garden` is the command `garden`."""

from garden.cli.main import main

main()
