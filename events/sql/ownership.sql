-- Whose account a database keeps.

-- name: claim
insert into garden.home (id) values (%(id)s) on conflict (only_one) do nothing;

-- name: whose
select id from garden.home;
