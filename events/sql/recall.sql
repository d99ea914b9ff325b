-- What recall reads: the columns of passages as few large values, since a row each would take a second for a
-- hundred thousand. All values of a section come in the same order.

-- A copy on another server may hold numbers that this one has not given yet; after the first look nothing has them.
-- Before the table is first analyzed the planner would take the index by days for `since`; it can't for a sum.
-- name: look
select (select count(*)
        from garden.recall_documents as d
        where d.user_id = %(user_id)s and d.changed < %(since)s::xid8) as unchanged,
       (select count(*)
        from garden.documents as d
        left join garden.recall_documents as r on r.user_id = d.user_id and r.path = d.path
        where d.user_id = %(user_id)s and d.has_file
          and (r.version is distinct from d.version or r.analysis < %(analysis)s)) as behind,
       pg_snapshot_xmin(pg_current_snapshot())::text as seen,
       (select jsonb_object_agg(d.path, d.generation)
        from garden.recall_documents as d
        where d.user_id = %(user_id)s and d.changed >= %(since)s::xid8) as generations,
       (select string_agg(int8send(p.passage), '')
        from garden.recall_passages as p
        where p.user_id = %(user_id)s and p.changed >= %(since)s::xid8 and %(since)s::xid8 > '0' and p.until is not null
          and p.changed < pg_snapshot_xmax(pg_current_snapshot())
          and not exists (
              select from garden.recall_passages as live
              where live.user_id = p.user_id and live.passage = p.passage and live.until is null
              offset 0
          )) as gone,
       section.*
from (select) as look
left join (
    select p.path, p.anchor, p.heading, p.language,
           string_agg(int8send(p.passage), '') as numbers,
           string_agg(int8send(coalesce(p.previous, 0)), '') as previous,
           string_agg(int4send(p.day - date '0001-01-01'), '') as days,
           string_agg(int4send(octet_length(p.words) / 4), '') as lengths,
           string_agg(p.words, '') as words,
           string_agg(case when p.embedder = %(embedder)s then '\x01'::bytea else '\x00' end, '') as embedded,
           string_agg(p.vector, '') filter (where p.embedder = %(embedder)s) as vectors
    from garden.recall_passages as p
    where p.user_id = %(user_id)s
      and p.changed >= %(since)s::xid8
      and p.changed < case when %(since)s::xid8 = '0' then '18446744073709551615'::xid8
                           else pg_snapshot_xmax(pg_current_snapshot()) end
      and p.since + interval '0' <= %(at)s::timestamptz
      and (p.until is null or (%(at)s::timestamptz < 'infinity' and p.until > %(at)s::timestamptz))
      and (%(paths)s::text[] is null or p.path = any (%(paths)s::text[]))
    group by p.path, p.anchor, p.heading, p.language
) as section on true;

-- Passages, newest first: the ids of events are in the order of their times. Planned anew each time with the filters
-- known, so that those that are not used fall away. With `gone` also those that no longer stand.
-- The offset lets each number be looked up by itself: before the first analyze a join would read all passages.
-- name: passages
select {p.passage}, coalesce(e.created_at, p.since) as created_at, coalesce(e.actor, '') as actor,
       coalesce(e.role, '') as role, coalesce(e.type, '') as type,
       coalesce(e.op, '') as op
from unnest(%(numbers)s::bigint[]) as wanted (number)
cross join lateral (
    select * from garden.recall_passages as each
    where each.user_id = %(user_id)s and each.passage = wanted.number and each.since <= %(at)s::timestamptz
      and (each.until is null or (%(at)s::timestamptz < 'infinity' and each.until > %(at)s::timestamptz))
    offset 0
) as p
left join garden.events as e on e.user_id = p.user_id and e.event_id = p.event_id;

-- name: memories
select {p.passage}, coalesce(e.created_at, p.since) as created_at, coalesce(e.actor, '') as actor,
       coalesce(e.role, '') as role, coalesce(e.type, '') as type,
       coalesce(e.op, '') as op
from garden.recall_passages as p
left join garden.events as e on e.user_id = p.user_id and e.event_id = p.event_id
where p.user_id = %(user_id)s and (p.event_id, p.passage) < (%(before_event)s, %(before_passage)s)
  and case when %(gone)s::boolean then true when %(as_of)s::timestamptz is null then p.until is null
           else p.since <= %(as_of)s and (p.until is null or p.until > %(as_of)s) end
  and (%(name)s::text is null or p.name = %(name)s)
  and (%(kinds)s::text[] is null or p.path ~ any (%(kinds)s))
  and (%(paths)s::text[] is null
       or exists (select from unnest(%(paths)s::text[]) as each
                  where p.path = each or starts_with(p.path, each || '/')))
  and (%(sections)s::text[] is null or (p.path = format('users/%%s/overview.md', %(user_id)s)
       and regexp_replace(p.anchor, ' v[0-9]+$', '') = any (%(sections)s)))
  and (%(tags)s::text[] is null or p.tags @> %(tags)s)
  and (%(since)s::date is null or p.day >= %(since)s) and (%(until)s::date is null or p.day <= %(until)s)
  and (%(period_key_prefix)s::text is null or starts_with(p.period_key, %(period_key_prefix)s))
  and (%(summary_types)s::text[] is null or p.summary_type = any (%(summary_types)s))
order by p.event_id desc, p.passage desc
limit %(limit)s;

-- The newest summary of each type, and the newest other entries of all notes. Words elsewhere that only look like a
-- summary, as in an imported text, are none. The planner may not look how many paths
-- match, and expects few; it expects many not to match, and so reads them by day.
-- name: recent
(select distinct on (summary_type) {passage}, since, '', '', '', ''
 from garden.recall_passages
 where user_id = %(user_id)s and until is null and summary_type is not null
   and path ~ '^users/[^/]+/((parts|relationships)/[^/]+/)?notes\.md$' and anchor ~* '^summaries( |$)'
 order by summary_type, period_key desc, since desc, name)
union all
(select {passage}, since, '', '', '', ''
 from garden.recall_passages
 where user_id = %(user_id)s and until is null and summary_type is null
   and path !~ '^users/[^/]+/(overview|(parts|relationships)/[^/]+/profile)\.md$' and anchor !~* '^summaries( |$)'
 order by day desc, since desc, name desc
 limit %(limit)s)
order by day desc, since desc, name desc;

-- The number of entries of each day in all notes, and of each summary.
-- name: days_with_entries
select day, summary_type, period_key, count(*) as passages
from garden.recall_passages
where user_id = %(user_id)s and path ~ '^users/[^/]+/((parts|relationships)/[^/]+/)?notes\.md$' and until is null
group by day, summary_type, period_key;

-- name: numbers_with
select string_agg(int8send(p.passage), '') as numbers
from garden.recall_passages as p
where p.user_id = %(user_id)s
  and p.since <= %(at)s::timestamptz
  and (p.until is null or (%(at)s::timestamptz < 'infinity' and p.until > %(at)s::timestamptz))
  and (cardinality(%(tags)s::text[]) = 0 or (p.tags <> '{}' and p.tags @> %(tags)s::text[]))
  and (cardinality(%(summary_types)s::text[]) = 0 or p.summary_type = any (%(summary_types)s::text[]))
  and (%(prefix)s::text is null or (p.summary_type is not null and starts_with(p.period_key, %(prefix)s::text)));

-- It leaves out the rows that a writer has locked, and so never waits for one. A vector is made of the heading too, which
-- may be another one by now.
-- name: put_vectors
with waiting as (
    select p.passage, p.since, given.vector
    from unnest(%(numbers)s::bigint[], %(headings)s::text[], %(vectors)s::bytea[]) as given (passage, heading, vector)
    join garden.recall_passages as p
      on p.user_id = %(user_id)s and p.passage = given.passage and p.heading = given.heading
    where p.until is null and p.embedder is distinct from %(embedder)s::text
    for update of p skip locked
)
update garden.recall_passages as p
set vector = waiting.vector, embedder = %(embedder)s, changed = pg_current_xact_id()
from waiting
where p.user_id = %(user_id)s and p.passage = waiting.passage and p.since = waiting.since;
