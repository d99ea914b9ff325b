-- The maintainer's statements, over all users.

-- Goes from one user to the next by the index, without reading the events of each.
-- name: users
with recursive acting (user_id) as (
    (select user_id::text from garden.events order by events.user_id limit 1)
    union all
    select (select later.user_id::text
            from garden.events as later
            where later.user_id > acting.user_id
            order by later.user_id
            limit 1)
    from acting
    where acting.user_id is not null
)
select user_id from acting where user_id is not null
union
select user_id from garden.documents
order by 1;

-- name: forget_expired
delete from garden.idempotency_records
where (user_id, key) in (
    select user_id, key from garden.idempotency_records where expires_at < now() order by expires_at limit %(limit)s)
returning key;

-- name: forget_old_calls
delete from garden.call_counts where counted_on < current_date - 1 returning key;

-- How much a garden has; a stream has as many events as the number of its last one.
-- name: garden_facts
select count(*) filter (where has_file) as documents,
       coalesce(sum(tail_sequence), 0)::bigint as events,
       max(updated_at) as changed_at,
       count(*) filter (where open_event_id is not null) as open_changes,
       count(*) filter (where open_event_id is not null and updated_at < %(stalled)s) as stalled,
       (select coalesce(max(position), 0) from garden.feed where user_id = %(user_id)s) as settled,
       (select coalesce(max(position), 0) from garden.log_leaves where user_id = %(user_id)s) as logged
from garden.documents
where user_id = %(user_id)s;

-- name: home_facts
select newest.size as log_size, newest.added_at as checkpoint_at,
       (select count(*) from garden.documents where open_event_id is not null) as open_changes,
       pg_database_size(current_database()) as database_bytes
from (select) as home
left join lateral (select size, added_at from garden.log_checkpoints order by size desc limit 1) as newest on true;
