-- The transparency log: the maintainer's statements, over all users. Each user is looked up by index.

-- One checkpoint of a database at a time. The first number spells 'tlog'.
-- name: lock
select pg_advisory_xact_lock(1953263463, 0);

-- name: newest_checkpoint
select size, root, note from garden.log_checkpoints order by size desc limit 1;

-- name: add_checkpoint
insert into garden.log_checkpoints (size, root, note) values (%(size)s, %(root)s, %(note)s);

-- name: users
with recursive fed (user_id) as (
    (select user_id::text from garden.feed order by feed.user_id limit 1)
    union all
    select (select later.user_id::text
            from garden.feed as later
            where later.user_id > fed.user_id
            order by later.user_id
            limit 1)
    from fed
    where fed.user_id is not null
)
select user_id from fed where user_id is not null
union
select user_id from garden.log_leaves
order by 1;

-- Gives the next numbers to what the feeds hold beyond their last numbered entry.
-- name: number
with recursive fed (user_id) as (
    (select user_id::text from garden.feed order by feed.user_id limit 1)
    union all
    select (select later.user_id::text
            from garden.feed as later
            where later.user_id > fed.user_id
            order by later.user_id
            limit 1)
    from fed
    where fed.user_id is not null
), known as materialized (
    select fed.user_id, coalesce((
        select l.position
        from garden.log_leaves as l
        where l.user_id = fed.user_id
        order by l.position desc
        limit 1), 0) as position
    from fed
    where fed.user_id is not null
), numbered as (
    insert into garden.log_leaves (user_id, position, leaf)
    select waiting.user_id, waiting.position, %(size)s + row_number() over (order by waiting.user_id, waiting.position) - 1
    from (
        select f.user_id, f.position
        from known
        cross join lateral (
            select feed.user_id, feed.position
            from garden.feed
            where feed.user_id = known.user_id and feed.position > known.position
            order by feed.position
            limit %(limit)s) as f
        order by f.user_id, f.position
        limit %(limit)s) as waiting
    returning user_id, position
)
select user_id::text, min(position) as first, max(position) as last, count(*) as leaves
from numbered
group by user_id;

-- name: leaves
select user_id, position, leaf
from garden.log_leaves
where user_id = %(user_id)s and position > %(after)s
order by position
limit %(limit)s;

-- name: leaf_of
select l.leaf
from garden.feed as f
join garden.log_leaves as l on l.user_id = f.user_id and l.position = f.position
where f.user_id = %(user_id)s and (f.stream, f.sequence) = (
    select e.stream, e.sequence from garden.events as e where e.user_id = %(user_id)s and e.event_id = %(event_id)s);

-- How far the first entries of the log reach into a user's streams; a feed is logged in its order.
-- name: covered
select stream, max(sequence) as sequence
from garden.feed
where user_id = %(user_id)s and position <= (
    select max(position) from garden.log_leaves where user_id = %(user_id)s and leaf < %(size)s)
group by stream;

-- What the leaves of ranges of feeds commit to: an event as its feed names it, or an annotation by its place in the journal.
-- name: logged_events
select l.leaf, {e.leaf_event}
from unnest(%(users)s::text[], %(firsts)s::bigint[], %(lasts)s::bigint[]) as r (user_id, first, last)
join garden.log_leaves as l on l.user_id = r.user_id and l.position between r.first and r.last
join garden.feed as f on f.user_id = l.user_id and f.position = l.position
join garden.events as e on e.user_id = l.user_id and e.event_id = f.event_id
where e.stream = f.stream and e.sequence = f.sequence and e.status = f.what;

-- name: logged_annotations
select l.leaf, {a.leaf_annotation}
from unnest(%(users)s::text[], %(firsts)s::bigint[], %(lasts)s::bigint[]) as r (user_id, first, last)
join garden.log_leaves as l on l.user_id = r.user_id and l.position between r.first and r.last
join garden.feed as f on f.user_id = l.user_id and f.position = l.position and f.what = 'annotated'
join garden.event_annotations as a on a.user_id = l.user_id and a.sequence = f.sequence
where a.event_id = f.event_id;
