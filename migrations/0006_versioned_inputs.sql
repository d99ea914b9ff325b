-- Rows are sent as types of their own, which keep their shape: a process that does not know a column that was added to
-- a table goes on writing. A column that is to be sent needs a new type with the next number.
-- The functions that take whole rows of tables stay, for processes of the version before.

-- A new event; it has not been written and has not failed. The order is that of events/rows.py.
create type garden.event_v1 as (
    user_id                garden.user_id,
    event_id               uuid,
    stream                 text,
    sequence               bigint,
    idempotency_key        text,
    created_at             timestamptz,
    status                 garden.saga_status,
    document_version       integer,
    before_hash            garden.content_hash,
    before_raw_hash        garden.content_hash,
    intended_hash          garden.content_hash,
    intended_raw_hash      garden.content_hash,
    line_hash              garden.seal,
    after_hash             garden.content_hash,
    committed_at           timestamptz,
    type                   garden.label,
    op                     garden.label,
    tool                   garden.label,
    path                   text,
    entity                 text,
    section_anchor         text,
    rationale              text,
    override_rationale     garden.one_line,
    evidence_refs          text[],
    edit                   jsonb,
    lint                   jsonb,
    actor                  text,
    role                   garden.label,
    tool_call_id           text,
    transaction_id         text,
    agent_action_id        text,
    splice_offset          integer,
    splice_removed         bytea,
    splice_inserted        bytea,
    chain_hash             garden.seal,
    integrity_salt_version integer,
    state_seal             garden.seal,
    state_salt_version     integer
);

create type garden.annotation_v1 as (
    annotation_id          uuid,
    event_id               uuid,
    sequence               bigint,
    type                   garden.label,
    op                     garden.label,
    rationale              text,
    evidence_refs          text[],
    details                jsonb,
    created_at             timestamptz,
    user_id                garden.user_id,
    actor                  text,
    role                   garden.label,
    tool_call_id           text,
    transaction_id         text,
    agent_action_id        text,
    chain_hash             garden.seal,
    integrity_salt_version integer
);

-- A head without its name and its tail, which are those of the event or annotation that comes with it.
create type garden.head_v1 as (
    version           integer,
    content_hash      garden.content_hash,
    raw_hash          garden.content_hash,
    head_event_id     uuid,
    open_event_id     uuid,
    seal              garden.seal,
    seal_salt_version integer
);

create type garden.request_v1 as (
    key         text,
    fingerprint bytea,
    response    jsonb,
    expires_at  timestamptz
);

create function garden.put_head(
    whose garden.user_id, stream text, tail_sequence bigint, tail_chain_hash bytea, at timestamptz, head garden.head_v1
) returns void language plpgsql as $$
begin
    insert into garden.documents (
        user_id, path, version, content_hash, raw_hash, head_event_id, open_event_id, tail_sequence, tail_chain_hash,
        updated_at, seal, seal_salt_version)
    values (
        whose, stream, head.version, head.content_hash, head.raw_hash, head.head_event_id, head.open_event_id,
        tail_sequence, tail_chain_hash, at, head.seal, head.seal_salt_version)
    on conflict (user_id, path) do update
    set version = excluded.version, content_hash = excluded.content_hash, raw_hash = excluded.raw_hash,
        head_event_id = excluded.head_event_id, open_event_id = excluded.open_event_id,
        tail_sequence = excluded.tail_sequence, tail_chain_hash = excluded.tail_chain_hash,
        updated_at = excluded.updated_at, seal = excluded.seal, seal_salt_version = excluded.seal_salt_version;
end
$$;

create function garden.remember(
    whose garden.user_id, event uuid, at timestamptz, request garden.request_v1
) returns void language plpgsql as $$
begin
    insert into garden.idempotency_records as record (
        user_id, key, fingerprint, event_id, response, created_at, expires_at)
    values (whose, request.key, request.fingerprint, event, request.response, at, request.expires_at)
    on conflict (user_id, key) do update
    set fingerprint = excluded.fingerprint, event_id = excluded.event_id, response = excluded.response,
        created_at = excluded.created_at, expires_at = excluded.expires_at
    where record.expires_at <= excluded.created_at;
    if not found then
        raise exception 'this key is in use' using errcode = 'unique_violation',
            constraint = 'idempotency_records_pkey';
    end if;
end
$$;

create procedure garden.record_event(
    event garden.event_v1, head garden.head_v1, request garden.request_v1, lock bigint
) language plpgsql as $$
begin
    perform garden.act_for(event.user_id, 'on');
    if request.key is not null then
        perform garden.remember(event.user_id, event.event_id, event.created_at, request);
    end if;
    insert into garden.events (
        user_id, event_id, stream, sequence, idempotency_key, created_at, status, document_version, before_hash,
        before_raw_hash, intended_hash, intended_raw_hash, line_hash, after_hash, committed_at, type, op, tool, path,
        entity, section_anchor, rationale, override_rationale, evidence_refs, edit, lint, actor, role, tool_call_id,
        transaction_id, agent_action_id, splice_offset, splice_removed, splice_inserted, chain_hash,
        integrity_salt_version, state_seal, state_salt_version)
    values (event.*);
    perform garden.put_head(
        event.user_id, event.stream, event.sequence, event.chain_hash, event.created_at, head);
    if lock is not null then
        perform garden.release_at_commit(lock);
    end if;
    if event.status = 'committed' then
        perform garden.tell(event.user_id, event.event_id, 'committed');
        commit;
        perform garden.wake(event.user_id);
    end if;
end
$$;

create procedure garden.record_annotation(
    annotation garden.annotation_v1, head garden.head_v1, request garden.request_v1, lock bigint
) language plpgsql as $$
begin
    perform garden.act_for(annotation.user_id, 'on');
    if request.key is not null then
        perform garden.remember(annotation.user_id, annotation.event_id, annotation.created_at, request);
    end if;
    insert into garden.event_annotations (
        annotation_id, event_id, sequence, type, op, rationale, evidence_refs, details, created_at, user_id, actor,
        role, tool_call_id, transaction_id, agent_action_id, chain_hash, integrity_salt_version)
    values (annotation.*);
    perform garden.put_head(
        annotation.user_id, '', annotation.sequence, annotation.chain_hash, annotation.created_at, head);
    perform garden.release_at_commit(lock);
    perform garden.tell(annotation.user_id, annotation.event_id, 'annotated');
    commit;
    perform garden.wake(annotation.user_id);
end
$$;

-- Ends a saga: through 'written' where it has not been there, to 'committed' or 'failed'.
create function garden.end_event(
    whose garden.user_id, moving uuid, stream text, expected text, written garden.event_state,
    ended garden.event_state, head garden.head_v1, request_key text, answer jsonb, lock bigint
) returns void language plpgsql as $$
begin
    perform garden.act_for(whose, 'off');
    if written.status is not null then
        perform garden.move_event(whose, moving, expected, written);
        expected := written.status;
    end if;
    perform garden.move_event(whose, moving, expected, ended);
    update garden.documents
    set version = head.version, content_hash = head.content_hash, raw_hash = head.raw_hash,
        head_event_id = head.head_event_id, open_event_id = null,
        updated_at = coalesce(ended.committed_at, ended.failed_at), seal = head.seal,
        seal_salt_version = head.seal_salt_version
    where user_id = whose and path = stream and open_event_id = moving;
    if ended.status = 'failed' then
        delete from garden.idempotency_records
        where user_id = whose and key = request_key and event_id = moving;
    else
        update garden.idempotency_records set response = answer
        where user_id = whose and key = request_key and event_id = moving;
    end if;
    perform garden.release_at_commit(lock);
    perform garden.tell(whose, moving, ended.status), garden.wake(whose);
end
$$;
