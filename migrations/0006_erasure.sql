-- Erasures: words that must go, and what stays in their place. The eraser's functions are the only way to change the
-- words of an event or an annotation, and only with an erasure that has begun and not finished.

create table garden.erasures (
    user_id           garden.user_id not null,
    erasure_id        uuid           not null,
    kind              text           not null check (kind in ('passage', 'document', 'user')),
    -- The document it is limited to, if any.
    path              text,
    -- The words, until the last step.
    passage           text,
    reason            text           not null,
    actor             text           not null,
    role              garden.label   not null,
    created_at        timestamptz    not null,
    -- The tombstone: when it was done, how much went, and the seal of the row.
    finished_at       timestamptz,
    events            bigint,
    bytes             bigint         not null default 0,
    -- Of the order, until it is done.
    seal              garden.seal    not null,
    seal_salt_version integer        not null check (seal_salt_version > 0),
    primary key (user_id, erasure_id),
    check (num_nulls(finished_at, events) in (0, 2)),
    check (finished_at is null or passage is null)
);

comment on table garden.erasures is 'What was erased: by whom, when and why; the words themselves only until it is done';

create index erasures_pending on garden.erasures (user_id) where finished_at is null;

create table garden.erased_rows (
    user_id           garden.user_id not null,
    -- An event or an annotation.
    row_id            uuid           not null,
    erasure_id        uuid           not null,
    -- In the place of each erased part, the commitment to what it holds now; zeros for a part that is as it was.
    commitments       bytea          not null check (octet_length(commitments) % 32 = 0),
    -- The hash of the bytes of the version that the event leaves, with its gaps.
    version_hash      garden.content_hash,
    seal              garden.seal    not null,
    seal_salt_version integer        not null check (seal_salt_version > 0),
    primary key (user_id, row_id)
);

comment on table garden.erased_rows is 'The events and annotations that lost words, each with a seal over what it holds now';

create table garden.erased_words (
    user_id      garden.user_id not null,
    fingerprint  garden.seal    not null,
    -- How many words the fingerprint covers; 0 for a whole version of a document.
    words        smallint       not null check (words between 0 and 5),
    erasure_id   uuid           not null,
    salt_version integer        not null check (salt_version > 0),
    primary key (user_id, fingerprint)
);

comment on table garden.erased_words is 'Keyed fingerprints of erased words, so that they do not come back';

alter table garden.erasures alter column passage set statistics 0, alter column reason set statistics 0;
alter table garden.erased_words alter column fingerprint set statistics 0;

grant select (user_id, erasure_id, kind, path, reason, actor, role, created_at, finished_at, events, bytes, seal,
              seal_salt_version)
    on garden.erasures to garden_reader;
grant select, insert on garden.erasures to garden_maintainer;
grant update (passage, finished_at, events, bytes, seal, seal_salt_version) on garden.erasures to garden_maintainer;
grant select on garden.erased_rows to garden_reader;
grant select, insert on garden.erased_rows to garden_maintainer;
grant update (erasure_id, commitments, version_hash, seal, seal_salt_version) on garden.erased_rows to garden_maintainer;
grant select on garden.erased_words to garden_reader, garden_service;
grant select, insert on garden.erased_words to garden_maintainer;

grant update (section_anchor, sections, rationale, override_rationale, evidence_refs, edit, splices_removed,
              splices_inserted, before_hash, before_raw_hash, intended_hash, intended_raw_hash, lint, tool_call_id, transaction_id,
              agent_action_id, idempotency_key, line_hash, salts)
    on garden.events to garden_maintainer;
grant update (rationale, override_rationale, evidence_refs, details, tool_call_id, transaction_id, agent_action_id, salts)
    on garden.event_annotations to garden_maintainer;

alter table garden.erasures     enable row level security, force row level security;
alter table garden.erased_rows  enable row level security, force row level security;
alter table garden.erased_words enable row level security, force row level security;

create policy own_rows_are_read on garden.erasures for select to garden_reader using (user_id = garden.acting_user());
create policy all_rows_are_swept on garden.erasures for select to garden_maintainer using (true);
create policy named_users_rows_are_added on garden.erasures for insert to garden_maintainer
    with check (user_id = garden.acting_user());
create policy named_users_rows_are_finished on garden.erasures for update to garden_maintainer
    using (user_id = garden.acting_user());

create policy own_rows_are_read on garden.erased_rows for select to garden_reader using (user_id = garden.acting_user());
create policy named_users_rows_are_kept on garden.erased_rows to garden_maintainer using (user_id = garden.acting_user());

create policy own_rows_are_read on garden.erased_words for select to garden_reader, garden_service
    using (user_id = garden.acting_user());
create policy named_users_rows_are_kept on garden.erased_words to garden_maintainer using (user_id = garden.acting_user());

create policy named_users_words_are_erased on garden.events for update to garden_maintainer
    using (user_id = garden.acting_user());
create policy named_users_words_are_erased on garden.event_annotations for update to garden_maintainer
    using (user_id = garden.acting_user());

-- Whether this transaction carries out an erasure of this user that has begun and not finished.
create function garden.is_erasing(whose text) returns boolean language sql stable parallel safe
return exists (
    select from garden.erasures as e
    where e.user_id = whose and e.finished_at is null
      and e.erasure_id = nullif(current_setting('garden.erasure_id', true), '')::uuid);

create policy named_users_answers_are_erased on garden.idempotency_records for delete to garden_maintainer
    using (user_id = garden.acting_user());

create function garden.refuse_annotation_words_lost() returns trigger language plpgsql as $$
begin
    if not garden.is_erasing(new.user_id) then
        raise exception 'the words of an annotation are never rewritten; only an erasure takes them out'
            using errcode = 'insufficient_privilege';
    end if;
    return new;
end
$$;

create function garden.refuse_event_words_lost() returns trigger language plpgsql as $$
begin
    if not garden.is_erasing(new.user_id) then
        raise exception 'the words of an event are never rewritten; only an erasure takes them out'
            using errcode = 'insufficient_privilege';
    end if;
    -- The hash after a change is the intended one, and goes with it.
    if new.intended_hash is null then
        new.after_hash := null;
    end if;
    return new;
end
$$;

create trigger events_keep_their_words before update of
        section_anchor, sections, rationale, override_rationale, evidence_refs, edit, splices_removed, splices_inserted,
        before_hash, before_raw_hash, intended_hash, intended_raw_hash, lint, tool_call_id, transaction_id,
        agent_action_id, idempotency_key, line_hash, salts
    on garden.events for each row execute function garden.refuse_event_words_lost();
create trigger annotations_keep_their_words before update of
        rationale, override_rationale, evidence_refs, details, tool_call_id, transaction_id, agent_action_id, salts
    on garden.event_annotations for each row execute function garden.refuse_annotation_words_lost();

create trigger erasures_stay before delete on garden.erasures
    for each row execute function garden.refuse_removal();
create trigger erasures_are_not_emptied before truncate on garden.erasures
    for each statement execute function garden.refuse_removal();
create trigger erasures_are_not_rewritten before update of
        user_id, erasure_id, kind, path, reason, actor, role, created_at
    on garden.erasures for each row execute function garden.refuse_removal();
create trigger finished_erasures_stay before update on garden.erasures
    for each row when (old.finished_at is not null) execute function garden.refuse_removal();
create trigger erased_rows_stay before delete on garden.erased_rows
    for each row execute function garden.refuse_removal();
create trigger erased_rows_are_not_emptied before truncate on garden.erased_rows
    for each statement execute function garden.refuse_removal();
create trigger erased_words_stay before update or delete on garden.erased_words
    for each row execute function garden.refuse_removal();
create trigger erased_words_are_not_emptied before truncate on garden.erased_words
    for each statement execute function garden.refuse_removal();

-- The eraser's functions. One transaction for a document: a version is rebuilt from all of its events.

-- What is left of an event; the order is that of events/erasures.py.
create type garden.filled_event_v1 as (
    event_id           uuid,
    section_anchor     text,
    sections           text[],
    rationale          text,
    override_rationale text,
    evidence_refs      text[],
    edit               jsonb,
    splices_removed    bytea[],
    splices_inserted   bytea[],
    lint               jsonb,
    before_hash        text,
    before_raw_hash    text,
    intended_hash      text,
    intended_raw_hash  text,
    line_hash          bytea,
    tool_call_id       text,
    transaction_id     text,
    agent_action_id    text,
    idempotency_key    text,
    salts              bytea
);

create type garden.filled_annotation_v1 as (
    annotation_id      uuid,
    rationale          text,
    override_rationale text,
    evidence_refs      text[],
    details            jsonb,
    tool_call_id       text,
    transaction_id     text,
    agent_action_id    text,
    salts              bytea
);

-- What a filled row's tombstone says.
create type garden.tombstone_v1 as (
    commitments       bytea,
    version_hash      text,
    seal              bytea,
    seal_salt_version integer
);

create function garden.begin_filling(whose garden.user_id, erasure uuid) returns void language plpgsql as $$
begin
    perform garden.act_for(whose, 'on'), set_config('garden.erasure_id', erasure::text, true);
end
$$;

create function garden.put_tombstone(
    whose garden.user_id, erasure uuid, filled_id uuid, tombstone garden.tombstone_v1
) returns void language plpgsql as $$
begin
    insert into garden.erased_rows as known (
        user_id, row_id, erasure_id, commitments, version_hash, seal, seal_salt_version)
    values (whose, filled_id, erasure, tombstone.commitments, tombstone.version_hash, tombstone.seal,
            tombstone.seal_salt_version)
    on conflict (user_id, row_id) do update
    set erasure_id = excluded.erasure_id, commitments = excluded.commitments, version_hash = excluded.version_hash,
        seal = excluded.seal, seal_salt_version = excluded.seal_salt_version;
end
$$;

create function garden.fill_event(
    whose garden.user_id, erasure uuid, filled garden.filled_event_v1, tombstone garden.tombstone_v1
) returns void language plpgsql as $$
begin
    update garden.events
    set section_anchor = filled.section_anchor, sections = filled.sections, rationale = filled.rationale,
        override_rationale = filled.override_rationale, evidence_refs = filled.evidence_refs, edit = filled.edit,
        splices_removed = filled.splices_removed, splices_inserted = filled.splices_inserted, lint = filled.lint,
        before_hash = filled.before_hash, before_raw_hash = filled.before_raw_hash,
        intended_hash = filled.intended_hash, intended_raw_hash = filled.intended_raw_hash,
        line_hash = filled.line_hash, tool_call_id = filled.tool_call_id, transaction_id = filled.transaction_id,
        agent_action_id = filled.agent_action_id, idempotency_key = filled.idempotency_key, salts = filled.salts
    where user_id = whose and event_id = filled.event_id;
    perform garden.put_tombstone(whose, erasure, filled.event_id, tombstone);
end
$$;

create function garden.fill_annotation(
    whose garden.user_id, erasure uuid, filled garden.filled_annotation_v1, tombstone garden.tombstone_v1
) returns void language plpgsql as $$
begin
    update garden.event_annotations
    set rationale = filled.rationale, override_rationale = filled.override_rationale,
        evidence_refs = filled.evidence_refs, details = filled.details,
        tool_call_id = filled.tool_call_id, transaction_id = filled.transaction_id,
        agent_action_id = filled.agent_action_id, salts = filled.salts
    where user_id = whose and annotation_id = filled.annotation_id;
    perform garden.put_tombstone(whose, erasure, filled.annotation_id, tombstone);
end
$$;
