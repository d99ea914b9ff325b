-- The statements that write. One round trip is one function of the schema, or a procedure where it commits, and after
-- that the numbering in the feed. Rows are sent as versioned types, which a column added to a table does not change.

-- name: open_stream
select * from garden.open_stream(%(user_id)s, %(path)s, %(lock)s, %(key)s, %(now)s);

-- name: unlock
select pg_advisory_unlock(%(lock)s);

-- name: add_event
call garden.record_event(
    row({:new_event})::garden.event_v1,
    row({:new_head})::garden.head_v1,
    row(%(idempotency_key)s, %(fingerprint)s, %(response)s, %(expires_at)s)::garden.request_v1,
    %(lock)s
);

-- name: mark_written
select garden.mark_written(%(user_id)s, %(event_id)s, row({:new_state})::garden.event_state);

-- name: end_event
call garden.end_event(
    %(user_id)s, %(event_id)s, %(stream)s, %(expected)s,
    row({:written_state})::garden.event_state,
    row({:new_state})::garden.event_state,
    row({:new_head})::garden.head_v1,
    %(idempotency_key)s, %(answer)s, %(lock)s
);

-- name: number_stream
select garden.number_stream(%(user_id)s, %(stream)s);

-- name: number_rest
select garden.number_rest(%(user_id)s) as streams;

-- name: add_annotation
call garden.record_annotation(
    row({:annotation})::garden.annotation_v1,
    row({:new_head})::garden.head_v1,
    row(%(idempotency_key)s, %(fingerprint)s, %(response)s, %(expires_at)s)::garden.request_v1,
    %(lock)s
);

-- name: act_for
select garden.act_for(%(user_id)s, 'on');

-- name: put_head
select garden.put_head(
    %(user_id)s, %(path)s, %(tail_sequence)s, %(tail_chain_hash)s, %(updated_at)s,
    row({:new_head})::garden.head_v1
);

-- The correlation ids first: they name a few events, and a path may name all that a user has.
-- name: find_write_by_caller
with named as materialized (
    select event_id, path, stream
    from garden.events
    where user_id = %(user_id)s
      and (tool_call_id = %(tool_call_id)s or %(tool_call_id)s::text is null)
      and (transaction_id = %(transaction_id)s or %(transaction_id)s::text is null)
      and (agent_action_id = %(agent_action_id)s or %(agent_action_id)s::text is null)
)
select event_id
from named
where path = %(path)s and stream <> ''
order by event_id desc
limit 1;

-- name: forget_request
delete from garden.idempotency_records
where user_id = %(user_id)s
  and key = %(key)s
  and event_id = %(event_id)s
  and created_at is distinct from %(unless_made_at)s::timestamptz
returning key;
