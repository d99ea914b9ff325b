-- The passages of recall, as the maintainer and for a named user; their writers send them with the change itself.

-- A row of another text or heading or at another path is wrong, even if its number is right.
-- name: remove_others
with kept as materialized (
    select * from json_populate_recordset(null::garden.recall_passages, %(rows)s::json))
delete from garden.recall_passages as p
where p.user_id = %(user_id)s
  and (p.path = %(path)s or p.passage = any (array(select passage from kept)))
  and not exists (
    select from kept
    where (kept.passage, kept.since, kept.event_id) = (p.passage, p.since, p.event_id)
      and (kept.path, kept.anchor, kept.name, kept.heading, kept.text)
          = (p.path, p.anchor, p.name, p.heading, p.text));

-- The rows that went come first: a passage stands once.
-- name: put_rows
insert into garden.recall_passages (
    user_id, passage, since, until, path, anchor, name, heading, language, previous, event_id, day, tags, priority,
    summary_type, period_key, text, words)
select %(user_id)s, passage, since, until, path, anchor, name, heading, language, previous, event_id, day, tags, priority,
       summary_type, period_key, text, words
from json_populate_recordset(null::garden.recall_passages, %(rows)s::json)
order by until
on conflict (user_id, passage, since) do update
set until = excluded.until, language = excluded.language, previous = excluded.previous, day = excluded.day,
    tags = excluded.tags, priority = excluded.priority,
    summary_type = excluded.summary_type, period_key = excluded.period_key, words = excluded.words,
    changed = pg_current_xact_id();

-- name: put_document
insert into garden.recall_documents (user_id, path, generation, version, analysis)
values (%(user_id)s, %(path)s, gen_random_uuid(), %(version)s, %(analysis)s)
on conflict (user_id, path) do update
set generation = excluded.generation, version = excluded.version, analysis = excluded.analysis,
    changed = pg_current_xact_id();

-- name: live_rows
select passage, path, anchor, name, heading, language, previous, day, tags, priority, summary_type, period_key, text,
       words, event_id, since
from garden.recall_passages
where user_id = %(user_id)s and path = %(path)s and until is null;

-- name: unindexed
select d.path, d.version
from garden.documents as d
left join garden.recall_documents as r on r.user_id = d.user_id and r.path = d.path
where (%(user_id)s::text is null or d.user_id = %(user_id)s)
  and d.version > 0
  and (d.has_file or r.path is not null)
  and (r.version is distinct from d.version or r.analysis < %(analysis)s)
order by d.user_id, d.path;

-- The rows of the present text have none of the erased words; if they are behind it, they all go.
-- name: forget_earlier
delete from garden.recall_passages as p
where p.user_id = %(user_id)s
  and p.path = %(path)s
  and (p.until is not null or not exists (
    select from garden.recall_documents as r
    join garden.documents as d on d.user_id = r.user_id and d.path = r.path and d.version = r.version
    where r.user_id = %(user_id)s and r.path = %(path)s));

-- No vector of the rows that are left may be older than the erasure; the next recall makes them again.
-- name: renew_document
with without_vectors as (
    update garden.recall_passages
    set vector = null, embedder = null, changed = pg_current_xact_id()
    where user_id = %(user_id)s and path = %(path)s and vector is not null
)
update garden.recall_documents as r
set generation = gen_random_uuid(), version = case when d.version = r.version then d.version else 0 end,
    changed = pg_current_xact_id()
from garden.documents as d
where r.user_id = %(user_id)s and r.path = %(path)s and d.user_id = r.user_id and d.path = r.path;

-- The name of a passage holds the words of a heading without an anchor.
-- name: forget_given
delete from garden.recall_given
where user_id = %(user_id)s
  and exists (select from unnest(passages) as given where starts_with(given, %(path)s || '#'));

-- name: forget_old_given
delete from garden.recall_given where user_id = %(user_id)s and given_at < now() - interval '90 days';

-- name: forget_user
with passages as (delete from garden.recall_passages where user_id = %(user_id)s),
documents as (delete from garden.recall_documents where user_id = %(user_id)s),
counts as (delete from garden.recall_usage where user_id = %(user_id)s),
calls as (delete from garden.tool_calls where user_id = %(user_id)s),
approvals as (delete from garden.approvals where user_id = %(user_id)s)
delete from garden.recall_given where user_id = %(user_id)s;
