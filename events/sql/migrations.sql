-- The migrations that a database has.

-- The service's roles have no right to this table; the login has.
-- name: act_as_login
select set_config('role', 'none', true);

-- name: is_prepared
select to_regclass('garden.schema_migrations') is not null;

-- name: prepare
create schema if not exists garden;
create table if not exists garden.schema_migrations (
    version    integer     primary key check (version > 0),
    name       text        not null,
    checksum   text        not null check (checksum ~ '^sha256:[0-9a-f]{64}$'),
    applied_at timestamptz not null default clock_timestamp()
);

-- name: applied
select version, name, checksum, applied_at from garden.schema_migrations order by version;

-- Without this setting a server that runs a long statement does not notice that its client has died.
-- name: lock
select set_config('client_connection_check_interval', '1s', true), pg_advisory_xact_lock(%s);

-- name: record
insert into garden.schema_migrations (version, name, checksum) values (%s, %s, %s);
