-- Whole texts of some versions, so that any version is rebuilt from a bounded number of changes. A kept text counts only
-- if its hash is that of its event; one that is missing costs time and no more.

create table garden.kept_texts (
    user_id garden.user_id not null,
    path    text           not null,
    version integer        not null check (version > 0),
    text    bytea          not null,
    primary key (user_id, path, version)
);

comment on table garden.kept_texts is 'Whole texts of some versions, from which later ones are rebuilt';

-- Most changes leave nothing here: a document is marked every 50 versions, and by a change that is large itself.
create table garden.grown_documents (
    user_id garden.user_id not null,
    path    text           not null,
    primary key (user_id, path)
);

comment on table garden.grown_documents is 'Documents that may have come to the next version of which the text is kept';

alter table garden.kept_texts alter column text set statistics 0;

grant select on garden.kept_texts to garden_reader;
grant select, insert, delete on garden.kept_texts to garden_maintainer;
grant select, insert on garden.grown_documents to garden_service;
grant select, insert, delete on garden.grown_documents to garden_maintainer;

-- What was written before this migration is looked through once. Its owner reads past the rules of the heads meanwhile.
alter table garden.documents no force row level security;
insert into garden.grown_documents (user_id, path) select user_id, path from garden.documents where version > 1;
alter table garden.documents force row level security;

alter table garden.kept_texts        enable row level security, force row level security;
alter table garden.grown_documents enable row level security, force row level security;

create policy own_rows_are_read on garden.kept_texts for select to garden_reader using (user_id = garden.acting_user());
create policy named_users_rows_are_kept on garden.kept_texts to garden_maintainer using (user_id = garden.acting_user());

create policy own_rows_are_kept on garden.grown_documents to garden_service using (user_id = garden.acting_user());
create policy all_rows_are_swept on garden.grown_documents for select to garden_maintainer using (true);
create policy named_users_rows_are_kept on garden.grown_documents to garden_maintainer
    using (user_id = garden.acting_user());

-- The path that a document had before, found without a look at its other events.
create index events_of_arrivals on garden.events (user_id, stream, document_version) where edit ? 'fromPath';

create or replace function garden.put_version(event garden.events, at timestamptz, seal bytea, salt_version integer)
returns void language plpgsql as $$
begin
    update garden.documents as head
    set version = event.document_version, content_hash = event.intended_hash, raw_hash = event.intended_raw_hash,
        has_file = event.leaves_file, head_event_id = event.event_id, open_event_id = null, updated_at = at,
        seal = put_version.seal, seal_salt_version = salt_version
    where head.user_id = event.user_id and head.path = event.stream;
    if event.document_version % 50 = 0
       or pg_column_size(event.splices_removed) + pg_column_size(event.splices_inserted) > 4096 then
        insert into garden.grown_documents (user_id, path) values (event.user_id, event.stream)
        on conflict (user_id, path) do nothing;
    end if;
end
$$;
