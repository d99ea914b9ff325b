-- Who may call from elsewhere, and what happened since somebody last looked.

-- Access tokens. A caller holds a secret of 256 random bits, and this table holds its SHA-256: a reader of the table
-- can call nobody's tools. The user is part of what the caller sends, so that a look-up acts for
-- that user and row-level security holds on it as on everything else.

create domain garden.token_id as text
    check (octet_length(value) = 12 and value ~ '^[0-9a-f]+$');

create table garden.tokens (
    user_id     garden.user_id  not null,
    token_id    garden.token_id not null,
    role        text            not null check (role in ('agent', 'reviewer', 'maintainer')),
    actor       text            not null check (char_length(actor) between 1 and 120),
    secret_hash garden.seal     not null,
    created_at  timestamptz     not null,
    -- Nothing for a token that stays until it is revoked.
    expires_at  timestamptz     check (expires_at > created_at),
    revoked_at  timestamptz,
    -- The first covers all that never changes, the second the time of the revocation, or that there is none.
    seal                 garden.seal not null,
    seal_salt_version    integer     not null check (seal_salt_version > 0),
    revoked_seal         garden.seal not null,
    revoked_salt_version integer     not null check (revoked_salt_version > 0),
    primary key (user_id, token_id)
);

comment on table garden.tokens is 'Who may call from elsewhere: for which user, in which role, until when';

-- The service checks tokens and makes none; the maintainer makes and revokes them, for a user it has named, and
-- never sees the hash again. Nobody removes one: that it was there belongs to the account.
grant select on garden.tokens to garden_service;
grant select (user_id, token_id, role, actor, created_at, expires_at, revoked_at, seal, seal_salt_version, revoked_seal,
              revoked_salt_version)
    on garden.tokens to garden_maintainer;
grant insert (user_id, token_id, role, actor, secret_hash, created_at, expires_at, seal, seal_salt_version, revoked_seal,
              revoked_salt_version)
    on garden.tokens to garden_maintainer;
grant update (revoked_at, revoked_seal, revoked_salt_version) on garden.tokens to garden_maintainer;

alter table garden.tokens enable row level security, force row level security;

create policy own_rows_are_checked on garden.tokens for select to garden_service
    using (user_id = garden.acting_user());
create policy all_rows_are_listed on garden.tokens for select to garden_maintainer using (true);
create policy named_users_rows_are_added on garden.tokens for insert to garden_maintainer
    with check (user_id = garden.acting_user());
create policy named_users_rows_are_revoked on garden.tokens for update to garden_maintainer
    using (user_id = garden.acting_user());

create function garden.refuse_another_token() returns trigger language plpgsql as $$
begin
    raise exception 'a token is never changed; it is revoked, once and for good'
        using errcode = 'insufficient_privilege';
end
$$;

create trigger tokens_stay before delete on garden.tokens
    for each row execute function garden.refuse_removal();
create trigger tokens_are_not_emptied before truncate on garden.tokens
    for each statement execute function garden.refuse_removal();
create trigger tokens_keep_their_words before update of
        user_id, token_id, role, actor, secret_hash, created_at, expires_at, seal, seal_salt_version
    on garden.tokens for each row execute function garden.refuse_another_token();
create trigger tokens_stay_revoked before update on garden.tokens
    for each row when (old.revoked_at is not null) execute function garden.refuse_another_token();

-- The feed: what was settled, in an order that a reader can resume. Ids of events sort by when they were made, and
-- times by when somebody looked at a clock; a row that commits late would be passed over by both. So a row is numbered
-- under a lock of its user that is held until the commit: a reader who sees a number sees every lower one. It has a
-- table of its own because nothing of an event changes but its state, and an index that a saga's step writes into would
-- make that step write into every index of events.

create table garden.feed (
    user_id  garden.user_id not null,
    position bigint         not null check (position > 0),
    -- Without a foreign key: the event is there, and the check would lock its row.
    event_id uuid           not null,
    what     text           not null check (what in ('committed', 'failed', 'annotated')),
    -- The place of the event, or of the annotation, in its stream.
    stream   text           not null,
    sequence bigint         not null check (sequence > 0),
    primary key (user_id, position),
    unique (user_id, stream, sequence)
);

comment on table garden.feed is 'What was settled: each stream without a gap, in the order of its sequence';

grant select, insert on garden.feed to garden_service;
grant select on garden.feed to garden_reader;

alter table garden.feed enable row level security, force row level security;

create policy own_rows_are_read on garden.feed for select to garden_reader, garden_service
    using (user_id = garden.acting_user());
create policy own_rows_are_added on garden.feed for insert to garden_service
    with check (user_id = garden.acting_user());

create trigger feed_stays before update or delete on garden.feed
    for each row execute function garden.refuse_removal();
create trigger feed_is_not_emptied before truncate on garden.feed
    for each statement execute function garden.refuse_removal();

-- Numbers what is settled in a stream and has no number yet, in the order of the stream, and wakes the watchers of the
-- user's feed. This comes after the commit that settled it, in a transaction of its own that does not wait for the disk:
-- neither this lock nor the lock of the whole server that the commit of a notice holds is held while a disk syncs. What
-- a crash leaves without a number gets it with the next event of its stream, or from number_rest.
create function garden.number_stream(whose garden.user_id, numbered_stream text) returns void language plpgsql as $$
declare
    newest bigint;
    numbered bigint;
begin
    perform garden.act_for(whose, 'off');
    begin
        -- Two numbers are locks of another kind than the one number that stands for a document. The first spells 'feed'.
        perform pg_advisory_xact_lock(1717921124, hashtext(whose));
    exception
        -- The event is settled, whether it has a number yet or not.
        when lock_not_available then return;
    end;
    -- Statements of their own, and so with snapshots of their own: they see what the lock's last holder did.
    select coalesce(max(position), 0) into newest from garden.feed where user_id = whose;
    select coalesce(max(sequence), 0) into numbered
    from garden.feed where user_id = whose and stream = numbered_stream;
    insert into garden.feed (user_id, position, event_id, what, stream, sequence)
    select whose, newest + row_number() over (order by settled.sequence), settled.event_id, settled.what,
           numbered_stream, settled.sequence
    from (
        select sequence, event_id, status::text as what
        from garden.events
        where user_id = whose and stream = numbered_stream and sequence > numbered
          and status in ('committed', 'failed')
        union all
        select sequence, event_id, 'annotated'
        from garden.event_annotations
        where user_id = whose and numbered_stream = '' and sequence > numbered
    ) as settled;
    perform pg_notify('garden_feed', whose);
end
$$;

-- Numbers what a crash left without a number, in every stream of a user where nothing is open.
create function garden.number_rest(whose garden.user_id) returns bigint language plpgsql as $$
declare
    left_over text;
    streams bigint := 0;
begin
    perform garden.act_for(whose, 'off');
    for left_over in
        select d.path
        from garden.documents as d
        where d.user_id = whose and d.open_event_id is null
          and d.tail_sequence > coalesce(
                (select max(f.sequence) from garden.feed as f where f.user_id = whose and f.stream = d.path), 0)
    loop
        perform garden.number_stream(whose, left_over);
        streams := streams + 1;
    end loop;
    return streams;
end
$$;
