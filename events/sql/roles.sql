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
