"""Write the units of an imagined home, for systemd's checks: python -m tests.deploy.written_units FOLDER."""

import sys
import uuid
from pathlib import Path

from garden.home.embedded.account import Account
from garden.home.folder import Home
from garden.upkeep.service_units import installed_program, plan_units, put_units


def main(folder: Path) -> None:
    home = Home(Path("/srv/garden"), uuid.uuid4(), 1)
    for name, account in (("system", Account("garden", 10001, 10001)), ("user", None)):
        put_units(plan_units(home, installed_program(), folder / name, account))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
