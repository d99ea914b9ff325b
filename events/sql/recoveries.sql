-- Attempts to settle sagas, over all users, as the maintainer.

-- The sagas that have waited longest come first: ids sort by the time they were made. One that was tried a moment ago is
-- left to the process that tries it. A time in the future is that of a clock that was set back since.
-- New sagas are claimed in batches, and after them those without a counted attempt. Any other is claimed alone, the least
-- tried first: a saga that takes its worker down must not add to the attempts of others.
-- Trouble of the disk or the database passes by itself: the pause is as long as the trouble has lasted so far.
-- name: claim
with fresh as materialized (
    select d.user_id, d.path, d.open_event_id, d.updated_at
    from garden.documents as d
    where d.open_event_id is not null
      and (d.updated_at < %(before)s or d.updated_at > %(ahead)s)
      and (%(user_id)s::text is null or d.user_id = %(user_id)s)
      and not exists (
        select from garden.recoveries as r where r.user_id = d.user_id and r.event_id = d.open_event_id)
      and d.open_event_id <> all (%(excluded)s::uuid[])
    order by d.open_event_id
    limit %(limit)s
), again as materialized (
    select d.user_id, d.path, d.open_event_id, d.updated_at, r.attempts,
           row_number() over (order by r.attempts, d.open_event_id) as place
    from garden.documents as d
    join garden.recoveries as r on r.user_id = d.user_id and r.event_id = d.open_event_id
    where not exists (select from fresh)
      and d.open_event_id is not null
      and (d.updated_at < %(before)s or d.updated_at > %(ahead)s)
      and (%(user_id)s::text is null or d.user_id = %(user_id)s)
      and r.quarantined_at is null
      and d.open_event_id <> all (%(excluded)s::uuid[])
      and (r.last_at > now() + %(clock_slack)s
           or r.last_at < now() - case when r.error ->> 'code' = 'unavailable'
                                       then least(greatest(r.last_at - r.first_at, %(pause)s), %(pause_max)s)
                                       else %(pause)s end)
    order by place
    limit %(limit)s
), due as (
    select * from fresh
    union all
    select user_id, path, open_event_id, updated_at from again where attempts = 0 or place = 1
), tried as (
    insert into garden.recoveries as r (user_id, event_id, path, attempts, first_at, last_at)
    select user_id, open_event_id, path, 1, now(), now() from due
    on conflict (user_id, event_id) do update
    set attempts = r.attempts + 1, last_at = greatest(excluded.last_at, r.first_at),
        quarantined_at = case when r.attempts >= %(attempts_max)s then excluded.last_at end
    returning r.user_id, r.event_id, r.attempts, r.quarantined_at, r.error
)
select due.user_id, due.path, tried.event_id, due.updated_at as since, tried.attempts,
       tried.quarantined_at is not null as quarantined, tried.error
from due join tried on tried.user_id = due.user_id and tried.event_id = due.open_event_id
order by due.open_event_id;

-- name: forget
delete from garden.recoveries as r
using unnest(%(user_ids)s::text[], %(event_ids)s::uuid[]) as done (user_id, event_id)
where r.user_id = done.user_id and r.event_id = done.event_id;

-- name: note_errors
update garden.recoveries as r set error = done.error
from unnest(%(user_ids)s::text[], %(event_ids)s::uuid[], %(errors)s::jsonb[]) as done (user_id, event_id, error)
where r.user_id = done.user_id and r.event_id = done.event_id;

-- A saga that met trouble of the disk or the database does not take its worker down.
-- name: postpone
update garden.recoveries as r set attempts = greatest(r.attempts - 1, 0), error = done.error
from unnest(%(user_ids)s::text[], %(event_ids)s::uuid[], %(errors)s::jsonb[]) as done (user_id, event_id, error)
where r.user_id = done.user_id and r.event_id = done.event_id;

-- Another process holds the document, so this was no attempt.
-- name: uncount
update garden.recoveries as r set attempts = greatest(r.attempts - 1, 0)
from unnest(%(user_ids)s::text[], %(event_ids)s::uuid[]) as done (user_id, event_id)
where r.user_id = done.user_id and r.event_id = done.event_id;

-- A later write has settled these sagas.
-- name: forget_outdated
delete from garden.recoveries as r
where not exists (
    select from garden.documents as d where d.user_id = r.user_id and d.open_event_id = r.event_id)
returning r.event_id;

-- name: troubles
select r.user_id, r.path, r.event_id, r.attempts, r.first_at, r.quarantined_at, r.error
from garden.recoveries as r
join garden.documents as d on d.user_id = r.user_id and d.open_event_id = r.event_id
where (r.quarantined_at is not null or r.error is not null)
  and (%(user_id)s::text is null or r.user_id = %(user_id)s)
order by r.user_id, r.path;

-- name: release
delete from garden.recoveries
where quarantined_at is not null and (%(user_id)s::text is null or user_id = %(user_id)s);

-- name: counts
select (select count(*) from garden.documents where open_event_id is not null) as stalled,
       (select count(*)
        from garden.recoveries as r
        join garden.documents as d on d.user_id = r.user_id and d.open_event_id = r.event_id
        where r.quarantined_at is not null) as quarantined;
