-- Distributing the tables over the hosts of a Citus cluster. A session may do this once its database has the schema.

-- name: is_installed
select exists (select from pg_extension where extname = 'citus');

-- Triggers run on the shard of their row. Those that guard words also look for an erasure under way, in a table that is
-- kept together with their own.
-- name: allow_triggers
set citus.enable_unsafe_triggers = on;

-- The tables that are not distributed yet, each with whether its rows belong to users; events first, for others refer to it.
-- name: waiting
select c.relname, exists (
        select from pg_attribute as a where a.attrelid = c.oid and a.attname = 'user_id' and not a.attisdropped
    ) as is_of_users
from pg_class as c
where c.relnamespace = 'garden'::regnamespace and c.relkind = 'r'
  and not exists (select from pg_dist_partition as p where p.logicalrelid = c.oid)
order by c.relname <> 'events', c.relname;

-- name: distribute
select create_distributed_table(
    %(name)s::regclass, 'user_id', colocate_with => case when %(name)s = 'garden.events' then 'none' else 'garden.events' end);

-- name: copy_everywhere
select create_reference_table(%(name)s::regclass);
