-- The transparency log: the maintainer's statements, over all users. Each user is looked up by index.

-- name: newest_checkpoint
select size, root, note from garden.log_checkpoints order by size desc limit 1;

-- name: add_checkpoint
insert into garden.log_checkpoints (size, root, note) values (%(size)s, %(root)s, %(note)s) returning size;

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
    returning leaf
)
select count(*) as leaves from numbered;

-- name: leaves
select user_id, position, leaf
from garden.log_leaves
where leaf >= %(first)s and leaf < %(end)s
order by leaf;

-- name: leaves_of
select position, leaf
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

-- What leaves commit to: an event as its feed names it, or an annotation by its place in the journal. A limit in each
-- step keeps the plan from reading whole tables.
-- name: logged_events
select l.leaf, {e.leaf_event}
from garden.log_leaves as l
cross join lateral (
    select * from garden.feed where user_id = l.user_id and position = l.position limit 1) as f
cross join lateral (
    select * from garden.events where user_id = l.user_id and event_id = f.event_id limit 1) as e
where l.leaf >= %(first)s and l.leaf < %(end)s
  and e.stream = f.stream and e.sequence = f.sequence and e.status = f.what;

-- name: logged_annotations
select l.leaf, {a.leaf_annotation}
from garden.log_leaves as l
cross join lateral (
    select * from garden.feed where user_id = l.user_id and position = l.position limit 1) as f
cross join lateral (
    select * from garden.event_annotations where user_id = l.user_id and sequence = f.sequence limit 1) as a
where l.leaf >= %(first)s and l.leaf < %(end)s and f.what = 'annotated' and a.event_id = f.event_id;
