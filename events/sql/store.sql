-- The write side. What belongs to one round trip is one function of the schema, or a procedure where it takes two
-- transactions.

-- name: open_stream
select * from garden.open_stream(%(user_id)s, %(path)s, %(lock)s, %(key)s, %(now)s);

-- name: unlock
select pg_advisory_unlock(%(lock)s);

-- name: add_event
call garden.record_event(
    row(
        %(user_id)s, %(event_id)s, %(stream)s, %(sequence)s, %(type)s, %(op)s, %(tool)s, %(path)s, %(entity)s,
        %(section_anchor)s, %(rationale)s, %(override_rationale)s, %(evidence_refs)s, %(edit)s,
        %(splice_offset)s, %(splice_removed)s, %(splice_inserted)s, %(document_version)s, %(before_hash)s,
        %(before_raw_hash)s, %(intended_hash)s, %(intended_raw_hash)s, %(lint)s, %(actor)s, %(role)s,
        %(tool_call_id)s, %(transaction_id)s, %(agent_action_id)s, %(idempotency_key)s, %(created_at)s,
        %(line_hash)s, %(chain_hash)s, %(integrity_salt_version)s, %(status)s, %(after_hash)s, null,
        null, %(committed_at)s, null, %(state_seal)s, %(state_salt_version)s
    )::garden.events,
    row(
        %(user_id)s, %(stream)s, %(head_version)s, %(head_content_hash)s, %(head_raw_hash)s,
        %(head_head_event_id)s, %(head_open_event_id)s, %(sequence)s, %(chain_hash)s, %(created_at)s,
        %(head_seal)s, %(head_seal_salt_version)s
    )::garden.documents,
    row(
        %(user_id)s, %(idempotency_key)s, %(fingerprint)s, %(event_id)s, %(response)s, %(created_at)s,
        %(expires_at)s
    )::garden.idempotency_records,
    %(lock)s
);

-- name: mark_written
select garden.mark_written(
    %(user_id)s, %(event_id)s,
    row(
        %(status)s, %(after_hash)s, %(error)s, %(written_at)s, %(committed_at)s, %(failed_at)s,
        %(state_seal)s, %(state_salt_version)s
    )::garden.event_state
);

-- name: end_event
select garden.end_event(
    %(user_id)s, %(event_id)s, %(expected)s,
    row(
        %(written_status)s, %(written_after_hash)s, %(written_error)s, %(written_written_at)s,
        %(written_committed_at)s, %(written_failed_at)s, %(written_state_seal)s,
        %(written_state_salt_version)s
    )::garden.event_state,
    row(
        %(status)s, %(after_hash)s, %(error)s, %(written_at)s, %(committed_at)s, %(failed_at)s,
        %(state_seal)s, %(state_salt_version)s
    )::garden.event_state,
    row(
        %(user_id)s, %(stream)s, %(head_version)s, %(head_content_hash)s, %(head_raw_hash)s,
        %(head_head_event_id)s, null, null, null, %(head_updated_at)s, %(head_seal)s, %(head_seal_salt_version)s
    )::garden.documents,
    %(idempotency_key)s, %(answer)s, %(lock)s
);

-- name: add_annotation
call garden.record_annotation(
    row(
        %(user_id)s, %(annotation_id)s, %(event_id)s, %(sequence)s, %(type)s, %(op)s, %(rationale)s,
        %(evidence_refs)s, %(details)s, %(actor)s, %(role)s, %(tool_call_id)s, %(transaction_id)s,
        %(agent_action_id)s, %(created_at)s, %(chain_hash)s, %(integrity_salt_version)s
    )::garden.event_annotations,
    row(
        %(user_id)s, '', %(head_version)s, %(head_content_hash)s, %(head_raw_hash)s, %(head_head_event_id)s,
        %(head_open_event_id)s, %(sequence)s, %(chain_hash)s, %(created_at)s, %(head_seal)s,
        %(head_seal_salt_version)s
    )::garden.documents,
    row(
        %(user_id)s, %(idempotency_key)s, %(fingerprint)s, %(event_id)s, %(response)s, %(created_at)s,
        %(expires_at)s
    )::garden.idempotency_records,
    %(lock)s
);

-- name: act_for
select garden.act_for(%(user_id)s, 'on');

-- name: put_head
select garden.put_head(row(
    %(user_id)s, %(stream)s, %(head_version)s, %(head_content_hash)s, %(head_raw_hash)s, %(head_head_event_id)s,
    %(head_open_event_id)s, %(head_tail_sequence)s, %(head_tail_chain_hash)s, %(head_updated_at)s, %(head_seal)s,
    %(head_seal_salt_version)s
)::garden.documents);

-- By the ids first and by themselves, for they name a few events and a path may name all that a user has.
-- name: write_it_speaks_of
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
where path = %(speaks_of)s and stream <> ''
order by event_id desc
limit 1;
