-- The home that a database belongs to.

-- name: claim
insert into garden.home (id) values (%(id)s) on conflict (only_one) do nothing;

-- name: owner
select id from garden.home;
