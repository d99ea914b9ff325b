-- An administrator runs this where the garden's login may not create roles.

-- name: prepare
do $$
declare
    wanted text;
begin
    foreach wanted in array array['garden_reader', 'garden_service', 'garden_maintainer'] loop
        if not exists (select from pg_roles where rolname = wanted) then
            execute format('create role %I nologin', wanted);
        end if;
    end loop;
end
$$;
grant garden_reader, garden_service, garden_maintainer to {login};

-- name: make_daily_login
do $$
begin
    if not exists (select from pg_roles where rolname = 'garden_daily') then
        create role garden_daily login noinherit;
    end if;
end
$$;
grant garden_reader, garden_service, garden_maintainer to garden_daily;
-- No right to an object names this login: a dump would not restore where the login is missing. Row-level security
-- leaves the login itself no row of a user.
grant pg_read_all_data to garden_daily with inherit true;
