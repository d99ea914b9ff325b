"""The matrix of permissions, and the proof that losing or weakening any part of it is noticed."""

import re
from collections.abc import Collection, Iterable, Iterator
from copy import copy
from typing import NamedTuple

import pytest

from tests.support.databases import TestServer
from tests.support.permissions import ROLES, TABLES, Ground, Place, ground

# The effect on Ada's row for each identity: with no user set, with Ada, with another; one mark if the user
# makes no difference.
#   +  done                               -  no right to the table
#   .  done, but not to her row           #  no right to the schema
#   x  done to her expired row only       p t c  a policy, a trigger, a constraint refuses
#   r  the right is granted
MATRIX = """
                                 reader service maintainer stranger owner superuser
events
  select                         .+.    .+.     +++        ###      ...   +++
  insert                         ---    p+p     ---        ###      ppp   +++
  insert failed                  ---    ppp     ---        ###      ppp   +++
  change its state               ---    .+.     ---        ###      ...   +++
  jump                           ---    .tt     ---        ###      ...   ttt
  change anything else           ---    ---     ---        ###      ...   ttt
  change words                   ---    ---     ---        ###      ...   ttt
  erase words                    ---    ---     .+.        ###      ...   +++
  delete                         ---    ---     ---        ###      ...   ttt
  truncate                       ---    ---     ---        ###      ttt   ttt
  read a column                  r      r       r          #        r     r
  fill a column                  -      r       -          #        r     r
  set another column             -      -       -          #        r     r
  set a word                     -      -       r          #        r     r
  set a state column             -      r       -          #        r     r
  add a trigger                  -      -       -          #        r     r
  refer to it                    -      -       -          #        r     r
  reindex                        -      -       -          #        r     r
documents
  select                         .+.    .+.     +++        ###      ...   +++
  insert                         ---    p+p     ---        ###      ppp   +++
  change its state               ---    .+.     ---        ###      ...   +++
  fall back to a lower version   ---    .tt     ---        ###      ...   ttt
  fall back to a lower sequence  ---    .tt     ---        ###      ...   ttt
  change anything else           ---    ---     ---        ###      ...   ccc
  delete                         ---    ---     ---        ###      ...   ttt
  truncate                       ---    ---     ---        ###      ttt   ttt
  read a column                  r      r       r          #        r     r
  fill a column                  -      r       -          #        r     r
  set another column             -      -       -          #        r     r
  set a state column             -      r       -          #        r     r
  add a trigger                  -      -       -          #        r     r
  refer to it                    -      -       -          #        r     r
  reindex                        -      -       -          #        r     r
idempotency_records
  select                         ---    .+.     +++        ###      ...   +++
  insert                         ---    p+p     ---        ###      ppp   +++
  change its state               ---    .+.     ---        ###      ...   +++
  change anything else           ---    ---     ---        ###      ...   ccc
  delete                         ---    .+.     x+x        ###      ...   +++
  truncate                       ---    ---     ---        ###      +++   +++
  read a column                  -      r       r          #        r     r
  fill a column                  -      r       -          #        r     r
  set another column             -      -       -          #        r     r
  set a state column             -      r       -          #        r     r
  add a trigger                  -      -       -          #        r     r
  refer to it                    -      -       -          #        r     r
  reindex                        -      -       -          #        r     r
event_annotations
  select                         .+.    .+.     +++        ###      ...   +++
  insert                         ---    p+p     ---        ###      ppp   +++
  change anything else           ---    ---     ---        ###      ...   ttt
  change words                   ---    ---     .tt        ###      ...   ttt
  erase words                    ---    ---     .+.        ###      ...   +++
  delete                         ---    ---     ---        ###      ...   ttt
  truncate                       ---    ---     ---        ###      ttt   ttt
  read a column                  r      r       r          #        r     r
  fill a column                  -      r       -          #        r     r
  set another column             -      -       -          #        r     r
  set a word                     -      -       r          #        r     r
  add a trigger                  -      -       -          #        r     r
  refer to it                    -      -       -          #        r     r
  reindex                        -      -       -          #        r     r
tokens
  select                         ---    .+.     +++        ###      ...   +++
  insert                         ---    ---     p+p        ###      ppp   +++
  change its state               ---    ---     .+.        ###      ...   +++
  take a revocation back         ---    ---     .tt        ###      ...   ttt
  change anything else           ---    ---     ---        ###      ...   ttt
  delete                         ---    ---     ---        ###      ...   ttt
  truncate                       ---    ---     ---        ###      ttt   ttt
  read a column                  -      r       -/r        #        r     r
  fill a column                  -      -       -/r        #        r     r
  set another column             -      -       -          #        r     r
  set a state column             -      -       r          #        r     r
  add a trigger                  -      -       -          #        r     r
  refer to it                    -      -       -          #        r     r
  reindex                        -      -       -          #        r     r
feed
  select                         .+.    .+.     +++        ###      ...   +++
  insert                         ---    p+p     ---        ###      ppp   +++
  change anything else           ---    ---     ---        ###      ...   ttt
  delete                         ---    ---     ---        ###      ...   ttt
  truncate                       ---    ---     ---        ###      ttt   ttt
  read a column                  r      r       r          #        r     r
  fill a column                  -      r       -          #        r     r
  set another column             -      -       -          #        r     r
  add a trigger                  -      -       -          #        r     r
  refer to it                    -      -       -          #        r     r
  reindex                        -      -       -          #        r     r
recoveries
  select                         ---    ---     +++        ###      ...   +++
  insert                         ---    ---     +++        ###      ppp   +++
  change its state               ---    ---     +++        ###      ...   +++
  change anything else           ---    ---     ---        ###      ...   ccc
  delete                         ---    ---     +++        ###      ...   +++
  truncate                       ---    ---     ---        ###      +++   +++
  read a column                  -      -       r          #        r     r
  fill a column                  -      -       r          #        r     r
  set another column             -      -       -          #        r     r
  set a state column             -      -       r          #        r     r
  add a trigger                  -      -       -          #        r     r
  refer to it                    -      -       -          #        r     r
  reindex                        -      -       -          #        r     r
erasures
  select                         .+.    .+.     +++        ###      ...   +++
  insert                         ---    ---     p+p        ###      ppp   +++
  change its state               ---    ---     .+.        ###      ...   +++
  take a tombstone back          ---    ---     .tt        ###      ...   ttt
  change anything else           ---    ---     ---        ###      ...   ttt
  delete                         ---    ---     ---        ###      ...   ttt
  truncate                       ---    ---     ---        ###      ttt   ttt
  read a column                  -/r    -/r     r          #        r     r
  fill a column                  -      -       r          #        r     r
  set another column             -      -       -          #        r     r
  set a state column             -      -       r          #        r     r
  add a trigger                  -      -       -          #        r     r
  refer to it                    -      -       -          #        r     r
  reindex                        -      -       -          #        r     r
erased_rows
  select                         .+.    ---     .+.        ###      ...   +++
  insert                         ---    ---     p+p        ###      ppp   +++
  change its state               ---    ---     .+.        ###      ...   +++
  change anything else           ---    ---     ---        ###      ...   ccc
  delete                         ---    ---     ---        ###      ...   ttt
  truncate                       ---    ---     ---        ###      ttt   ttt
  read a column                  r      -       r          #        r     r
  fill a column                  -      -       r          #        r     r
  set another column             -      -       -          #        r     r
  set a state column             -      -       r          #        r     r
  add a trigger                  -      -       -          #        r     r
  refer to it                    -      -       -          #        r     r
  reindex                        -      -       -          #        r     r
erased_words
  select                         .+.    .+.     .+.        ###      ...   +++
  insert                         ---    ---     p+p        ###      ppp   +++
  change anything else           ---    ---     ---        ###      ...   ttt
  delete                         ---    ---     ---        ###      ...   ttt
  truncate                       ---    ---     ---        ###      ttt   ttt
  read a column                  r      r       r          #        r     r
  fill a column                  -      -       r          #        r     r
  set another column             -      -       -          #        r     r
  add a trigger                  -      -       -          #        r     r
  refer to it                    -      -       -          #        r     r
  reindex                        -      -       -          #        r     r
recall_documents
  select                         .+.    .+.     +++        ###      ...   +++
  insert                         ---    p+p     p+p        ###      ppp   +++
  change its state               ---    .+.     .+.        ###      ...   +++
  change anything else           ---    ---     ---        ###      ...   ccc
  delete                         ---    ---     .+.        ###      ...   +++
  truncate                       ---    ---     ---        ###      +++   +++
  read a column                  r      r       r          #        r     r
  fill a column                  -      r       r          #        r     r
  set another column             -      -       -          #        r     r
  set a state column             -      r       r          #        r     r
  add a trigger                  -      -       -          #        r     r
  refer to it                    -      -       -          #        r     r
  reindex                        -      -       -          #        r     r
recall_passages
  select                         .+.    .+.     .+.        ###      ...   +++
  insert                         ---    p+p     p+p        ###      ppp   +++
  change its state               ---    .+.     .+.        ###      ...   +++
  change anything else           ---    ---     ---        ###      ...   ccc
  delete                         ---    ---     .+.        ###      ...   +++
  truncate                       ---    ---     ---        ###      +++   +++
  read a column                  r      r       r          #        r     r
  fill a column                  -      r       r          #        r     r
  set another column             -      -       -          #        r     r
  set a state column             -      r       r          #        r     r
  add a trigger                  -      -       -          #        r     r
  refer to it                    -      -       -          #        r     r
  reindex                        -      -       -          #        r     r
recall_usage
  select                         .+.    .+.     +++        ###      ...   +++
  insert                         ---    p+p     ---        ###      ppp   +++
  change its state               ---    .+.     ---        ###      ...   +++
  change anything else           ---    ---     ---        ###      ...   ccc
  delete                         ---    ---     .+.        ###      ...   +++
  truncate                       ---    ---     ---        ###      +++   +++
  read a column                  r      r       r          #        r     r
  fill a column                  -      r       -          #        r     r
  set another column             -      -       -          #        r     r
  set a state column             -      r       -          #        r     r
  add a trigger                  -      -       -          #        r     r
  refer to it                    -      -       -          #        r     r
  reindex                        -      -       -          #        r     r
recall_given
  select                         .+.    .+.     .+.        ###      ...   +++
  insert                         ---    p+p     ---        ###      ppp   +++
  change anything else           ---    ---     ---        ###      ...   ccc
  delete                         ---    ---     .+.        ###      ...   +++
  truncate                       ---    ---     ---        ###      +++   +++
  read a column                  r      r       r          #        r     r
  fill a column                  -      r       -          #        r     r
  set another column             -      -       -          #        r     r
  add a trigger                  -      -       -          #        r     r
  refer to it                    -      -       -          #        r     r
  reindex                        -      -       -          #        r     r
kept_texts
  select                         .+.    ---     .+.        ###      ...   +++
  insert                         ---    ---     p+p        ###      ppp   +++
  change anything else           ---    ---     ---        ###      ...   ccc
  delete                         ---    ---     .+.        ###      ...   +++
  truncate                       ---    ---     ---        ###      +++   +++
  read a column                  r      -       r          #        r     r
  fill a column                  -      -       r          #        r     r
  set another column             -      -       -          #        r     r
  add a trigger                  -      -       -          #        r     r
  refer to it                    -      -       -          #        r     r
  reindex                        -      -       -          #        r     r
grown_documents
  select                         ---    .+.     +++        ###      ...   +++
  insert                         ---    p+p     p+p        ###      ppp   +++
  change anything else           ---    ---     ---        ###      ...   ccc
  delete                         ---    ---     .+.        ###      ...   +++
  truncate                       ---    ---     ---        ###      +++   +++
  read a column                  -      r       r          #        r     r
  fill a column                  -      r       r          #        r     r
  set another column             -      -       -          #        r     r
  add a trigger                  -      -       -          #        r     r
  refer to it                    -      -       -          #        r     r
  reindex                        -      -       -          #        r     r
log_leaves
  select                         ---    ---     +++        ###      ...   +++
  insert                         ---    ---     +++        ###      ppp   +++
  change anything else           ---    ---     ---        ###      ...   ttt
  delete                         ---    ---     ---        ###      ...   ttt
  truncate                       ---    ---     ---        ###      ttt   ttt
  read a column                  -      -       r          #        r     r
  fill a column                  -      -       r          #        r     r
  set another column             -      -       -          #        r     r
  add a trigger                  -      -       -          #        r     r
  refer to it                    -      -       -          #        r     r
  reindex                        -      -       -          #        r     r
log_checkpoints
  select                         ---    ---     +++        ###      ...   +++
  insert                         ---    ---     +++        ###      ppp   +++
  change anything else           ---    ---     ---        ###      ...   ttt
  delete                         ---    ---     ---        ###      ...   ttt
  truncate                       ---    ---     ---        ###      ttt   ttt
  read a column                  -      -       r          #        r     r
  fill a column                  -      -       r          #        r     r
  set another column             -      -       -          #        r     r
  add a trigger                  -      -       -          #        r     r
  refer to it                    -      -       -          #        r     r
  reindex                        -      -       -          #        r     r
call_counts
  select                         ---    .+.     +++        ###      ...   +++
  insert                         ---    p+p     ---        ###      ppp   +++
  change its state               ---    .+.     ---        ###      ...   +++
  change anything else           ---    ---     ---        ###      ...   ccc
  delete                         ---    ---     +++        ###      ...   +++
  truncate                       ---    ---     ---        ###      +++   +++
  read a column                  -      r       r          #        r     r
  fill a column                  -      r       -          #        r     r
  set another column             -      -       -          #        r     r
  set a state column             -      r       -          #        r     r
  add a trigger                  -      -       -          #        r     r
  refer to it                    -      -       -          #        r     r
  reindex                        -      -       -          #        r     r
tool_calls
  select                         .+.    .+.     +++        ###      ...   +++
  insert                         ---    p+p     ---        ###      ppp   +++
  change its state               ---    .+.     .+.        ###      ...   +++
  change anything else           ---    ---     ---        ###      ...   ccc
  change words                   ---    ---     .+.        ###      ...   +++
  erase words                    ---    ---     .+.        ###      ...   +++
  delete                         ---    ---     .+.        ###      ...   +++
  truncate                       ---    ---     ---        ###      +++   +++
  read a column                  r      r       r          #        r     r
  fill a column                  -      r       -          #        r     r
  set another column             -      -       -          #        r     r
  set a word                     -      -       r          #        r     r
  set a state column             -      r       r          #        r     r
  add a trigger                  -      -       -          #        r     r
  refer to it                    -      -       -          #        r     r
  reindex                        -      -       -          #        r     r
approvals
  select                         ---    .+.     +++        ###      ...   +++
  insert                         ---    p+p     ---        ###      ppp   +++
  change its state               ---    .+.     x+x        ###      ...   +++
  change anything else           ---    ---     ---        ###      ...   ccc
  delete                         ---    ---     x+x        ###      ...   +++
  truncate                       ---    ---     ---        ###      +++   +++
  read a column                  -      r       r          #        r     r
  fill a column                  -      r       -          #        r     r
  set another column             -      -       -          #        r     r
  set a state column             -      r       r          #        r     r
  add a trigger                  -      -       -          #        r     r
  refer to it                    -      -       -          #        r     r
  reindex                        -      -       -          #        r     r
sign_ins
  select                         ---    .+.     +++        ###      ...   +++
  insert                         ---    p+p     ---        ###      ppp   +++
  change anything else           ---    ---     ---        ###      ...   +/c+/c+/c
  delete                         ---    .+.     xxx        ###      ...   +++
  truncate                       ---    ---     ---        ###      +++   +++
  read a column                  -      r       r          #        r     r
  fill a column                  -      r       -          #        r     r
  set another column             -      -       -          #        r     r
  add a trigger                  -      -       -          #        r     r
  refer to it                    -      -       -          #        r     r
  reindex                        -      -       -          #        r     r
schema_migrations
  select                         ---    ---     ---        ###      +++   +++
  insert                         ---    ---     ---        ###      +++   +++
  change anything else           ---    ---     ---        ###      ccc   ccc
  delete                         ---    ---     ---        ###      +++   +++
  truncate                       ---    ---     ---        ###      +++   +++
  read a column                  -      -       -          #        r     r
  fill a column                  -      -       -          #        r     r
  set another column             -      -       -          #        r     r
  add a trigger                  -      -       -          #        r     r
  refer to it                    -      -       -          #        r     r
  reindex                        -      -       -          #        r     r
schema
  create in it                   #      #       #          #        r     r
"""


class Weakening(NamedTuple):
    """A weakened permission, and the part of the matrix in which it must show."""

    change: str
    tables: Collection[str] = (*TABLES, "schema")
    commands: Collection[str] = ()


@pytest.fixture(scope="module")
def trial(server: TestServer) -> Iterator[Ground]:
    with server.database(server.template()) as url, ground(url) as made:
        yield made


def test_every_role_may_do_exactly_what_the_matrix_says(trial: Ground) -> None:
    tried = {(probe.table, probe.command) for probe in trial.probes}
    assert tried == set(expected())
    assert differences(trial, tried) == {}


def test_no_role_has_a_right_to_the_home_table(trial: Ground) -> None:
    rights = "select, insert, update, delete, truncate, references, trigger"
    for role in (*ROLES, "public"):
        asked = f"select has_table_privilege('{role}', 'garden.home', '{rights}')"
        assert trial.ask(asked) == [(False,)], role


def test_the_matrix_holds_every_table_of_the_schema_with_users_in_it(trial: Ground) -> None:
    found = trial.ask("select tablename from pg_tables where schemaname = 'garden' and tablename <> 'home'")
    assert {name for (name,) in found} == set(TABLES)


def test_every_table_with_users_rows_has_row_level_security_forced(trial: Ground) -> None:
    found = trial.ask(
        "select relname from pg_class where relnamespace = 'garden'::regnamespace and relkind = 'r'"
        " and relrowsecurity and relforcerowsecurity"
    )
    assert {name for (name,) in found} == set(TABLES) - {"schema_migrations"}


def test_no_function_runs_with_its_owners_rights(trial: Ground) -> None:
    functions = trial.ask(
        "select proname, prosecdef from pg_proc where pronamespace = 'garden'::regnamespace"
    )
    assert [name for name, lends in functions if lends] == []
    assert functions


def test_the_matrix_notices_a_new_column(trial: Ground) -> None:
    with trial.but_for("alter table garden.events add column later text"):
        grown = with_new_probes(trial)
        assert set(differences(grown, expected())) == {("events", "change anything else")}


def test_no_policy_can_be_lost_or_weakened_unnoticed(trial: Ground) -> None:
    assert unnoticed(trial, weaker_policies(trial)) == []


def test_no_right_can_be_lost_unnoticed(trial: Ground) -> None:
    assert unnoticed(trial, rights_taken(trial)) == []


@pytest.mark.parametrize("table", TABLES)
def test_no_right_to_a_table_can_be_given_unnoticed(trial: Ground, table: str) -> None:
    assert unnoticed(trial, rights_given(trial, table)) == []


@pytest.mark.parametrize("table", TABLES)
def test_no_right_to_a_column_can_be_given_unnoticed(trial: Ground, table: str) -> None:
    assert unnoticed(trial, column_rights_given(trial, table)) == []


def test_no_right_to_the_schema_can_be_given_unnoticed(trial: Ground) -> None:
    creating = [
        Weakening(f"grant create on schema garden to {role}", ["schema"]) for role in (*ROLES, "public")
    ]
    assert unnoticed(trial, [Weakening("grant usage on schema garden to public"), *creating]) == []


def test_no_trigger_can_be_lost_or_switched_off_unnoticed(trial: Ground) -> None:
    assert unnoticed(trial, triggers_lost(trial)) == []


def test_no_column_can_be_left_out_of_a_trigger_unnoticed(trial: Ground) -> None:
    assert unnoticed(trial, triggers_without_a_column(trial)) == []


def test_row_level_security_cannot_be_switched_off_unnoticed(trial: Ground) -> None:
    secured = [table for table in TABLES if table != "schema_migrations"]
    switches = ("disable row level security", "no force row level security")
    weakenings = [Weakening(f"alter table garden.{t} {switch}", [t]) for t in secured for switch in switches]
    assert unnoticed(trial, weakenings) == []


def test_no_role_can_be_made_a_member_of_another_unnoticed(trial: Ground) -> None:
    # A reader has no right that the two others lack.
    groups = ("garden_service", "garden_maintainer")
    members = (*ROLES, trial.stranger)
    pairs = [(group, member) for group in groups for member in members if group != member]
    assert unnoticed(trial, [Weakening(f"grant {group} to {member}") for group, member in pairs]) == []


def with_new_probes(trial: Ground) -> Ground:
    """The same ground with probes for the columns there are now."""
    other = copy(trial)
    other.probes = list(trial.all_probes())
    return other


def expected() -> dict[Place, str]:
    read, table = {}, ""
    for line in MATRIX.strip().splitlines()[1:]:
        if line.startswith("  "):
            command, *marks = re.split(r"\s{2,}", line.strip())
            read[table, command] = " ".join(marks)
        else:
            table = line
    return read


def differences(trial: Ground, places: Collection[Place]) -> dict[Place, tuple[str, str]]:
    wanted, found = expected(), trial.outcomes(places)
    return {place: (wanted[place], marks) for place, marks in found.items() if marks != wanted[place]}


def unnoticed(trial: Ground, weakenings: Iterable[Weakening]) -> list[str]:
    """The changes that leave the matrix as it is; there must be changes to try."""
    tried, missed = 0, []
    for change, tables, commands in weakenings:
        tried += 1
        places = {(t, c) for t, c in expected() if t in tables and (c in commands or not commands)}
        with trial.but_for(change):
            # Most changes show in the attempts that need no statement for each column.
            if not any(
                some and differences(trial, some) for some in (places - trial.wide, places & trial.wide)
            ):
                missed.append(change)
    assert tried > 0
    return missed


def weaker_policies(trial: Ground) -> Iterator[Weakening]:
    for table, name, condition, check, roles in trial.ask(
        "select tablename, policyname, qual, with_check, roles::text[] from pg_policies"
        " where schemaname = 'garden'"
    ):
        policy = f"policy {name} on garden.{table}"
        yield Weakening(f"drop {policy}", [table])
        yield Weakening(f"alter {policy} to public", [table])
        for role in roles if len(roles) > 1 else ():
            yield Weakening(f"alter {policy} to {role}", [table])
        if condition not in (None, "true"):
            yield Weakening(f"alter {policy} using (true)", [table])
        for weaker in ("true", *conjuncts(check)) if check else ():
            yield Weakening(f"alter {policy} with check ({weaker})", [table])


def conjuncts(condition: str) -> list[str]:
    parts = condition.removeprefix("(").removesuffix(")").split(" AND ")
    return parts if len(parts) > 1 else []


def rights_taken(trial: Ground) -> Iterator[Weakening]:
    for right, table, role in trial.ask(
        "select privilege_type, relname, grantee::regrole::text from pg_class, aclexplode(relacl)"
        " where relnamespace = 'garden'::regnamespace and relkind = 'r' and grantee <> relowner"
    ):
        yield Weakening(f"revoke {right} on garden.{table} from {role}", [table])
    for right, column, table, role in trial.ask(
        "select privilege_type, attname, relname, grantee::regrole::text"
        " from pg_attribute join pg_class on attrelid = pg_class.oid, aclexplode(attacl)"
        " where relnamespace = 'garden'::regnamespace"
    ):
        yield Weakening(f"revoke {right} ({column}) on garden.{table} from {role}", [table])
    for role in ROLES:
        yield Weakening(f"revoke usage on schema garden from {role}", ["events"])


def rights_given(trial: Ground, table: str) -> Iterator[Weakening]:
    for (right,) in trial.ask("select privilege_type from aclexplode(acldefault('r', 10))"):
        lacking = [
            role
            for role in ROLES
            if (False,)
            in trial.ask("select has_table_privilege(%s, %s, %s)", [role, f"garden.{table}", right])
        ]
        # A right of all three may be public: no other role may enter the schema, and a grant of that shows.
        for role in (*lacking, "public") if lacking else ():
            yield Weakening(f"grant {right} on garden.{table} to {role}", [table])


def column_rights_given(trial: Ground, table: str) -> Iterator[Weakening]:
    shows_in = {
        "select": ["read a column"],
        "insert": ["fill a column"],
        "update": ["set a state column", "set another column", "set a word"],
    }
    for column in trial.columns(table):
        for right in shows_in:
            for role in ROLES:
                asked = [role, f"garden.{table}", column, right]
                if trial.ask("select has_column_privilege(%s, %s, %s, %s)", asked) == [(False,)]:
                    change = f"grant {right} ({column}) on garden.{table} to {role}"
                    yield Weakening(change, [table], shows_in[right])


def triggers_lost(trial: Ground) -> Iterator[Weakening]:
    for table, name, _ in triggers(trial):
        yield Weakening(f"drop trigger {name} on garden.{table}", [table])
        yield Weakening(f"alter table garden.{table} disable trigger {name}", [table])


def triggers_without_a_column(trial: Ground) -> Iterator[Weakening]:
    for table, name, definition in triggers(trial):
        before, _, rest = definition.partition(" UPDATE OF ")
        columns, _, after = rest.partition(" ON ")
        names = columns.split(", ") if columns else []
        for left_out in names:
            kept = ", ".join(column for column in names if column != left_out)
            change = f"drop trigger {name} on garden.{table}; {before} UPDATE OF {kept} ON {after}"
            yield Weakening(change, [table], ["change anything else", "change words"])


def triggers(trial: Ground) -> list[tuple[str, str, str]]:
    return trial.ask(
        "select relname, tgname, pg_get_triggerdef(pg_trigger.oid)"
        " from pg_trigger join pg_class on tgrelid = pg_class.oid"
        " where relnamespace = 'garden'::regnamespace and not tgisinternal"
    )
