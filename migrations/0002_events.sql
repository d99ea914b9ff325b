-- The account of what happened to every document, and who may touch it.
--
-- Every primary and unique key starts with user_id: a uniqueness check looks past row-level security, so a key
-- without the user would tell one user about another's rows; and the tables can be partitioned by user as they
-- stand. Names of states and kinds are domains over text, not enums, because the planner may use an index under
-- row-level security only with leak-proof operators, and those of enums are not.

-- Lengths stand beside the patterns, not in them: a counted repetition costs several times as much as the rest of
-- the pattern.
create domain garden.user_id as text
    check (octet_length(value) <= 64 and value ~ '^[a-z0-9][a-z0-9_-]*$');
create domain garden.label as text
    check (octet_length(value) <= 64 and value ~ '^[a-z][a-z0-9_.]*$');
create domain garden.content_hash as text
    check (octet_length(value) = 71 and value ~ '^sha256:[0-9a-f]+$');
create domain garden.seal as bytea
    check (octet_length(value) = 32);
create domain garden.saga_status as text
    check (value in ('pending', 'written', 'committed', 'failed'));
create domain garden.one_line as text
    check (value !~ '[\n\r]' and char_length(value) between 1 and 2000);

create table garden.events (
    user_id                garden.user_id     not null,
    event_id               uuid               not null,
    -- The chain an event belongs to: a document's path, or nothing for the user's journal.
    stream                 text               not null,
    sequence               bigint             not null check (sequence > 0),

    type                   garden.label       not null,
    op                     garden.label       not null,
    tool                   garden.label       not null,
    path                   text,
    entity                 text,
    section_anchor         text,
    -- The sections that an edit of the whole document changed.
    sections               text[]             not null default '{}',
    rationale              text,
    override_rationale     garden.one_line,
    evidence_refs          text[]             not null default '{}',

    -- The edit as it was asked for, and the change it makes: at so many bytes of the old text, take out, put in.
    edit                   jsonb,
    splice_offsets         integer[]          check (0 <= all (splice_offsets)),
    splices_removed        bytea[],
    splices_inserted       bytea[],
    document_version       integer            check (document_version > 0),
    -- Whether the document has a file after this change; none after it was moved away or erased.
    leaves_file            boolean            not null default false,
    before_hash            garden.content_hash,
    before_raw_hash        garden.content_hash,
    intended_hash          garden.content_hash,
    intended_raw_hash      garden.content_hash,
    lint                   jsonb,

    actor                  text               not null,
    role                   garden.label       not null,
    tool_call_id           text,
    transaction_id         text,
    agent_action_id        text,
    idempotency_key        text,
    created_at             timestamptz        not null,

    line_hash              garden.seal,
    -- For each part that may be erased a salt of 16 bytes and a commitment of 32: the chain covers the commitments, so
    -- that it holds when the words and their salt are gone. The parts and their order stand in events/parts.py.
    salts                  bytea              not null check (octet_length(salts) % 16 = 0),
    commitments            bytea              not null check (octet_length(commitments) = 2 * octet_length(salts)),
    chain_hash             garden.seal        not null,
    integrity_salt_version integer            not null check (integrity_salt_version > 0),

    -- What follows is the saga's state. Nothing else ever changes, except words that an erasure takes out.
    status                 garden.saga_status not null,
    after_hash             garden.content_hash,
    error                  jsonb,
    written_at             timestamptz,
    committed_at           timestamptz,
    failed_at              timestamptz,
    state_seal             garden.seal        not null,
    state_salt_version     integer            not null check (state_salt_version > 0),

    primary key (user_id, event_id),
    unique (user_id, stream, sequence),
    check (stream in ('', path)),
    -- An event of a document is a whole change; an event of the journal is none. Only the hashes may be erased.
    check (case when stream = ''
           then num_nonnulls(document_version, splice_offsets, splices_removed, splices_inserted, intended_raw_hash) = 0
           else num_nulls(document_version, splice_offsets, splices_removed, splices_inserted) = 0
                and cardinality(splices_removed) = cardinality(splice_offsets)
                and cardinality(splices_inserted) = cardinality(splice_offsets)
                and (num_nulls(intended_hash, intended_raw_hash, line_hash) in (0, 3)) end),
    check ((status = 'committed') = (committed_at is not null)),
    check ((status = 'failed') = (failed_at is not null)),
    check ((status = 'failed') = (error is not null)),
    check (status <> 'written' or written_at is not null),
    check (after_hash is null or status in ('written', 'committed'))
) with (fillfactor = 70); -- room for a saga's steps on the page of its event

comment on table garden.events is 'One row a change, planned before it happens and sealed after it happened';

create index events_of_path        on garden.events (user_id, path, event_id) where path is not null;
create index events_of_type        on garden.events (user_id, type, event_id);
create index events_of_tool_call   on garden.events (user_id, tool_call_id) where tool_call_id is not null;
create index events_of_transaction on garden.events (user_id, transaction_id) where transaction_id is not null;
create index events_of_action      on garden.events (user_id, agent_action_id) where agent_action_id is not null;
-- Its condition names a column that only a failure sets: an index that follows the status would make each of a saga's
-- steps write into every index of the table.
create index events_failed         on garden.events (user_id, event_id) where failed_at is not null;

create table garden.documents (
    user_id           garden.user_id not null,
    -- A document's path; nothing for the user's journal, which has a chain and no text.
    path              text           not null,
    version           integer        not null check (version >= 0),
    content_hash      garden.content_hash,
    raw_hash          garden.content_hash,
    -- Whether a file is expected; none before the first version, and none after a move away or an erasure.
    has_file          boolean        not null,
    head_event_id     uuid,
    -- The event that was begun and not yet ended, if any: at most one, for its writer holds the document's lock.
    open_event_id     uuid,
    tail_sequence     bigint         not null check (tail_sequence >= 0),
    tail_chain_hash   garden.seal    not null,
    updated_at        timestamptz    not null,
    seal              garden.seal    not null,
    seal_salt_version integer        not null check (seal_salt_version > 0),
    primary key (user_id, path),
    check ((version = 0) = (content_hash is null) and (version = 0) = (raw_hash is null)),
    check ((version = 0) = (head_event_id is null))
) with (fillfactor = 50); -- a head is rewritten by every event of its stream

comment on table garden.documents is 'Each document''s head: what its version and content are believed to be';

-- Not by the time of the last change, which every change sets: only a saga's begin and end write into this index.
create index documents_with_open_event on garden.documents (open_event_id) where open_event_id is not null;

create table garden.idempotency_records (
    user_id     garden.user_id not null,
    key         text           not null check (char_length(key) between 1 and 512),
    fingerprint bytea          not null check (octet_length(fingerprint) = 32),
    event_id    uuid           not null,
    response    jsonb,
    created_at  timestamptz    not null,
    expires_at  timestamptz    not null,
    -- The first covers the request, the second its answer, once there is one.
    seal                garden.seal not null,
    seal_salt_version   integer     not null check (seal_salt_version > 0),
    answer_seal         garden.seal,
    answer_salt_version integer     check (answer_salt_version > 0),
    primary key (user_id, key),
    check (num_nulls(response, answer_seal, answer_salt_version) in (0, 3))
);

comment on table garden.idempotency_records is 'Requests of the last 48 hours, with their answers once there are any';

create index idempotency_records_by_expiry on garden.idempotency_records (expires_at);

create table garden.event_annotations (
    user_id                garden.user_id not null,
    annotation_id          uuid           not null,
    event_id               uuid           not null,
    -- Its place in the user's journal, which it shares with the journal's events.
    sequence               bigint         not null check (sequence > 0),
    type                   garden.label   not null,
    op                     garden.label   not null,
    rationale              text,
    override_rationale     garden.one_line,
    evidence_refs          text[]         not null default '{}',
    details                jsonb,
    actor                  text           not null,
    role                   garden.label   not null,
    tool_call_id           text,
    transaction_id         text,
    agent_action_id        text,
    created_at             timestamptz    not null,
    salts                  bytea          not null check (octet_length(salts) % 16 = 0),
    commitments            bytea          not null check (octet_length(commitments) = 2 * octet_length(salts)),
    chain_hash             garden.seal    not null,
    integrity_salt_version integer        not null check (integrity_salt_version > 0),
    primary key (user_id, annotation_id),
    unique (user_id, sequence),
    foreign key (user_id, event_id) references garden.events (user_id, event_id)
);

comment on table garden.event_annotations is 'What was said later about an event that stands';

create index annotations_of_event on garden.event_annotations (user_id, event_id, annotation_id);

-- Statistics keep samples of a column's values, and would keep erased words.
do $$
declare
    kept record;
begin
    for kept in
        select * from (values
            ('events', array['section_anchor', 'sections', 'rationale', 'override_rationale', 'evidence_refs', 'edit',
                             'splices_removed', 'splices_inserted', 'lint', 'tool_call_id', 'transaction_id', 'agent_action_id',
                             'idempotency_key', 'before_hash', 'before_raw_hash', 'intended_hash', 'intended_raw_hash',
                             'after_hash', 'line_hash', 'salts', 'error']),
            ('documents', array['content_hash', 'raw_hash']),
            ('idempotency_records', array['key', 'response']),
            ('event_annotations', array['rationale', 'override_rationale', 'evidence_refs', 'details', 'tool_call_id',
                                        'transaction_id', 'agent_action_id', 'salts'])
        ) as words (name, columns)
    loop
        execute (select format('alter table garden.%I %s', kept.name,
                               string_agg(format('alter column %I set statistics 0', word), ', '))
                 from unnest(kept.columns) as word);
    end loop;
end
$$;

-- The roles. Where this login may not create them, an operator has: see garden migrate --print-roles.

do $$
declare
    wanted text;
begin
    foreach wanted in array array['garden_reader', 'garden_service', 'garden_maintainer'] loop
        begin
            if not exists (select from pg_roles where rolname = wanted) then
                execute format('create role %I nologin', wanted);
            end if;
        exception
            when duplicate_object or unique_violation then null; -- another database's migration was faster
        end;
        -- From version 16 on, to have made a role is to be its member, and not yet to act in it.
        if not pg_has_role(current_user, wanted, case when current_setting('server_version_num')::integer >= 160000
                                                      then 'set' else 'member' end) then
            execute format('grant %I to current_user', wanted);
        end if;
    end loop;
exception
    when insufficient_privilege then
        raise exception 'the roles garden_reader, garden_service and garden_maintainer are missing or not granted to %', current_user
            using hint = 'Have an administrator run what ''garden migrate --print-roles'' prints.';
end
$$;

-- Nobody has a right but by what follows.

grant usage on schema garden to garden_reader, garden_service, garden_maintainer;

grant select on garden.events, garden.documents, garden.event_annotations to garden_reader;

grant select, insert on garden.events to garden_service;
grant update (status, after_hash, error, written_at, committed_at, failed_at, state_seal, state_salt_version)
    on garden.events to garden_service;
grant select, insert on garden.documents to garden_service;
grant update (version, content_hash, raw_hash, has_file, head_event_id, open_event_id, tail_sequence, tail_chain_hash,
              updated_at, seal, seal_salt_version)
    on garden.documents to garden_service;
grant select, insert, delete on garden.idempotency_records to garden_service;
grant update (fingerprint, event_id, response, created_at, expires_at, seal, seal_salt_version, answer_seal,
              answer_salt_version)
    on garden.idempotency_records to garden_service;
grant select, insert on garden.event_annotations to garden_service;

grant select on garden.events, garden.documents, garden.event_annotations, garden.idempotency_records
    to garden_maintainer;
grant delete on garden.idempotency_records to garden_maintainer;

alter table garden.events              enable row level security, force row level security;
alter table garden.documents           enable row level security, force row level security;
alter table garden.idempotency_records enable row level security, force row level security;
alter table garden.event_annotations   enable row level security, force row level security;

-- The user for whom a transaction acts. A policy reads the setting through this function only: a distributed table takes
-- no sub-select in a policy.
create function garden.acting_user() returns text language sql stable parallel safe
return current_setting('garden.user_id', true);

create policy own_rows_are_read on garden.events for select to garden_reader, garden_service
    using (user_id = garden.acting_user());
create policy own_rows_are_added on garden.events for insert to garden_service
    with check (user_id = garden.acting_user() and status in ('pending', 'committed'));
create policy own_rows_change_state on garden.events for update to garden_service
    using (user_id = garden.acting_user());
create policy all_rows_are_swept on garden.events for select to garden_maintainer using (true);

create policy own_rows_are_read on garden.documents for select to garden_reader, garden_service
    using (user_id = garden.acting_user());
create policy own_rows_are_added on garden.documents for insert to garden_service
    with check (user_id = garden.acting_user());
create policy own_rows_move on garden.documents for update to garden_service
    using (user_id = garden.acting_user());
create policy all_rows_are_swept on garden.documents for select to garden_maintainer using (true);

create policy own_rows_are_read on garden.idempotency_records for select to garden_service
    using (user_id = garden.acting_user());
create policy own_rows_are_added on garden.idempotency_records for insert to garden_service
    with check (user_id = garden.acting_user());
create policy own_rows_are_answered on garden.idempotency_records for update to garden_service
    using (user_id = garden.acting_user());
create policy own_rows_are_freed on garden.idempotency_records for delete to garden_service
    using (user_id = garden.acting_user());
create policy all_rows_are_swept on garden.idempotency_records for select to garden_maintainer using (true);
create policy expired_rows_are_purged on garden.idempotency_records for delete to garden_maintainer
    using (expires_at < now());

create policy own_rows_are_read on garden.event_annotations for select to garden_reader, garden_service
    using (user_id = garden.acting_user());
create policy own_rows_are_added on garden.event_annotations for insert to garden_service
    with check (user_id = garden.acting_user());
create policy all_rows_are_swept on garden.event_annotations for select to garden_maintainer using (true);

-- What no role may do, not even the owner of the tables.

create function garden.refuse_removal() returns trigger language plpgsql as $$
begin
    raise exception '% is append-only: % refused', tg_table_name, lower(tg_op)
        using errcode = 'insufficient_privilege';
end
$$;

create function garden.refuse_rewriting() returns trigger language plpgsql as $$
begin
    raise exception 'an event is never rewritten; only its state changes'
        using errcode = 'insufficient_privilege';
end
$$;

-- An erasure that fills an event leaves its state and that state's seal as they are; is_erasing is made with the
-- tables of erasures.
create function garden.refuse_wrong_way() returns trigger language plpgsql as $$
begin
    if (old.status, new.status) not in (('pending', 'written'), ('pending', 'failed'),
                                        ('written', 'committed'), ('written', 'failed'))
       and not (old.status = new.status and old.state_seal = new.state_seal and garden.is_erasing(new.user_id)) then
        raise exception 'no way leads from % to %', old.status, new.status
            using errcode = 'check_violation';
    end if;
    return new;
end
$$;

create function garden.refuse_going_back() returns trigger language plpgsql as $$
begin
    if new.version < old.version or new.tail_sequence < old.tail_sequence then
        raise exception 'a head never goes back' using errcode = 'check_violation';
    end if;
    return new;
end
$$;

create trigger events_stay before delete on garden.events
    for each row execute function garden.refuse_removal();
create trigger events_are_not_emptied before truncate on garden.events
    for each statement execute function garden.refuse_removal();
-- The words have guards of their own, made with the tables of erasures: only an erasure may take them out.
create trigger events_are_not_rewritten before update of
        user_id, event_id, stream, sequence, type, op, tool, path, entity, splice_offsets, document_version, leaves_file,
        actor, role, created_at, commitments, chain_hash, integrity_salt_version
    on garden.events for each row execute function garden.refuse_rewriting();
create trigger events_go_forward before update on garden.events
    for each row execute function garden.refuse_wrong_way();

create trigger annotations_stay before delete on garden.event_annotations
    for each row execute function garden.refuse_removal();
create trigger annotations_are_not_rewritten before update of
        user_id, annotation_id, event_id, sequence, type, op, actor, role, created_at, commitments, chain_hash,
        integrity_salt_version
    on garden.event_annotations for each row execute function garden.refuse_removal();
create trigger annotations_are_not_emptied before truncate on garden.event_annotations
    for each statement execute function garden.refuse_removal();

create trigger heads_stay before delete on garden.documents
    for each row execute function garden.refuse_removal();
create trigger heads_are_not_emptied before truncate on garden.documents
    for each statement execute function garden.refuse_removal();
create trigger heads_go_forward before update on garden.documents
    for each row execute function garden.refuse_going_back();

-- The three round trips of a change, a function each: a client that sent their statements one by one would spend more
-- time on sending than the server on working. They run with the caller's rights, under row-level security.

create function garden.act_for(whose text, durability text) returns void language plpgsql as $$
begin
    perform set_config('garden.user_id', whose, true), set_config('synchronous_commit', durability, true);
end
$$;

-- The session holds the lock until now; from here the transaction holds it, so that it is free when what the
-- transaction did can be seen, and not before.
create function garden.release_at_commit(lock bigint) returns void language plpgsql as $$
begin
    perform pg_advisory_xact_lock(lock), pg_advisory_unlock(lock);
end
$$;

-- Rows are sent as types of their own, which keep their shape: a process that does not know a column that was added to
-- a table goes on writing. A column that is to be sent needs a new type with the next number.

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
    leaves_file            boolean,
    before_hash            garden.content_hash,
    before_raw_hash        garden.content_hash,
    intended_hash          garden.content_hash,
    intended_raw_hash      garden.content_hash,
    line_hash              garden.seal,
    salts                  bytea,
    commitments            bytea,
    type                   garden.label,
    op                     garden.label,
    tool                   garden.label,
    path                   text,
    entity                 text,
    section_anchor         text,
    sections               text[],
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
    splice_offsets         integer[],
    splices_removed        bytea[],
    splices_inserted       bytea[],
    chain_hash             garden.seal,
    integrity_salt_version integer,
    state_seal             garden.seal
);

create type garden.annotation_v1 as (
    annotation_id          uuid,
    event_id               uuid,
    sequence               bigint,
    type                   garden.label,
    op                     garden.label,
    rationale              text,
    override_rationale     garden.one_line,
    evidence_refs          text[],
    details                jsonb,
    created_at             timestamptz,
    salts                  bytea,
    commitments            bytea,
    user_id                garden.user_id,
    actor                  text,
    role                   garden.label,
    tool_call_id           text,
    transaction_id         text,
    agent_action_id        text,
    chain_hash             garden.seal,
    integrity_salt_version integer
);

-- A request, and its answer where that is known at once. Its seals are of the same key as those of its event.
create type garden.request_v1 as (
    key         text,
    fingerprint bytea,
    response    jsonb,
    expires_at  timestamptz,
    seal        garden.seal,
    answer_seal garden.seal
);

create function garden.open_stream(
    whose text, stream text, lock bigint, request_key text, at timestamptz,
    out version integer, out content_hash text, out raw_hash text, out has_file boolean, out head_event_id uuid,
    out open_event_id uuid,
    out tail_sequence bigint, out tail_chain_hash bytea, out updated_at timestamptz, out seal bytea,
    out seal_salt_version integer, out damage jsonb, out change_created_at timestamptz, out change_type text,
    out change_op text, out change_before_raw_hash text, out fingerprint bytea, out event_id uuid, out response jsonb,
    out created_at timestamptz, out expires_at timestamptz, out request_seal bytea, out request_salt_version integer,
    out answer_seal bytea, out answer_salt_version integer, out has_erased boolean
) language plpgsql as $$
begin
    perform garden.act_for(whose, 'on');
    perform pg_advisory_lock(lock);
    -- Statements of their own, and so with snapshots of their own: they see what the lock's last holder did.
    select d.version, d.content_hash, d.raw_hash, d.has_file, d.head_event_id, d.open_event_id, d.tail_sequence,
           d.tail_chain_hash, d.updated_at, d.seal, d.seal_salt_version
    into version, content_hash, raw_hash, has_file, head_event_id, open_event_id, tail_sequence, tail_chain_hash,
         updated_at, seal, seal_salt_version
    from garden.documents as d
    where d.user_id = whose and d.path = stream;
    select e.lint -> 'damage', e.created_at, e.type, e.op, e.before_raw_hash
    into damage, change_created_at, change_type, change_op, change_before_raw_hash
    from garden.events as e
    where e.user_id = whose and e.event_id = open_stream.head_event_id;
    has_erased := exists (select from garden.erased_words as w where w.user_id = whose);
    if request_key is not null then
        select r.fingerprint, r.event_id, r.response, r.created_at, r.expires_at, r.seal, r.seal_salt_version,
               r.answer_seal, r.answer_salt_version
        into fingerprint, event_id, response, created_at, expires_at, request_seal, request_salt_version, answer_seal,
             answer_salt_version
        from garden.idempotency_records as r
        where r.user_id = whose and r.key = request_key and r.expires_at > at;
    end if;
end
$$;

create type garden.event_state as (
    status             text,
    after_hash         text,
    error              jsonb,
    written_at         timestamptz,
    committed_at       timestamptz,
    failed_at          timestamptz,
    state_seal         bytea,
    state_salt_version integer
);

-- Moves an event on by one step, and returns it as it is then.
create function garden.move_event(
    whose garden.user_id, moving uuid, expected text, step garden.event_state
) returns garden.events language plpgsql as $$
declare
    moved garden.events;
begin
    update garden.events
    set status = step.status, after_hash = step.after_hash, error = step.error, written_at = step.written_at,
        committed_at = step.committed_at, failed_at = step.failed_at, state_seal = step.state_seal,
        state_salt_version = step.state_salt_version
    where user_id = whose and event_id = moving and status = expected
    returning * into moved;
    if moved is null then
        raise exception 'event % is no longer %', moving, expected using errcode = 'serialization_failure';
    end if;
    return moved;
end
$$;

create function garden.mark_written(whose garden.user_id, moving uuid, step garden.event_state) returns void
language plpgsql as $$
begin
    perform garden.act_for(whose, 'off');
    perform garden.move_event(whose, moving, 'pending', step);
end
$$;

-- The head that a new event or annotation leaves: its tail, and its version where a change is committed at once.
create function garden.put_tail(
    whose garden.user_id, stream text, tail_sequence bigint, tail_chain_hash bytea, at timestamptz, opened uuid,
    seal bytea, salt_version integer
) returns void language plpgsql as $$
begin
    insert into garden.documents as head (
        user_id, path, version, has_file, open_event_id, tail_sequence, tail_chain_hash, updated_at, seal,
        seal_salt_version)
    values (whose, stream, 0, false, opened, tail_sequence, tail_chain_hash, at, seal, salt_version)
    on conflict (user_id, path) do update
    set open_event_id = excluded.open_event_id, tail_sequence = excluded.tail_sequence,
        tail_chain_hash = excluded.tail_chain_hash, updated_at = excluded.updated_at, seal = excluded.seal,
        seal_salt_version = excluded.seal_salt_version;
end
$$;

-- The committed event becomes its document's version.
create function garden.put_version(event garden.events, at timestamptz, seal bytea, salt_version integer)
returns void language plpgsql as $$
begin
    update garden.documents as head
    set version = event.document_version, content_hash = event.intended_hash, raw_hash = event.intended_raw_hash,
        has_file = event.leaves_file, head_event_id = event.event_id, open_event_id = null, updated_at = at,
        seal = put_version.seal, seal_salt_version = salt_version
    where head.user_id = event.user_id and head.path = event.stream;
end
$$;

create function garden.remember(
    whose garden.user_id, event uuid, at timestamptz, salt_version integer, request garden.request_v1
) returns void language plpgsql as $$
begin
    insert into garden.idempotency_records as record (
        user_id, key, fingerprint, event_id, response, created_at, expires_at, seal, seal_salt_version, answer_seal,
        answer_salt_version)
    values (whose, request.key, request.fingerprint, event, request.response, at, request.expires_at, request.seal,
            salt_version, request.answer_seal, case when request.answer_seal is not null then salt_version end)
    on conflict (user_id, key) do update
    set fingerprint = excluded.fingerprint, event_id = excluded.event_id, response = excluded.response,
        created_at = excluded.created_at, expires_at = excluded.expires_at, seal = excluded.seal,
        seal_salt_version = excluded.seal_salt_version, answer_seal = excluded.answer_seal,
        answer_salt_version = excluded.answer_salt_version
    where record.expires_at <= excluded.created_at;
    if not found then
        raise exception 'this key is in use' using errcode = 'unique_violation',
            constraint = 'idempotency_records_pkey';
    end if;
end
$$;

-- What writes durably is a procedure that commits by itself: the client sends it, has other work to do while the server
-- waits for the disk, and then sends what numbers the event in the feed, all in one round trip.

create procedure garden.record_event(
    event garden.event_v1, head_seal bytea, request garden.request_v1, lock bigint
) language plpgsql as $$
declare
    stored garden.events;
begin
    perform garden.act_for(event.user_id, 'on');
    if request.key is not null then
        perform garden.remember(
            event.user_id, event.event_id, event.created_at, event.integrity_salt_version, request);
    end if;
    insert into garden.events (
        user_id, event_id, stream, sequence, idempotency_key, created_at, status, document_version, leaves_file,
        before_hash, before_raw_hash, intended_hash, intended_raw_hash, line_hash, salts, commitments, type, op, tool,
        path, entity, section_anchor, sections, rationale, override_rationale, evidence_refs, edit, lint, actor, role,
        tool_call_id, transaction_id, agent_action_id, splice_offsets, splices_removed, splices_inserted, chain_hash,
        integrity_salt_version, state_seal, state_salt_version, after_hash, committed_at)
    select event.*, event.integrity_salt_version,
           case when event.status = 'committed' then event.intended_hash end,
           case when event.status = 'committed' then event.created_at end
    returning * into stored;
    perform garden.put_tail(
        event.user_id, event.stream, event.sequence, event.chain_hash, event.created_at,
        case when event.status = 'pending' then event.event_id end, head_seal, event.integrity_salt_version);
    if event.status = 'committed' and event.document_version is not null then
        perform garden.put_version(stored, event.created_at, head_seal, event.integrity_salt_version);
    end if;
    if lock is not null then
        perform garden.release_at_commit(lock);
    end if;
    commit;
end
$$;

create procedure garden.record_annotation(
    annotation garden.annotation_v1, head_seal bytea, request garden.request_v1, lock bigint
) language plpgsql as $$
begin
    perform garden.act_for(annotation.user_id, 'on');
    if request.key is not null then
        perform garden.remember(
            annotation.user_id, annotation.event_id, annotation.created_at, annotation.integrity_salt_version, request);
    end if;
    insert into garden.event_annotations (
        annotation_id, event_id, sequence, type, op, rationale, override_rationale, evidence_refs, details, created_at,
        salts, commitments, user_id, actor, role, tool_call_id, transaction_id, agent_action_id, chain_hash, integrity_salt_version)
    values (annotation.*);
    perform garden.put_tail(
        annotation.user_id, '', annotation.sequence, annotation.chain_hash, annotation.created_at, null, head_seal,
        annotation.integrity_salt_version);
    perform garden.release_at_commit(lock);
    commit;
end
$$;

-- Ends a saga: through 'written' where it has not been there, to 'committed' or 'failed'. Its answer may be given once
-- this is durable: otherwise the server could lose the seal of an answered change, and a file that a person has changed
-- since would no longer show that it happened.
create procedure garden.end_event(
    whose garden.user_id, moving uuid, expected text, written garden.event_state, ended garden.event_state,
    head_seal bytea, request_key text, answer jsonb, answered bytea, lock bigint
) language plpgsql as $$
declare
    moved garden.events;
begin
    perform garden.act_for(whose, 'on');
    if written.status is not null then
        perform garden.move_event(whose, moving, expected, written);
        expected := written.status;
    end if;
    moved := garden.move_event(whose, moving, expected, ended);
    if ended.status = 'committed' then
        perform garden.put_version(moved, ended.committed_at, head_seal, ended.state_salt_version);
        update garden.idempotency_records
        set response = answer, answer_seal = answered, answer_salt_version = ended.state_salt_version
        where user_id = whose and key = request_key and event_id = moving;
    else
        update garden.documents
        set open_event_id = null, updated_at = ended.failed_at, seal = head_seal,
            seal_salt_version = ended.state_salt_version
        where user_id = whose and path = moved.stream and open_event_id = moving;
        delete from garden.idempotency_records
        where user_id = whose and key = request_key and event_id = moving;
    end if;
    perform garden.release_at_commit(lock);
    commit;
end
$$;
