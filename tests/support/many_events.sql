-- A long event log: events spread evenly over users, documents and kinds, a minute apart for one user. Nothing is
-- sealed, and the statements run past row-level security.

-- name: events
insert into garden.events (
    user_id, event_id, stream, sequence, type, op, tool, path, section_anchor, rationale, edit, splice_offsets,
    splices_removed, splices_inserted, document_version, leaves_file, before_hash, before_raw_hash, intended_hash,
    intended_raw_hash, actor, role, tool_call_id, transaction_id, agent_action_id, created_at, line_hash,
    salts, commitments, chain_hash, integrity_salt_version, status, after_hash, error, committed_at, failed_at, state_seal,
    state_salt_version)
select
    owner, id, path, place, 'type_' || place %% 20, 'append', 'fs.append', path, 'section_' || place %% 20,
    'because of ' || n, '{"kind": "edit", "asked": {"append": "a line"}}', '{0}', '{""}', '{a line}', place, true,
    case when place > 1 then hash end, case when place > 1 then hash end, hash, hash, 'agent', 'agent',
    'call-' || n, 'transaction-' || n / 5, 'action-' || n / 3, at, seal, seal, seal || seal, seal, 1, status,
    case when status = 'committed' then hash end, case when status = 'failed' then '{"code": "internal"}'::jsonb end,
    case when status = 'committed' then at end, case when status = 'failed' then at end, seal, 1
from (
    select n, 'user-' || n %% %(users)s as owner, n / %(users)s as turn, %(rows)s / %(users)s as turns
    from generate_series(0, %(rows)s - 1) as n
) as numbered
cross join lateral (
    select 'users/' || owner || '/parts/part-' || turn %% %(documents)s || '/notes.md' as path,
           turn / %(documents)s + 1 as place,
           timestamptz '2026-01-01 00:00Z' + turn * interval '1 minute' as at,
           case when turn >= turns - %(documents)s and turn %% %(documents)s = 0 then 'pending'
                when turn %% 50 = 7 then 'failed' else 'committed' end as status,
           'sha256:' || repeat('a', 64) as hash, sha256(n::text::bytea) as seal
) as placed
cross join lateral (
    select lpad(to_hex(extract(epoch from at)::bigint * 1000), 12, '0') || '7000a' || lpad(to_hex(n), 15, '0') as digits
) as timed
cross join lateral (select digits::uuid as id) as named;

-- name: documents
insert into garden.documents
select distinct on (user_id, path)
    user_id, path, document_version, intended_hash, intended_raw_hash, true, event_id,
    case when status = 'pending' then event_id end, sequence, chain_hash, created_at, state_seal, 1
from garden.events
order by user_id, path, sequence desc;

-- name: annotations
insert into garden.event_annotations (
    user_id, annotation_id, event_id, sequence, type, op, rationale, actor, role, created_at, salts, commitments,
    chain_hash, integrity_salt_version)
select user_id, event_id, event_id, row_number() over (partition by user_id order by event_id), 'note', 'note',
       'said later', 'agent', 'agent', created_at, '', '', chain_hash, 1
from garden.events
where document_version % 5 = 0;

-- name: feed
insert into garden.feed
select user_id, row_number() over (partition by user_id order by event_id), event_id, status, stream, sequence
from garden.events
where status in ('committed', 'failed');

-- name: tokens
insert into garden.tokens (
    user_id, token_id, role, actor, secret_hash, created_at, expires_at, seal, seal_salt_version, revoked_seal,
    revoked_salt_version)
select user_id, right(event_id::text, 12), 'agent', 'agent', state_seal, created_at, created_at + interval '1 day', state_seal, 1,
       state_seal, 1
from garden.events;

-- name: approvals
insert into garden.approvals (user_id, approval_id, actor, role, tool, call_mark, effect_mark, args, diff, state, asked_at,
                              expires_at)
select user_id, event_id, 'agent', 'agent', 'fs.append', sha256(event_id::text::bytea), state_seal,
       case when document_version % 50 = 0 then '{}'::jsonb end, '', 'denied', created_at, created_at + interval '1 hour'
from garden.events;

-- name: requests
insert into garden.idempotency_records
select user_id, 'caller:' || event_id, state_seal, event_id, '{}', created_at,
       case when document_version % 10 = 0 then now() - interval '1 hour' else now() + interval '1 day' end,
       state_seal, 1, state_seal, 1
from garden.events
where document_version % 2 = 0;

-- name: recall_documents
insert into garden.recall_documents (user_id, path, generation, version, analysis)
select user_id, path, head_event_id, version, 1 from garden.documents;

-- name: recall_passages
insert into garden.recall_passages (
    user_id, passage, since, until, path, anchor, name, heading, language, event_id, day, text, words)
select user_id, ('x' || right(event_id::text, 8))::bit(32)::bigint, created_at,
       case when sequence % 2 = 0 then created_at + interval '1 day' end, path, 'inbox v1', 'name', 'Inbox', 'en', event_id,
       created_at, 'a line', '1234'
from garden.events;

-- name: recall_usage
insert into garden.recall_usage
select distinct user_id, created_at::date, type, 1, 0, 1 from garden.events;

-- name: recall_given
insert into garden.recall_given
select user_id, event_id, 'agent', created_at, array[path || '#inbox v1/name'] from garden.events;

-- name: tool_calls
insert into garden.tool_calls (
    user_id, call_id, actor, role, surface, tool, arguments, status, started_at, milliseconds, code, tokens_in, calls)
select user_id, event_id, 'agent', 'agent', 'python', 'fs.append', '{}',
       case when sequence % 9 = 0 then 'refused' else 'success' end, created_at, 1,
       case when sequence % 9 = 0 then 'not_found' end, 1, 1
from garden.events;

-- name: kept_texts
insert into garden.kept_texts
select user_id, stream, document_version, 'a line' from garden.events where status = 'committed';

-- One in a hundred is of an earlier day.
-- name: call_counts
insert into garden.call_counts
select user_id, event_id, 60, 0, 0, array_fill(0, array[13]), current_date - case when random() < 0.01 then 7 else 0 end
from garden.events;

-- The last ten of each user wait for their numbers.
-- name: log_leaves
insert into garden.log_leaves
select user_id, position, row_number() over (order by event_id) - 1
from (select *, max(position) over (partition by user_id) as newest from garden.feed) as fed
where position <= newest - 10;

-- name: log_checkpoints
insert into garden.log_checkpoints (size, root, note)
select size, sha256('root'), 'note' from generate_series(1, 1000) as size;
