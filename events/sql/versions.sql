-- The versions of documents, as a reader. A version's number is at most its event's sequence, and only failed changes lie
-- between the two, so that the index of sequences finds it.

-- name: numbered
select {version} from garden.events
where user_id = %(user_id)s and stream = %(path)s and sequence >= %(number)s and status = 'committed'
  and document_version = %(number)s
order by sequence
limit 1;

-- name: newest
select {version} from garden.events
where user_id = %(user_id)s and path = %(path)s and event_id < %(before)s and status = 'committed'
  and document_version <= %(last)s
  and (%(at)s::timestamptz is null or created_at <= %(at)s)
  and (leaves_file or not %(with_file)s)
order by event_id desc
limit 1;

-- The event with which a document came here from another path.
-- name: arrival
select {version} from garden.events
where user_id = %(user_id)s and stream = %(path)s and edit ? 'fromPath' and status = 'committed'
  and document_version <= %(last)s
order by document_version desc
limit 1;

-- The event with which the document at a path came to another one; there are few such events.
-- name: next_arrival
with arrivals as materialized (
    select {version} from garden.events
    where user_id = %(user_id)s and edit ? 'fromPath' and status = 'committed')
select * from arrivals
where came_from = %(path)s and event_id > %(after)s
order by event_id
limit 1;

-- name: origins
select distinct edit ->> 'fromPath' as path from garden.events
where user_id = %(user_id)s and stream = %(path)s and edit ? 'fromPath' and status = 'committed';

-- name: ending
select {version} from garden.events
where user_id = %(user_id)s and path = any (%(paths)s) and right(event_id::text, length(%(ending)s)) = %(ending)s
order by event_id desc
limit 1;

-- name: named
select {version} from garden.events where user_id = %(user_id)s and event_id = any (%(event_ids)s);

-- A path may be a folder. The query is planned anew each time, so that unused conditions fall away.
-- name: log
select {version} from garden.events
where user_id = %(user_id)s and event_id < %(before)s and status = 'committed' and document_version is not null
  and (%(path)s::text is null or path = %(path)s)
  and (%(folder)s::text is null or starts_with(path, %(folder)s || '/'))
  and (%(last)s::integer is null or document_version between %(first)s and %(last)s)
  and (%(section)s::text[] is null or exists (
        select from unnest(sections || section_anchor) as name
        where name = any (%(section)s) or lower(name) = any (%(section)s)
           or regexp_replace(lower(name), ' v[0-9]+$', '') = any (%(section)s)))
  and (%(since)s::timestamptz is null or created_at >= %(since)s)
  and (%(until)s::timestamptz is null or created_at < %(until)s)
  and (%(actor)s::text is null or actor = %(actor)s)
  and (%(words)s::text[] is null or not exists (
        select from unnest(%(words)s::text[]) as word where position(lower(word) in lower(rationale)) = 0
                                                         or rationale is null))
order by event_id desc
limit %(limit)s;

-- Each document below a folder as it was at a time.
-- name: garden_at
select found.*
from garden.documents as d
cross join lateral (
    select {version} from garden.events
    where user_id = %(user_id)s and path = d.path and event_id < %(before)s and status = 'committed'
      and document_version is not null and created_at <= %(at)s
    order by event_id desc
    limit 1) as found
where d.user_id = %(user_id)s and starts_with(d.path, %(folder)s || '/') and found.leaves_file
order by d.path;

-- name: sections
select distinct name from garden.events, unnest(sections || section_anchor) as name
where user_id = %(user_id)s and (%(path)s::text is null or path = %(path)s) and name <> ''
order by 1;

-- name: documents
select path from garden.documents
where user_id = %(user_id)s and version > 0 and (path = %(path)s or starts_with(path, %(path)s || '/'))
order by 1;

-- The newest text that was kept at or before a version, and the hash that its event has.
-- name: kept
select k.version, k.text, (
        select coalesce(e.intended_raw_hash, (
            select r.version_hash from garden.erased_rows as r
            where r.user_id = %(user_id)s and r.row_id = e.event_id))
        from garden.events as e
        where e.user_id = %(user_id)s and e.stream = %(path)s and e.sequence >= k.version and e.status = 'committed'
          and e.document_version = k.version
        order by e.sequence
        limit 1) as hash
from garden.kept_texts as k
where k.user_id = %(user_id)s and k.path = %(path)s and k.version <= %(version)s
order by k.version desc
limit 1;

-- name: changes
select stream, sequence, document_version, event_id, created_at, type, op, leaves_file, edit ->> 'fromPath' as came_from,
       splice_offsets, splices_removed, splices_inserted,
       coalesce(intended_raw_hash, (
            select r.version_hash from garden.erased_rows as r
            where r.user_id = %(user_id)s and r.row_id = events.event_id)) as hash
from garden.events
where user_id = %(user_id)s and stream = %(path)s and sequence > %(after)s and status = 'committed'
  and document_version > %(above)s and document_version <= %(version)s
order by sequence
limit %(limit)s;
