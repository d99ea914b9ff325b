-- What permissions.py tries, a statement for each command on a table. `{user}`, `{row}` and `{column}` are filled in.

-- name: insert events
insert into garden.events (
    user_id, event_id, stream, sequence, type, op, tool, path, splice_offsets, splices_removed, splices_inserted,
    document_version, intended_hash, intended_raw_hash, actor, role, created_at, line_hash, salts, commitments,
    chain_hash, integrity_salt_version, status, state_seal, state_salt_version)
values (
    '{user}', md5('{user} {row}')::uuid, 'notes.md', {row}, 'edit', 'append', 'fs.append', 'notes.md', '{0}', '{""}', '{text}',
    1, 'sha256:' || repeat('a', 64), 'sha256:' || repeat('a', 64), 'agent', 'agent', now(), sha256('line'),
    sha256('salt'), sha256('1') || sha256('2'), sha256('chain'), 1, 'pending', sha256('state'), 1)

-- name: insert failed events
insert into garden.events (
    user_id, event_id, stream, sequence, type, op, tool, path, actor, role, created_at, salts, commitments, chain_hash,
    integrity_salt_version, status, error, failed_at, state_seal, state_salt_version)
values (
    '{user}', md5('{user} {row}')::uuid, '', {row}, 'note', 'note', 'events.log', null, 'agent', 'agent', now(),
    '', '', sha256('chain'), 1, 'failed', '{}', now(), sha256('state'), 1)

-- name: insert documents
insert into garden.documents
values (
    '{user}', '{row}.md', 1, 'sha256:' || repeat('a', 64), 'sha256:' || repeat('a', 64), true, gen_random_uuid(), null, 1,
    sha256('chain'), now(), sha256('head'), 1)

-- name: insert idempotency_records
insert into garden.idempotency_records
values (
    '{user}', '{row}', sha256(''), gen_random_uuid(), null, now(), now() + '1 hour', sha256('request'), 1)

-- name: insert expired idempotency_records
insert into garden.idempotency_records
values (
    '{user}', 'expired {row}', sha256(''), gen_random_uuid(), null, now() - '2 hours'::interval,
    now() - '1 hour'::interval, sha256('request'), 1)

-- name: insert approvals
insert into garden.approvals (user_id, approval_id, actor, role, tool, call_mark, effect_mark, args, diff, state, asked_at,
                              expires_at)
values ('{user}', md5('{row}')::uuid, 'agent', 'agent', 'fs.append', sha256('{row}'), sha256('effect'), '{}', '', 'pending',
        now(), now() + '1 hour')

-- name: insert expired approvals
insert into garden.approvals (user_id, approval_id, actor, role, tool, call_mark, effect_mark, args, diff, state, asked_at,
                              expires_at)
values ('{user}', md5('expired {row}')::uuid, 'agent', 'agent', 'fs.append', sha256('{row}'), sha256('effect'), '{}', '',
        'denied', now() - '2 hours'::interval, now() - '1 hour'::interval)

-- name: insert event_annotations
insert into garden.event_annotations (
    user_id, annotation_id, event_id, sequence, type, op, actor, role, created_at, salts, commitments, chain_hash,
    integrity_salt_version)
values (
    '{user}', gen_random_uuid(), md5('{user} 1')::uuid, {row}, 'note', 'note', 'agent', 'agent', now(),
    '', '', sha256('chain'), 1)

-- name: insert tokens
insert into garden.tokens (
    user_id, token_id, role, actor, secret_hash, created_at, expires_at, seal, seal_salt_version, revoked_seal,
    revoked_salt_version, policy)
values (
    '{user}', lpad('{row}', 12, '0'), 'agent', 'agent', sha256('secret'), now(), now() + '1 hour', sha256('token'), 1,
    sha256('not revoked'), 1, '{}')

-- name: insert sign_ins
insert into garden.sign_ins (
    user_id, sign_in_id, is_link, token_id, role, actor, created_at, expires_at, seal, seal_salt_version)
values (
    '{user}', lpad('{row}', 12, '0'), false, null, 'agent', 'agent', now(), now() + '1 hour', sha256('sign-in'), 1)

-- name: insert expired sign_ins
insert into garden.sign_ins (
    user_id, sign_in_id, is_link, token_id, role, actor, created_at, expires_at, seal, seal_salt_version)
values (
    '{user}', lpad('{row}', 12, 'e'), true, null, 'agent', 'agent', now() - '2 hours'::interval,
    now() - '1 hour'::interval, sha256('sign-in'), 1)

-- name: insert feed
insert into garden.feed values ('{user}', {row}, md5('{user} {row}')::uuid, 'committed', 'stream', {row})

-- name: insert recoveries
insert into garden.recoveries values ('{user}', md5('{user} {row}')::uuid, 'notes.md', 1, now(), now())

-- name: insert call_counts
insert into garden.call_counts values ('{user}', 'all {row}', 60, 0, 0, array_fill(0, array[13]), current_date)

-- name: insert erasures
insert into garden.erasures (user_id, erasure_id, kind, passage, reason, actor, role, created_at, seal,
                             seal_salt_version)
values ('{user}', md5('erasure {row}')::uuid, 'passage', 'words', 'reason', 'operator', 'maintainer', now(),
        sha256('order'), 1)

-- name: insert erased_rows
insert into garden.erased_rows
values ('{user}', md5('{user} {row}')::uuid, gen_random_uuid(), sha256(''), null, sha256('row'), 1)

-- name: insert erased_words
insert into garden.erased_words values ('{user}', sha256('{row}'), 5, gen_random_uuid(), 1)

-- name: insert recall_documents
insert into garden.recall_documents values ('{user}', '{row}.md', gen_random_uuid(), 1, 1)

-- name: insert recall_passages
insert into garden.recall_passages (
    user_id, passage, since, path, anchor, name, heading, language, event_id, day, text, words)
values ('{user}', {row}, now(), 'notes.md', 'inbox v1', 'name', 'Inbox', 'en', gen_random_uuid(), now(), 'text', '')

-- name: insert recall_usage
insert into garden.recall_usage values ('{user}', date '2026-01-01' + {row}, 'memory.recall', 1, 0, 1)

-- name: insert recall_given
insert into garden.recall_given values ('{user}', md5('{row}')::uuid, 'agent', now(), '{notes.md#inbox v1/name}')

-- name: insert kept_texts
insert into garden.kept_texts values ('{user}', 'notes.md', {row}, 'text')

-- name: insert grown_documents
insert into garden.grown_documents values ('{user}', '{row}.md')

-- name: insert tool_calls
insert into garden.tool_calls (
    user_id, call_id, actor, role, surface, tool, status, started_at, tokens_in, calls)
values ('{user}', md5('{row}')::uuid, 'agent', 'agent', 'python', 'fs.read', 'success', now(), 1, 1)

-- name: insert log_leaves
insert into garden.log_leaves values ('{user}', {row}, {row})

-- name: insert log_checkpoints
insert into garden.log_checkpoints (size, root, note) values ({row}, sha256('root'), 'note')

-- name: insert schema_migrations
insert into garden.schema_migrations (version, name, checksum)
values (1000 + {row}, 'later', 'sha256:' || repeat('a', 64))

-- name: change its state events
update garden.events
set status = 'written', after_hash = 'sha256:' || repeat('a', 64), error = null, written_at = now(),
    committed_at = null, failed_at = null, state_seal = sha256('new'), state_salt_version = 2

-- name: change its state documents
update garden.documents
set version = 2, content_hash = 'sha256:' || repeat('b', 64), raw_hash = 'sha256:' || repeat('b', 64),
    has_file = false, head_event_id = gen_random_uuid(), open_event_id = null, tail_sequence = 2, tail_chain_hash = sha256('new'),
    updated_at = now(), seal = sha256('new'), seal_salt_version = 2

-- name: change its state idempotency_records
update garden.idempotency_records
set fingerprint = sha256('new'), event_id = gen_random_uuid(), response = '{}', created_at = now(),
    expires_at = now() + '2 hours', seal = sha256('new'), seal_salt_version = 2,
    answer_seal = sha256('new'), answer_salt_version = 2

-- name: change its state approvals
update garden.approvals set state = 'void', args = null, diff = null, reason = null

-- name: change its state erasures
update garden.erasures
set passage = null, finished_at = now(), events = 1, bytes = 1, seal = sha256('done'), seal_salt_version = 1

-- name: change its state erased_rows
update garden.erased_rows
set erasure_id = gen_random_uuid(), commitments = sha256(''), version_hash = null, seal = sha256('new'),
    seal_salt_version = 2

-- name: change its state recall_documents
update garden.recall_documents
set generation = gen_random_uuid(), version = 2, analysis = 2, changed = pg_current_xact_id()

-- name: change its state recall_passages
update garden.recall_passages
set until = now(), language = 'de', previous = 1, day = now(), tags = '{a}', priority = 1,
    summary_type = 'daily', period_key = '2026-11-19', words = '', vector = '', embedder = 'model',
    changed = pg_current_xact_id()

-- name: change its state tool_calls
update garden.tool_calls
set status = 'failed', milliseconds = 1, code = 'internal', summary = '', tokens_out = 1,
    event_id = gen_random_uuid(), calls = 2

-- name: change its state recall_usage
update garden.recall_usage set calls = 2, empty = 1, milliseconds = 2

-- name: take a tombstone back erasures
do $$ begin
    update garden.erasures
    set passage = null, finished_at = now(), events = 1, seal = sha256('done'), seal_salt_version = 1;
    update garden.erasures set finished_at = null, events = null;
end $$

-- The condition names an erasure of Ada's, and one of Bob's, without reading a column.
-- name: erase words events
update garden.events
set rationale = null, edit = null
where set_config('garden.erasure_id', md5('erasure 1')::uuid::text, true) is not null

-- name: erase words tool_calls
update garden.tool_calls set arguments = null, summary = null, ids = null

-- name: erase words event_annotations
update garden.event_annotations
set rationale = null, details = null
where set_config('garden.erasure_id', md5('erasure 1')::uuid::text, true) is not null

-- name: change its state call_counts
update garden.call_counts set slot = 1, clock = 2, counts = array_fill(1, array[13]), counted_on = current_date - 1

-- name: change its state recoveries
update garden.recoveries set attempts = 2, last_at = now(), error = '{}', quarantined_at = now()

-- name: change its state tokens
update garden.tokens set revoked_at = now(), revoked_seal = sha256('revoked'), revoked_salt_version = 2

-- name: take a revocation back tokens
do $$ begin
    update garden.tokens set revoked_at = now();
    update garden.tokens set revoked_at = null;
end $$

-- name: change anything else events
-- Together with a step that is allowed; otherwise the trigger that judges steps would hide the others.
update garden.events
set status = 'written', after_hash = 'sha256:' || repeat('a', 64), written_at = now(), {column} = null

-- name: change anything else
update {table} set {column} = null

-- name: jump events
update garden.events set status = 'committed', committed_at = now()

-- name: fall back to a lower version documents
update garden.documents set version = 0, content_hash = null, raw_hash = null, head_event_id = null

-- name: fall back to a lower sequence documents
update garden.documents set tail_sequence = 0

-- name: select
select * from {table}

-- name: select tokens
select user_id, token_id, role, actor, created_at, expires_at, revoked_at, seal, seal_salt_version, revoked_seal,
       revoked_salt_version, policy
from garden.tokens

-- name: select erasures
select user_id, erasure_id, kind, path, reason, actor, role, created_at, finished_at, events, bytes, seal,
       seal_salt_version
from garden.erasures

-- name: delete
delete from {table}

-- name: truncate
truncate {table} cascade

-- name: read a column
select {column} from {table}

-- name: fill a column
insert into {table} ({column}) values (default)

-- name: set a column
update {table} set {column} = null

-- name: add a trigger
create trigger intruder before insert on {table} for each row execute function garden.refuse_removal()

-- name: refer to it events
create table playground.t (a text, b uuid, foreign key (a, b) references garden.events (user_id, event_id))

-- name: refer to it documents
create table playground.t (a text, b text, foreign key (a, b) references garden.documents (user_id, path))

-- name: refer to it idempotency_records
create table playground.t (a text, b text, foreign key (a, b) references garden.idempotency_records (user_id, key))

-- name: refer to it approvals
create table playground.t (a text, b uuid, foreign key (a, b) references garden.approvals (user_id, approval_id))

-- name: refer to it event_annotations
create table playground.t (
    a text, b uuid, foreign key (a, b) references garden.event_annotations (user_id, annotation_id))

-- name: refer to it tokens
create table playground.t (a text, b text, foreign key (a, b) references garden.tokens (user_id, token_id))

-- name: refer to it sign_ins
create table playground.t (a text, b text, foreign key (a, b) references garden.sign_ins (user_id, sign_in_id))

-- name: refer to it feed
create table playground.t (a text, b bigint, foreign key (a, b) references garden.feed (user_id, position))

-- name: refer to it recoveries
create table playground.t (a text, b uuid, foreign key (a, b) references garden.recoveries (user_id, event_id))

-- name: refer to it erasures
create table playground.t (a text, b uuid, foreign key (a, b) references garden.erasures (user_id, erasure_id))

-- name: refer to it erased_rows
create table playground.t (a text, b uuid, foreign key (a, b) references garden.erased_rows (user_id, row_id))

-- name: refer to it erased_words
create table playground.t (
    a text, b bytea, foreign key (a, b) references garden.erased_words (user_id, fingerprint))

-- name: refer to it recall_documents
create table playground.t (a text, b text, foreign key (a, b) references garden.recall_documents (user_id, path))

-- name: refer to it kept_texts
create table playground.t (
    a text, b text, c integer, foreign key (a, b, c) references garden.kept_texts (user_id, path, version))

-- name: refer to it call_counts
create table playground.t (
    a text, b text, c integer, foreign key (a, b, c) references garden.call_counts (user_id, key, seconds))

-- name: refer to it grown_documents
create table playground.t (a text, b text, foreign key (a, b) references garden.grown_documents (user_id, path))

-- name: refer to it recall_passages
create table playground.t (
    a text, b bigint, c timestamptz,
    foreign key (a, b, c) references garden.recall_passages (user_id, passage, since))

-- name: refer to it recall_usage
create table playground.t (
    a text, b date, c text, foreign key (a, b, c) references garden.recall_usage (user_id, day, tool))

-- name: refer to it recall_given
create table playground.t (a text, b uuid, foreign key (a, b) references garden.recall_given (user_id, given_id))

-- name: refer to it tool_calls
create table playground.t (a text, b uuid, foreign key (a, b) references garden.tool_calls (user_id, call_id))

-- name: refer to it log_leaves
create table playground.t (a text, b bigint, foreign key (a, b) references garden.log_leaves (user_id, position))

-- name: refer to it log_checkpoints
create table playground.t (a bigint references garden.log_checkpoints (size))

-- name: refer to it schema_migrations
create table playground.t (a integer references garden.schema_migrations (version))

-- name: reindex
reindex index {table}_pkey

-- name: create in it schema
create table garden.anything ()

-- name: columns
select attname::text from pg_attribute
where attrelid = to_regclass('{table}') and attnum > 0 and not attisdropped
order by attnum

-- name: prepare
create function pg_temp.attempt(who text, whose text, statement text) returns text[] language plpgsql as $$
declare
    touched bigint;
    state text;
    message text;
    context text;
begin
    perform set_config('garden.user_id', whose, true), set_config('role', who, true);
    execute statement;
    get diagnostics touched = row_count;
    raise exception '%', touched using errcode = 'MG000'; -- undoes it
exception when others then
    get stacked diagnostics state = returned_sqlstate, message = message_text, context = pg_exception_context;
    return array[state, message, context];
end
$$;
set local lc_messages = 'C';
create role {stranger};
create role {owner};
create schema playground;
grant usage, create on schema playground to public;
do $$
declare
    each regclass;
begin
    alter schema garden owner to {owner};
    for each in select oid from pg_class where relnamespace = 'garden'::regnamespace and relkind = 'r' loop
        execute format('alter table %s owner to {owner}', each);
    end loop;
end
$$;
delete from garden.schema_migrations;

-- name: attempts
select pg_temp.attempt(who, whose, statement)
from unnest(%s::text[], %s::text[], %s::text[]) with ordinality as each (who, whose, statement, place)
order by place
