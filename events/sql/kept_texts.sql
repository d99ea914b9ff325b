-- Whole texts of some versions, as the maintainer. The writer of a text holds the lock of its document.

-- name: marked
select user_id, path from garden.grown_documents order by user_id, path limit %(limit)s;

-- An erasure may have taken words out of the version since it was read.
-- name: keep
insert into garden.kept_texts (user_id, path, version, text)
select e.user_id, e.stream, e.document_version, %(text)s
from garden.events as e
where e.user_id = %(user_id)s and e.stream = %(path)s and e.sequence >= %(version)s and e.status = 'committed'
  and e.document_version = %(version)s
  and %(hash)s = coalesce(e.intended_raw_hash, (
        select r.version_hash from garden.erased_rows as r
        where r.user_id = %(user_id)s and r.row_id = e.event_id))
order by e.sequence
limit 1;

-- name: unmark
delete from garden.grown_documents where user_id = %(user_id)s and path = %(path)s;

-- name: forget
delete from garden.kept_texts where user_id = %(user_id)s and path = %(path)s and version > %(version)s;

-- name: mark
insert into garden.grown_documents (user_id, path) values (%(user_id)s, %(path)s)
on conflict (user_id, path) do nothing;
