-- Each step of a change in one statement: its durable part, which commits by itself, and then its number in the feed, in
-- a transaction that does not wait for the disk.

-- Takes the lock for an event that was planned without it, if the lock is free and the document is still what the plan
-- was made for. The seal covers the whole head; a head that was changed without it is left to the path under the lock.
create function garden.take_lock(event garden.event_v1, known_seal bytea, request_key text, lock bigint)
returns boolean language plpgsql as $$
begin
    perform garden.act_for(event.user_id, 'on');
    if not pg_try_advisory_lock(lock) then
        return false;
    end if;
    -- A statement of its own, and so with a snapshot of its own: it sees what the lock's last holder did.
    if exists (
        select from garden.documents as d
        where d.user_id = event.user_id and d.path = event.stream and d.seal = known_seal and d.has_file
          and d.open_event_id is null and d.tail_sequence = event.sequence - 1 and d.updated_at < event.created_at
          and d.version = event.document_version - 1 and d.content_hash = event.before_hash
          and d.raw_hash = event.before_raw_hash)
        and not exists (select from garden.erased_words as w where w.user_id = event.user_id)
        and not exists (
            select from garden.idempotency_records as r
            where r.user_id = event.user_id and r.key = request_key and r.expires_at > event.created_at)
    then
        return true;
    end if;
    perform pg_advisory_unlock(lock);
    return false;
end
$$;

-- With a known seal the lock is taken first, and kept; otherwise it is held already, and released if it is named.
create procedure garden.add_event(
    event garden.event_v1, known_seal bytea, head_seal bytea, request garden.request_v1, lock bigint, inout begun boolean
) language plpgsql as $$
begin
    begun := known_seal is null or garden.take_lock(event, known_seal, request.key, lock);
    if begun then
        call garden.record_event(event, head_seal, request, case when known_seal is null then lock end);
        if event.status = 'committed' then
            perform garden.number_stream(event.user_id, event.stream);
        end if;
    end if;
end
$$;

create procedure garden.add_annotation(
    annotation garden.annotation_v1, head_seal bytea, request garden.request_v1, lock bigint
) language plpgsql as $$
begin
    call garden.record_annotation(annotation, head_seal, request, lock);
    perform garden.number_stream(annotation.user_id, '');
end
$$;

create procedure garden.finish_event(
    numbered_stream text, whose garden.user_id, moving uuid, expected text, written garden.event_state,
    ended garden.event_state, head_seal bytea, request_key text, answer jsonb, answered bytea, lock bigint
) language plpgsql as $$
begin
    call garden.end_event(whose, moving, expected, written, ended, head_seal, request_key, answer, answered, lock);
    perform garden.number_stream(whose, numbered_stream);
end
$$;
