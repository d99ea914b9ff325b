-- What an administrator runs where the garden's own login may not create roles.

-- name: prepare
create role garden_reader nologin;
create role garden_service nologin;
create role garden_maintainer nologin;
grant garden_reader, garden_service, garden_maintainer to {login};
