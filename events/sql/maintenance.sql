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
