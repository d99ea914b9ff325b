-- A user's whole account, as it is taken over from another home. The rights are the service's and the maintainer's own:
-- an event is added as any other, and one that failed is added as pending and then fails.

-- name: add_event
insert into garden.events ({event}) values ({:event});

-- name: fail_event
update garden.events
set status = %(status)s, error = %(error)s, failed_at = %(failed_at)s
where user_id = %(user_id)s and event_id = %(event_id)s;

-- name: add_annotation
insert into garden.event_annotations ({annotation}) values ({:annotation});

-- name: add_head
insert into garden.documents ({head}) values ({:head});

-- name: add_feed
insert into garden.feed (user_id, position, event_id, what, stream, sequence)
values (%(user_id)s, %(position)s, %(event_id)s, %(what)s, %(stream)s, %(sequence)s);

-- name: add_erasure
insert into garden.erasures (user_id, erasure_id, kind, path, reason, actor, role, created_at, finished_at, events, bytes,
                             seal, seal_salt_version)
values (%(user_id)s, %(erasure_id)s, %(kind)s, %(path)s, %(reason)s, %(actor)s, %(role)s, %(created_at)s,
        %(finished_at)s, %(events)s, %(bytes)s, %(seal)s, %(seal_salt_version)s);

-- name: add_erased_row
insert into garden.erased_rows (user_id, row_id, erasure_id, commitments, version_hash, seal, seal_salt_version)
values (%(user_id)s, %(row_id)s, %(erasure_id)s, %(commitments)s, %(version_hash)s, %(seal)s, %(seal_salt_version)s);

-- name: add_erased_word
insert into garden.erased_words (user_id, fingerprint, words, erasure_id, salt_version)
values (%(user_id)s, %(fingerprint)s, %(words)s, %(erasure_id)s, %(salt_version)s);
