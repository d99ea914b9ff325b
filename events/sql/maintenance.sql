-- What the maintainer asks, over all users.

-- name: act_as_maintainer
select set_config('role', 'garden_maintainer', true);

-- name: users
select user_id from garden.documents
union
select user_id from garden.events
order by 1;

-- name: stalled
select user_id, path, open_event_id, updated_at
from garden.documents
where open_event_id is not null and updated_at < %(before)s
  and (%(user_id)s::text is null or user_id = %(user_id)s)
order by updated_at
limit %(limit)s;

-- name: forget_expired
delete from garden.idempotency_records
where (user_id, key) in (
    select user_id, key from garden.idempotency_records where expires_at < now() order by expires_at limit %(limit)s)
returning key;
