-- The statements that write. One round trip is one function of the schema, or a procedure where it commits and then
-- numbers in the feed. Rows are sent as versioned types, which a column added to a table does not change.

-- name: open_stream
select * from garden.open_stream(%(user_id)s, %(path)s, %(lock)s, %(key)s, %(now)s);

-- Only the login sees since when another session is idle.
-- name: lock_holder
select application_name as client, state_change as silent_since
from pg_locks join pg_stat_activity using (pid)
where locktype = 'advisory' and granted and objsubid = 1 and datname = current_database()
  and (classid::bigint << 32 | objid::bigint) = %(lock)s;

-- name: unlock
select pg_advisory_unlock(%(lock)s);

-- name: add_event
call garden.add_event(
    row({:new_event})::garden.event_v1,
    %(known_seal)s,
    %(head_seal)s,
    row(%(idempotency_key)s, %(fingerprint)s, %(response)s, %(expires_at)s, %(request_seal)s,
        %(answer_seal)s)::garden.request_v1,
    %(lock)s,
    json_populate_record(null::garden.passage_changes_v1, %(passages)s::json),
    %(calls)s::json,
    null
);

-- name: mark_written
select garden.mark_written(%(user_id)s, %(event_id)s, row({:new_state})::garden.event_state);

-- name: end_event
call garden.finish_event(
    %(stream)s, %(user_id)s, %(event_id)s, %(expected)s,
    row({:written_state})::garden.event_state,
    row({:new_state})::garden.event_state,
    %(head_seal)s, %(idempotency_key)s, %(response)s, %(answer_seal)s, %(lock)s,
    json_populate_record(null::garden.passage_changes_v1, %(passages)s::json),
    %(call)s::json
);

-- name: number_rest
select garden.number_rest(%(user_id)s) as streams;

-- name: add_annotation
call garden.add_annotation(
    row({:annotation})::garden.annotation_v1,
    %(head_seal)s,
    row(%(idempotency_key)s, %(fingerprint)s, %(response)s, %(expires_at)s, %(request_seal)s,
        %(answer_seal)s)::garden.request_v1,
    %(lock)s,
    %(calls)s::json
);

-- name: act_for
select garden.act_for(%(user_id)s, 'on');

-- name: put_head
insert into garden.documents ({head}) values ({:head})
on conflict (user_id, path) do update
set version = excluded.version, content_hash = excluded.content_hash, raw_hash = excluded.raw_hash,
    has_file = excluded.has_file, head_event_id = excluded.head_event_id, open_event_id = excluded.open_event_id,
    tail_sequence = excluded.tail_sequence, tail_chain_hash = excluded.tail_chain_hash,
    updated_at = excluded.updated_at, seal = excluded.seal, seal_salt_version = excluded.seal_salt_version;

-- name: forget_request
delete from garden.idempotency_records
where user_id = %(user_id)s
  and key = %(key)s
  and event_id = %(event_id)s
  and created_at is distinct from %(unless_made_at)s::timestamptz
returning key;
