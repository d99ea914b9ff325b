-- The feed of settled events, in an order that a reader can resume.

-- The row at the position itself comes too: it proves that the position is known.
-- name: since
select feed.position, feed.event_id, feed.what, events.path,
       (select pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn()) as is_durable
from garden.feed as feed
left join garden.events as events on events.user_id = feed.user_id and events.event_id = feed.event_id
where feed.user_id = %(user_id)s and feed.position >= %(position)s
order by feed.position
limit %(limit)s;

-- name: newest
select position, event_id,
       (select pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn()) as is_durable
from garden.feed
where user_id = %(user_id)s
order by position desc
limit 1;

-- A transaction that writes something and waits for the disk; everything committed before it is durable then.
-- name: flush
select set_config('synchronous_commit', 'on', true), pg_logical_emit_message(true, 'garden', '');

-- name: listen
listen garden_feed;
