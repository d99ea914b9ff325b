-- Erasures, as the maintainer and for a named user.

-- name: begin
insert into garden.erasures (user_id, erasure_id, kind, path, passage, reason, actor, role, created_at, seal,
                             seal_salt_version)
values (%(user_id)s, %(erasure_id)s, %(kind)s, %(path)s, %(passage)s, %(reason)s, %(actor)s, %(role)s, %(created_at)s,
        %(seal)s, %(seal_salt_version)s)
on conflict (user_id, erasure_id) do nothing;

-- name: remember_words
insert into garden.erased_words (user_id, fingerprint, words, erasure_id, salt_version)
select %(user_id)s, known.fingerprint, known.words, %(erasure_id)s, known.salt_version
from unnest(%(fingerprints)s::bytea[], %(words)s::smallint[], %(salt_versions)s::integer[])
    as known (fingerprint, words, salt_version)
on conflict (user_id, fingerprint) do nothing;

-- name: pending
select user_id, erasure_id, kind, path, passage, reason, actor, role, created_at, finished_at, events, bytes, seal,
       seal_salt_version
from garden.erasures
where finished_at is null and (%(user_id)s::text is null or user_id = %(user_id)s)
order by created_at;

-- name: words_of
select words, fingerprint, salt_version
from garden.erased_words
where user_id = %(user_id)s and erasure_id = %(erasure_id)s;

-- name: finished
select user_id, erasure_id, kind, path, reason, actor, role, created_at
from garden.erasures
where user_id = %(user_id)s and finished_at is not null
order by created_at;

-- name: version_hashes
select row_id, version_hash
from garden.erased_rows
where user_id = %(user_id)s and row_id = any (%(row_ids)s);

-- name: begin_filling
select garden.begin_filling(%(user_id)s, %(erasure_id)s);

-- name: fill_event
select garden.fill_event(
    %(user_id)s, %(erasure_id)s,
    row({:filled_event})::garden.filled_event_v1,
    row(%(new_commitments)s, %(version_hash)s, %(seal)s, %(seal_salt_version)s)::garden.tombstone_v1
);

-- name: fill_annotation
select garden.fill_annotation(
    %(user_id)s, %(erasure_id)s,
    row({:filled_annotation})::garden.filled_annotation_v1,
    row(%(new_commitments)s, %(version_hash)s, %(seal)s, %(seal_salt_version)s)::garden.tombstone_v1
);

-- name: forget_answers
delete from garden.idempotency_records
where user_id = %(user_id)s and event_id = any (%(event_ids)s);

-- name: count_answers
select count(*) as answers
from garden.idempotency_records
where user_id = %(user_id)s and event_id = any (%(event_ids)s);

-- name: count_bytes
update garden.erasures set bytes = bytes + %(bytes)s
where user_id = %(user_id)s and erasure_id = %(erasure_id)s and finished_at is null;

-- name: count_rows
select count(*) as events from garden.erased_rows where user_id = %(user_id)s and erasure_id = %(erasure_id)s;

-- name: find
select user_id, erasure_id, kind, path, passage, reason, actor, role, created_at, finished_at, events, bytes, seal,
       seal_salt_version
from garden.erasures
where user_id = %(user_id)s and erasure_id = %(erasure_id)s;

-- name: finish
update garden.erasures
set passage = null, finished_at = %(finished_at)s, events = %(events)s, seal = %(seal)s,
    seal_salt_version = %(seal_salt_version)s
where user_id = %(user_id)s and erasure_id = %(erasure_id)s and finished_at is null;

-- Newest first; without the words of one that is not finished.
-- name: listed
select user_id, erasure_id, kind, path, reason, actor, role, created_at, finished_at, events, bytes
from garden.erasures
where user_id = %(user_id)s and (%(before)s::uuid is null or erasure_id < %(before)s)
order by erasure_id desc
limit %(limit)s;
