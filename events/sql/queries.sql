-- The queries of a reader. In the filtered query a filter that is not used is null; the query is planned anew each time
-- with its values known, so that unused conditions fall away. The other queries are planned once.

-- name: check
select 1;

-- name: freeze
set transaction isolation level repeatable read, read only;

-- name: event
select {event} from garden.events where user_id = %(user_id)s and event_id = %(event_id)s;

-- name: newest
select {found} from garden.events
where user_id = %(user_id)s and event_id < %(cursor)s
order by event_id desc
limit %(limit)s;

-- name: newest_of_path
select {found} from garden.events
where user_id = %(user_id)s and path = %(path)s and event_id < %(cursor)s
order by event_id desc
limit %(limit)s;

-- name: filtered
select {found} from garden.events
where user_id = %(user_id)s and event_id < %(cursor)s
  and (%(path)s::text is null or path = %(path)s)
  and (%(section)s::text[] is null or exists (
        select from unnest(sections || section_anchor) as name
        where name = any (%(section)s) or lower(name) = any (%(section)s)
           or regexp_replace(lower(name), ' v[0-9]+$', '') = any (%(section)s)))
  and (%(event_id)s::uuid is null or event_id = %(event_id)s)
  and (%(id_ending)s::text is null or right(event_id::text, length(%(id_ending)s)) = %(id_ending)s)
  and (%(type)s::text is null or type = %(type)s)
  and (%(op)s::text is null or op = %(op)s)
  and (%(tool)s::text is null or tool = %(tool)s)
  and (%(statuses)s::text[] is null or status = any (%(statuses)s))
  and (not %(only_failed)s or failed_at is not null)
  and (not %(only_open)s or event_id = any (array(
        select open_event_id from garden.documents where user_id = %(user_id)s and open_event_id is not null)))
  and (%(since)s::timestamptz is null or created_at >= %(since)s)
  and (%(until)s::timestamptz is null or created_at < %(until)s)
  and (%(first_id)s::uuid is null or event_id >= %(first_id)s)
  and (%(last_id)s::uuid is null or event_id < %(last_id)s)
  and (%(actor)s::text is null or actor = %(actor)s)
  and (%(tool_call_id)s::text is null or tool_call_id = %(tool_call_id)s)
  and (%(transaction_id)s::text is null or transaction_id = %(transaction_id)s)
  and (%(agent_action_id)s::text is null or agent_action_id = %(agent_action_id)s)
  and (%(evidence_ref)s::text is null or %(evidence_ref)s = any (evidence_refs) or event_id in (
        select event_id from garden.event_annotations
        where user_id = %(user_id)s and %(evidence_ref)s = any (evidence_refs)))
  and (%(words)s::text[] is null or not exists (
        select from unnest(%(words)s::text[]) as word
        where position(lower(word) in lower(concat_ws(' ', rationale, override_rationale, (
            select string_agg(said.rationale, ' ') from garden.event_annotations as said
            where said.user_id = %(user_id)s and said.event_id = events.event_id)))) = 0))
order by event_id desc
limit %(limit)s;

-- What the filters of a search may name.
-- name: names_used
select distinct actor, type, op, tool from garden.events where user_id = %(user_id)s;

-- The ids name a few events, and a path may name all that a user has, so the ids come first.
-- name: named_by_caller
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
where stream <> '' and (%(path)s::text is null or path = %(path)s)
order by event_id desc
limit %(limit)s;

-- The newest write that bears out what is claimed of it. A section's hashes stand in the answer to its edit.
-- name: claimed_write
select {event} from garden.events
where user_id = %(user_id)s and stream <> '' and status = 'committed' and op <> 'append_log'
  and (%(event_ids)s::uuid[] is null or event_id = any (%(event_ids)s))
  and (%(path)s::text is null or path = %(path)s)
  and (%(actor)s::text is null or actor = %(actor)s)
  and (%(ops)s::text[] is null or op = any (%(ops)s))
  and (%(section)s::text[] is null or exists (
        select from unnest(sections || section_anchor) as name
        where name = any (%(section)s) or lower(name) = any (%(section)s)
           or regexp_replace(lower(name), ' v[0-9]+$', '') = any (%(section)s)))
  and (%(before_hash)s::text is null or before_hash = %(before_hash)s
       or edit #>> '{answer,result,beforeHash}' = %(before_hash)s)
  and (%(after_hash)s::text is null or after_hash = %(after_hash)s
       or edit #>> '{answer,result,afterHash}' = %(after_hash)s)
order by event_id desc
limit 1;

-- Edits that exceeded caps, as long as no annotation gives the reason.
-- name: owed_overrides
select event_id, lint -> 'owed' as keys
from garden.events
where user_id = %(user_id)s and path = %(path)s and status = 'committed' and lint ? 'owed'
  and event_id not in (
        select event_id from garden.event_annotations
        where user_id = %(user_id)s and override_rationale is not null)
order by event_id desc;

-- name: annotations_of
select {annotation} from garden.event_annotations
where user_id = %(user_id)s and event_id = any (%(event_ids)s)
order by annotation_id;

-- name: oldest_after
select {found} from garden.events
where user_id = %(user_id)s and event_id > %(after)s
order by event_id
limit %(limit)s;

-- name: chain
select {event} from garden.events
where user_id = %(user_id)s and stream = %(stream)s and sequence > %(after)s
order by sequence
limit %(limit)s;

-- name: newest_change
select {event} from garden.events
where user_id = %(user_id)s and stream = %(stream)s and sequence <= %(sequence)s and status = 'committed'
  and document_version is not null
order by sequence desc
limit 1;

-- name: notes_of_path
select {event} from garden.events
where user_id = %(user_id)s and path = %(path)s and stream = '' and sequence > %(after)s
order by sequence
limit %(limit)s;

-- name: annotation_chain
select {annotation} from garden.event_annotations
where user_id = %(user_id)s and sequence > %(after)s
order by sequence
limit %(limit)s;

-- name: streams
select path from garden.documents where user_id = %(user_id)s
union
select distinct stream from garden.events where user_id = %(user_id)s
order by 1;

-- name: head
select {head} from garden.documents where user_id = %(user_id)s and path = %(path)s;

-- name: newest_number
select max(sequence) as sequence from garden.feed where user_id = %(user_id)s and stream = %(stream)s;

-- name: heads
select {head} from garden.documents where user_id = %(user_id)s;

-- Heads, each with what tells of the copy that the document's last change left, and with the damage that it did or left.
-- name: heads_with_damage
select {d.head}, e.lint -> 'damage' as damage,
       e.created_at as change_created_at, e.type as change_type, e.op as change_op,
       e.before_raw_hash as change_before_raw_hash
from garden.documents as d
left join garden.events as e on e.user_id = d.user_id and e.event_id = d.head_event_id
where d.user_id = %(user_id)s and (%(path)s::text is null or d.path = %(path)s);

-- name: heads_with_findings
select d.path, d.version, d.raw_hash, e.lint -> 'counts' as counts, e.lint -> 'blocked' as blocked
from garden.documents as d
left join garden.events as e on e.user_id = d.user_id and e.event_id = d.head_event_id
where d.user_id = %(user_id)s and d.has_file
order by d.path;

-- name: has_documents
select count(*) as documents
from (select 1 from garden.documents where user_id = %(user_id)s and has_file limit %(limit)s) as found;

-- name: is_erased
select 1 from garden.erased_words
where user_id = %(user_id)s and fingerprint = any (%(fingerprints)s)
limit 1;

-- An erasure takes the answers of a document's requests, and leaves the keys of those without erased words.
-- name: carried_out_with_key
select 1 from garden.events
where user_id = %(user_id)s and event_id >= %(earliest)s and idempotency_key = %(key)s and status = 'committed'
limit 1;

-- Not the words, which an erasure that is not finished still has.
-- name: erasures
select user_id, erasure_id, kind, path, reason, actor, role, created_at, finished_at, events, bytes, seal,
       seal_salt_version
from garden.erasures
where user_id = %(user_id)s
order by created_at;

-- name: erased_rows
select user_id, row_id, erasure_id, commitments, version_hash, seal, seal_salt_version
from garden.erased_rows
where user_id = %(user_id)s;

-- The changes of a document, each with what recall needs to know. An event without erased words may still leave a version
-- that has a gap.
-- name: versions
select stream, sequence, event_id, document_version, leaves_file, created_at, splice_offsets, splices_removed,
       splices_inserted, edit ->> 'fromPath' as came_from,
       (select version_hash is not null
        from garden.erased_rows as r
        where r.user_id = %(user_id)s and r.row_id = events.event_id) as is_near_gap
from garden.events
where user_id = %(user_id)s and stream = %(path)s and sequence > %(after)s and status = 'committed'
  and document_version is not null
order by sequence
limit %(limit)s;

-- name: origins
select distinct edit ->> 'fromPath' as path
from garden.events
where user_id = %(user_id)s and stream = %(path)s and sequence > %(after)s and status = 'committed'
  and edit ->> 'fromPath' is not null;

-- name: recalled_paths
select path from garden.documents where user_id = %(user_id)s and version > 0
union
select path from garden.recall_documents where user_id = %(user_id)s
union
select path from garden.recall_passages where user_id = %(user_id)s and until is null
order by 1;

-- name: recall_counts
select count(*) as passages, count(*) filter (where embedder is distinct from %(embedder)s) as waiting
from garden.recall_passages
where user_id = %(user_id)s and until is null;

-- Entries of the feed that its events contradict. Positions have no gap, and neither have the sequences of a stream.
-- name: feed_faults
with numbered as (
    select position, event_id, what, stream, sequence, row_number() over (order by position) as place,
           row_number() over (partition by stream order by sequence) as turn
    from garden.feed
    where user_id = %(user_id)s
), compared as (
    select n.*, coalesce(e.event_id, a.event_id) as found, coalesce(e.status::text, 'annotated') as is_now
    from numbered as n
    left join garden.events as e
           on e.user_id = %(user_id)s and e.stream = n.stream and e.sequence = n.sequence
    left join garden.event_annotations as a
           on a.user_id = %(user_id)s and n.stream = '' and a.sequence = n.sequence
)
select event_id,
       case when found is null then 'it is event ' || sequence || ' of ' || coalesce(nullif(stream, ''), 'the journal')
                                    || ', says the feed, and is gone'
            when position <> place or sequence <> turn then 'entries before it are missing from the feed'
            else 'the feed says that another event is there, or that it ended otherwise' end as message
from compared
where found is distinct from event_id or what <> is_now or position <> place or sequence <> turn
order by position
limit 10;

-- Marks of the rows behind each stream: a row that was written since has another transaction or another place.
-- name: row_marks
select e.stream, count(*) as events, max(e.event_id::text) as newest,
       encode(sha256(string_agg(e.event_id::text || e.xmin::text || e.ctid::text, ' ' order by e.sequence)::bytea), 'hex')
       || ' ' || coalesce(max(d.xmin::text || d.ctid::text), '') || ' '
       || (select count(*) || coalesce(sum(r.xmin::text::bigint)::text, '') from garden.erased_rows as r
           where r.user_id = %(user_id)s) as mark
from garden.events as e
left join garden.documents as d on d.user_id = %(user_id)s and d.path = e.stream
where e.user_id = %(user_id)s
group by e.stream;

-- name: kept_text_faults
select k.path, k.version, e.event_id
from garden.kept_texts as k
left join garden.events as e
       on e.user_id = %(user_id)s and e.stream = k.path and e.document_version = k.version and e.status = 'committed'
left join garden.erased_rows as r on r.user_id = %(user_id)s and r.row_id = e.event_id
where k.user_id = %(user_id)s
  and 'sha256:' || encode(sha256(k.text), 'hex') is distinct from coalesce(e.intended_raw_hash, r.version_hash)
order by k.path, k.version
limit 10;

-- Only the service may read the last two; the readers' role has no right to these tables.
-- name: stored_requests
select r.key, r.fingerprint, r.event_id, r.response, r.created_at, r.expires_at, r.seal as request_seal,
       r.seal_salt_version as request_salt_version, r.answer_seal, r.answer_salt_version, e.status
from garden.idempotency_records as r
left join garden.events as e on e.user_id = r.user_id and e.event_id = r.event_id
where r.user_id = %(user_id)s and r.key > %(after)s
order by r.key
limit %(limit)s;

-- name: sealed_tokens
select user_id, token_id, role, actor, created_at, expires_at, revoked_at, policy, secret_hash, seal, seal_salt_version,
       revoked_seal, revoked_salt_version
from garden.tokens
where user_id = %(user_id)s
order by token_id;

-- name: whole_feed
select user_id, position, event_id, what, stream, sequence
from garden.feed
where user_id = %(user_id)s and position > %(after)s
order by position
limit %(limit)s;

-- name: whole_erased_words
select user_id, fingerprint, words, erasure_id, salt_version
from garden.erased_words
where user_id = %(user_id)s and fingerprint > %(after)s
order by fingerprint
limit %(limit)s;
