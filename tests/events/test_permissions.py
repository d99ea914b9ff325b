"""Who may do what, as a table, and the proof that nothing of what makes it so can be lost unnoticed."""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

import pytest

from tests.support.permissions import ROLES, TABLES, Ground, Place, ground

# What becomes of Ada's row, for each identity: with no user set, with Ada, with another; one mark where the
# user makes no difference.
#   +  done                               -  no right to the table
#   .  done, but not to her row           #  no right to the schema
#   x  done to her expired row only       p t c  a policy, a trigger, a constraint refuses
#   r  the right is there, whatever comes of it
MATRIX = """
                                 reader service maintainer stranger owner superuser
events
  select                         .+.    .+.     +++        ###      ...   +++
  insert                         ---    p+p     ---        ###      ppp   +++
  insert failed                  ---    ppp     ---        ###      ppp   +++
  change its state               ---    .+.     ---        ###      ...   +++
  jump                           ---    .tt     ---        ###      ...   ttt
  change anything else           ---    ---     ---        ###      ...   ttt
  delete                         ---    ---     ---        ###      ...   ttt
  truncate                       ---    ---     ---        ###      ttt   ttt
  read a column                  r      r       r          #        r     r
  fill a column                  -      r       -          #        r     r
  set another column             -      -       -          #        r     r
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
  delete                         ---    .+.     xxx        ###      ...   +++
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
  delete                         ---    ---     ---        ###      ...   ttt
  truncate                       ---    ---     ---        ###      ttt   ttt
  read a column                  r      r       r          #        r     r
  fill a column                  -      r       -          #        r     r
  set another column             -      -       -          #        r     r
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
  select                         .+.    .+.     ---        ###      ...   +++
  insert                         ---    p+p     ---        ###      ppp   +++
  change anything else           ---    ---     ---        ###      ...   ttt
  delete                         ---    ---     ---        ###      ...   ttt
  truncate                       ---    ---     ---        ###      ttt   ttt
  read a column                  r      r       -          #        r     r
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
    """A change of who may do what, and the part of the matrix in which it has to show."""

    change: str
    tables: Collection[str] = (*TABLES, "schema")
    commands: Collection[str] = ()


@pytest.fixture
def standing(database: str) -> Iterator[Ground]:
    with ground(database) as made:
        yield made


def test_everybody_may_do_what_the_matrix_says_and_nothing_else(standing: Ground) -> None:
    tried = {(probe.table, probe.command) for probe in standing.probes}
    assert tried == set(expected())
    assert differences(standing, tried) == {}


def test_whose_account_it_is_concerns_its_owner_alone(standing: Ground) -> None:
    rights = "select, insert, update, delete, truncate, references, trigger"
    for role in (*ROLES, "public"):
        asked = f"select has_table_privilege('{role}', 'garden.home', '{rights}')"
        assert standing.ask(asked) == [(False,)], role


def test_the_matrix_holds_every_table_of_the_schema_with_users_in_it(standing: Ground) -> None:
    found = standing.ask(
        "select tablename from pg_tables where schemaname = 'garden' and tablename <> 'home'"
    )
    assert {name for (name,) in found} == set(TABLES)


def test_every_table_with_users_rows_has_row_level_security_forced(standing: Ground) -> None:
    found = standing.ask(
        "select relname from pg_class where relnamespace = 'garden'::regnamespace and relkind = 'r'"
        " and relrowsecurity and relforcerowsecurity"
    )
    assert {name for (name,) in found} == set(TABLES) - {"schema_migrations"}


def test_no_function_lends_its_owners_rights(standing: Ground) -> None:
    functions = standing.ask(
        "select proname, prosecdef from pg_proc where pronamespace = 'garden'::regnamespace"
    )
    assert [name for name, lends in functions if lends] == []
    assert functions


def test_a_column_added_later_is_covered(standing: Ground) -> None:
    with standing.but_for("alter table garden.events add column later text"):
        standing.probes = list(standing.all_probes())
        assert set(differences(standing, expected())) == {("events", "change anything else")}


def test_no_policy_can_be_lost_or_weakened_unnoticed(standing: Ground) -> None:
    assert unnoticed(standing, weaker_policies(standing)) == []


def test_no_right_can_be_lost_unnoticed(standing: Ground) -> None:
    assert unnoticed(standing, rights_taken(standing)) == []


@pytest.mark.parametrize("table", TABLES)
def test_no_right_to_a_table_can_be_given_unnoticed(standing: Ground, table: str) -> None:
    assert unnoticed(standing, rights_given(standing, table)) == []


@pytest.mark.parametrize("table", TABLES)
def test_no_right_to_a_column_can_be_given_unnoticed(standing: Ground, table: str) -> None:
    assert unnoticed(standing, column_rights_given(standing, table)) == []


def test_no_right_to_the_schema_can_be_given_unnoticed(standing: Ground) -> None:
    creating = [
        Weakening(f"grant create on schema garden to {role}", ["schema"]) for role in (*ROLES, "public")
    ]
    assert unnoticed(standing, [Weakening("grant usage on schema garden to public"), *creating]) == []


def test_no_trigger_can_be_lost_or_switched_off_unnoticed(standing: Ground) -> None:
    assert unnoticed(standing, triggers_lost(standing)) == []


def test_no_column_can_be_left_out_of_a_trigger_unnoticed(standing: Ground) -> None:
    assert unnoticed(standing, triggers_without_a_column(standing)) == []


def test_row_level_security_cannot_be_switched_off_unnoticed(standing: Ground) -> None:
    secured = [table for table in TABLES if table != "schema_migrations"]
    switches = ("disable row level security", "no force row level security")
    weakenings = [Weakening(f"alter table garden.{t} {switch}", [t]) for t in secured for switch in switches]
    assert unnoticed(standing, weakenings) == []


def test_no_role_can_be_made_a_member_of_another_unnoticed(standing: Ground) -> None:
    # A reader may do nothing that the two others may not.
    groups = ("garden_service", "garden_maintainer")
    members = (*ROLES, standing.stranger)
    pairs = [(group, member) for group in groups for member in members if group != member]
    assert unnoticed(standing, [Weakening(f"grant {group} to {member}") for group, member in pairs]) == []


def expected() -> dict[Place, str]:
    read, table = {}, ""
    for line in MATRIX.strip().splitlines()[1:]:
        if line.startswith("  "):
            command, *marks = re.split(r"\s{2,}", line.strip())
            read[table, command] = " ".join(marks)
        else:
            table = line
    return read


def differences(standing: Ground, places: Collection[Place]) -> dict[Place, tuple[str, str]]:
    wanted, found = expected(), standing.outcomes(places)
    return {place: (wanted[place], marks) for place, marks in found.items() if marks != wanted[place]}


def unnoticed(standing: Ground, weakenings: Iterable[Weakening]) -> list[str]:
    """Which of the changes leave the matrix as it is; that there are none to make is no proof."""
    tried, missed = 0, []
    for change, tables, commands in weakenings:
        tried += 1
        places = {(t, c) for t, c in expected() if t in tables and (c in commands or not commands)}
        with standing.but_for(change):
            if not differences(standing, places):
                missed.append(change)
    assert tried > 0
    return missed


def weaker_policies(standing: Ground) -> Iterator[Weakening]:
    for table, name, condition, check, roles in standing.ask(
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


def rights_taken(standing: Ground) -> Iterator[Weakening]:
    for right, table, role in standing.ask(
        "select privilege_type, relname, grantee::regrole::text from pg_class, aclexplode(relacl)"
        " where relnamespace = 'garden'::regnamespace and relkind = 'r' and grantee <> relowner"
    ):
        yield Weakening(f"revoke {right} on garden.{table} from {role}", [table])
    for right, column, table, role in standing.ask(
        "select privilege_type, attname, relname, grantee::regrole::text"
        " from pg_attribute join pg_class on attrelid = pg_class.oid, aclexplode(attacl)"
        " where relnamespace = 'garden'::regnamespace"
    ):
        yield Weakening(f"revoke {right} ({column}) on garden.{table} from {role}", [table])
    for role in ROLES:
        yield Weakening(f"revoke usage on schema garden from {role}", ["events"])


def rights_given(standing: Ground, table: str) -> Iterator[Weakening]:
    for (right,) in standing.ask("select privilege_type from aclexplode(acldefault('r', 10))"):
        lacking = [
            role
            for role in ROLES
            if (False,)
            in standing.ask("select has_table_privilege(%s, %s, %s)", [role, f"garden.{table}", right])
        ]
        # What all three have may be everybody's: nobody else may enter the schema, nor gets in unnoticed.
        for role in (*lacking, "public") if lacking else ():
            yield Weakening(f"grant {right} on garden.{table} to {role}", [table])


def column_rights_given(standing: Ground, table: str) -> Iterator[Weakening]:
    shows_in = {
        "select": ["read a column"],
        "insert": ["fill a column"],
        "update": ["set a state column", "set another column"],
    }
    for column in standing.columns(table):
        for right in shows_in:
            for role in ROLES:
                asked = [role, f"garden.{table}", column, right]
                if standing.ask("select has_column_privilege(%s, %s, %s, %s)", asked) == [(False,)]:
                    change = f"grant {right} ({column}) on garden.{table} to {role}"
                    yield Weakening(change, [table], shows_in[right])


def triggers_lost(standing: Ground) -> Iterator[Weakening]:
    for table, name, _ in triggers(standing):
        yield Weakening(f"drop trigger {name} on garden.{table}", [table])
        yield Weakening(f"alter table garden.{table} disable trigger {name}", [table])


def triggers_without_a_column(standing: Ground) -> Iterator[Weakening]:
    for table, name, definition in triggers(standing):
        before, _, rest = definition.partition(" UPDATE OF ")
        columns, _, after = rest.partition(" ON ")
        names = columns.split(", ") if columns else []
        for left_out in names:
            kept = ", ".join(column for column in names if column != left_out)
            change = f"drop trigger {name} on garden.{table}; {before} UPDATE OF {kept} ON {after}"
            yield Weakening(change, [table], ["change anything else"])


def triggers(standing: Ground) -> list[tuple[str, str, str]]:
    return standing.ask(
        "select relname, tgname, pg_get_triggerdef(pg_trigger.oid)"
        " from pg_trigger join pg_class on tgrelid = pg_class.oid"
        " where relnamespace = 'garden'::regnamespace and not tgisinternal"
    )
