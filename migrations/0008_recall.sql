-- What recall finds: the passages of every document, written in the transaction that seals the change that made them.
-- Each row also says from when until when its text stood, so that the garden of an earlier day can be searched.
--
-- A process keeps what it searches in memory, and asks before each answer for the rows that changed since. A row holds
-- the transaction that changed it last; every change that a reader has not seen is of a transaction that was still
-- running at its last look, or began later. No counter is needed, for which the writers of a user would have to wait.

create table garden.recall_documents (
    user_id    garden.user_id not null,
    path       text           not null,
    -- Another one when all rows of the document were made again: then a reader drops those it holds.
    generation uuid           not null,
    -- The version of the document that its rows show, and the rules that they were made by.
    version    integer        not null check (version >= 0),
    analysis   integer        not null check (analysis > 0),
    changed    xid8           not null default pg_current_xact_id(),
    primary key (user_id, path)
) with (fillfactor = 70);

comment on table garden.recall_documents is 'Up to which version each document can be recalled';

create index recall_documents_changed on garden.recall_documents (user_id, changed);

create table garden.recall_passages (
    user_id      garden.user_id not null,
    -- A keyed hash of path, anchor and name.
    passage      bigint         not null,
    -- When its text came, and when it went.
    since        timestamptz    not null,
    until        timestamptz,
    path         text           not null,
    anchor       text           not null,
    -- A keyed short hash of the text, and the number among equal ones.
    name         text           not null,
    -- The title if it says more than the path, the section's heading, and those below it that the passage stands under.
    heading      text           not null,
    language     text           not null,
    -- The passage above it in the same section.
    previous     bigint,
    -- The event that the text came with.
    event_id     uuid           not null,
    -- The day that the text names, or else the day of the event.
    day          date           not null,
    tags         text[]         not null default '{}',
    priority     smallint,
    summary_type text,
    period_key   text,
    text         text           not null,
    -- Four bytes for each word, in order.
    words        bytea          not null check (octet_length(words) % 4 = 0),
    -- One byte for each dimension, and the name of the model; nothing until a recall or a job gets to it.
    vector       bytea,
    embedder     text,
    changed      xid8           not null default pg_current_xact_id(),
    primary key (user_id, passage, since),
    check ((vector is null) = (embedder is null)),
    check ((summary_type is null) = (period_key is null))
);

comment on table garden.recall_passages is 'Every passage of every document, with its words, from when until when';

-- A passage stands once. Those that wait for a vector are counted without a look at the rows.
create unique index recall_passages_standing on garden.recall_passages (user_id, passage) include (embedder)
    where until is null;
create index recall_passages_changed on garden.recall_passages (user_id, changed);
create index recall_passages_of_event on garden.recall_passages (user_id, event_id, passage);
create index recall_passages_of_path on garden.recall_passages (user_id, path);
create index recall_passages_by_day on garden.recall_passages (user_id, day, since, name) where until is null;
create index recall_passages_of_summaries on garden.recall_passages (user_id, summary_type, period_key)
    where until is null and summary_type is not null;
create index recall_passages_with_tags on garden.recall_passages (user_id) where until is null and tags <> '{}';

alter table garden.recall_passages
    alter column name set statistics 0, alter column heading set statistics 0,
    alter column text set statistics 0, alter column words set statistics 0, alter column vector set statistics 0;

-- How often a user's garden was asked, without what was asked.
create table garden.recall_usage (
    user_id      garden.user_id   not null,
    day          date             not null,
    tool         garden.label     not null,
    calls        bigint           not null,
    empty        bigint           not null,
    milliseconds double precision not null,
    primary key (user_id, day, tool)
);

comment on table garden.recall_usage is 'Calls of recall per user and day, those without a result, and the time they took';

-- Which passages went into a block of context, and who got it.
create table garden.recall_given (
    user_id  garden.user_id not null,
    given_id uuid           not null,
    actor    text           not null,
    given_at timestamptz    not null,
    passages text[]         not null,
    primary key (user_id, given_id)
);

comment on table garden.recall_given is 'The names of the passages that were given to an actor as context';

create index recall_given_by_time on garden.recall_given (user_id, given_at);

grant select on garden.recall_documents, garden.recall_passages, garden.recall_usage, garden.recall_given to garden_reader;
grant select, insert on garden.recall_documents, garden.recall_passages, garden.recall_usage, garden.recall_given
    to garden_service;
grant update (generation, version, analysis, changed) on garden.recall_documents to garden_service, garden_maintainer;
grant update (until, language, previous, day, tags, priority, summary_type, period_key, words, vector, embedder, changed)
    on garden.recall_passages to garden_service, garden_maintainer;
grant update (calls, empty, milliseconds) on garden.recall_usage to garden_service;
grant select, insert, delete on garden.recall_documents, garden.recall_passages to garden_maintainer;
grant select, delete on garden.recall_usage, garden.recall_given to garden_maintainer;

alter table garden.recall_documents enable row level security, force row level security;
alter table garden.recall_passages  enable row level security, force row level security;
alter table garden.recall_usage     enable row level security, force row level security;
alter table garden.recall_given     enable row level security, force row level security;

create policy own_rows_are_read on garden.recall_documents for select to garden_reader
    using (user_id = garden.acting_user());
create policy own_rows_are_kept on garden.recall_documents to garden_service using (user_id = garden.acting_user());
create policy all_rows_are_swept on garden.recall_documents for select to garden_maintainer using (true);
create policy named_users_rows_are_kept on garden.recall_documents to garden_maintainer
    using (user_id = garden.acting_user());

create policy own_rows_are_read on garden.recall_passages for select to garden_reader
    using (user_id = garden.acting_user());
create policy own_rows_are_kept on garden.recall_passages to garden_service using (user_id = garden.acting_user());
create policy named_users_rows_are_kept on garden.recall_passages to garden_maintainer
    using (user_id = garden.acting_user());

create policy own_rows_are_read on garden.recall_usage for select to garden_reader
    using (user_id = garden.acting_user());
create policy own_rows_are_kept on garden.recall_usage to garden_service using (user_id = garden.acting_user());
create policy all_rows_are_swept on garden.recall_usage for select to garden_maintainer using (true);
create policy named_users_rows_are_kept on garden.recall_usage to garden_maintainer
    using (user_id = garden.acting_user());

create policy own_rows_are_read on garden.recall_given for select to garden_reader
    using (user_id = garden.acting_user());
create policy own_rows_are_kept on garden.recall_given to garden_service using (user_id = garden.acting_user());
create policy named_users_rows_are_kept on garden.recall_given to garden_maintainer
    using (user_id = garden.acting_user());

-- A passage as it is sent. `was` names the passage of another place that has come here, with its event and day, and with
-- its vector if path and heading are the same.
-- A day that the text names is its own; otherwise it is that of the event.
create type garden.passage_v1 as (
    passage      bigint,
    path         text,
    anchor       text,
    name         text,
    heading      text,
    language     text,
    previous     bigint,
    day          date,
    tags         text[],
    priority     smallint,
    summary_type text,
    period_key   text,
    text         text,
    words        bytea,
    was          bigint,
    is_dated     boolean
);

-- The passages that a change removed, and those that it brought or gave another place. A passage that stands already
-- keeps its event: its text is the same. `at` is when the change began, as for the versions of texts.
create type garden.passage_changes_v1 as (
    path     text,
    version  integer,
    analysis integer,
    at       timestamptz,
    gone     bigint[],
    come     garden.passage_v1[]
);

-- Rows of an earlier version, or by older rules, stay marked as such: a program without recall wrote in between, and the
-- change alone does not make them whole.
-- Each row is looked for by inserting it. A plan that was kept from an empty table could look through all rows of the user
-- instead, for every row that comes.
-- A row stands for one text under one heading, for the vector is made of both: under another heading the row ends, and
-- one without a vector takes over its event and day.
create function garden.put_passages(whose garden.user_id, event uuid, changes garden.passage_changes_v1)
returns void language plpgsql as $$
declare
    each garden.passage_v1;
    origin garden.recall_passages;
begin
    if cardinality(changes.gone) > 0 then
        update garden.recall_passages as p
        set until = changes.at, changed = pg_current_xact_id()
        where p.user_id = whose and p.passage = any (changes.gone) and p.until is null;
    end if;
    foreach each in array changes.come loop
        origin := null;
        if each.was is not null then
            -- The other place may have been left before or after this.
            select * into origin from garden.recall_passages as p
            where p.user_id = whose and p.passage = each.was
            order by p.since desc
            limit 1;
        end if;
        loop
            insert into garden.recall_passages as p (
                user_id, passage, since, path, anchor, name, heading, language, previous, event_id, day, tags,
                priority, summary_type, period_key, text, words, vector, embedder)
            values (
                whose, each.passage, changes.at, each.path, each.anchor, each.name, each.heading, each.language,
                each.previous, coalesce(origin.event_id, event),
                case when each.is_dated then each.day else coalesce(origin.day, each.day) end, each.tags,
                each.priority, each.summary_type, each.period_key, each.text, each.words,
                case when (origin.path, origin.heading) = (each.path, each.heading) then origin.vector end,
                case when (origin.path, origin.heading) = (each.path, each.heading) then origin.embedder end)
            on conflict (user_id, passage) where until is null do update
            set language = excluded.language, previous = excluded.previous, words = excluded.words,
                day = case when each.is_dated then excluded.day else p.day end, changed = pg_current_xact_id()
            where p.heading = excluded.heading;
            exit when found;
            update garden.recall_passages as p
            set until = changes.at, changed = pg_current_xact_id()
            where p.user_id = whose and p.passage = each.passage and p.until is null
            returning p.* into origin;
        end loop;
    end loop;
    update garden.recall_documents as d
    set version = changes.version, analysis = least(d.analysis, changes.analysis)
    where d.user_id = whose and d.path = changes.path and d.version = changes.version - 1;
    if not found then
        insert into garden.recall_documents (user_id, path, generation, version, analysis)
        values (whose, changes.path, event, case when changes.version = 1 then 1 else 0 end, changes.analysis)
        on conflict (user_id, path) do nothing;
    end if;
end
$$;

-- Each step of a change as before, with the passages that it changes. They come into the transaction that seals it.

create procedure garden.add_event(
    event garden.event_v1, known_seal bytea, head_seal bytea, request garden.request_v1, lock bigint,
    passages garden.passage_changes_v1, inout begun boolean
) language plpgsql as $$
begin
    begun := known_seal is null or garden.take_lock(event, known_seal, request.key, lock);
    if begun then
        if passages.path is not null then
            perform garden.act_for(event.user_id, 'on');
            perform garden.put_passages(event.user_id, event.event_id, passages);
        end if;
        call garden.record_event(event, head_seal, request, case when known_seal is null then lock end);
        if event.status = 'committed' then
            perform garden.number_stream(event.user_id, event.stream);
        end if;
    end if;
end
$$;

create procedure garden.finish_event(
    numbered_stream text, whose garden.user_id, moving uuid, expected text, written garden.event_state,
    ended garden.event_state, head_seal bytea, request_key text, answer jsonb, answered bytea, lock bigint,
    passages garden.passage_changes_v1
) language plpgsql as $$
begin
    if passages.path is not null then
        perform garden.act_for(whose, 'on');
        perform garden.put_passages(whose, moving, passages);
    end if;
    call garden.end_event(whose, moving, expected, written, ended, head_seal, request_key, answer, answered, lock);
    perform garden.number_stream(whose, numbered_stream);
end
$$;
