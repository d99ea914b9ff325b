-- Sign-ins of the web console, and the one-time links that open them.

-- Write access to this table is not enough to sign in: the seal covers the row and the hash of the secret, which only the
-- browser or the link has.
create table garden.sign_ins (
    user_id           garden.user_id  not null,
    sign_in_id        garden.token_id not null,
    is_link           boolean         not null,
    -- The access token that opened it; it ends with that token.
    token_id          garden.token_id,
    role              text            not null check (role in ('agent', 'reviewer', 'maintainer')),
    actor             text            not null check (char_length(actor) between 1 and 120),
    created_at        timestamptz     not null,
    expires_at        timestamptz     not null check (expires_at > created_at),
    seal              garden.seal     not null,
    seal_salt_version integer         not null check (seal_salt_version > 0),
    primary key (user_id, sign_in_id)
);

comment on table garden.sign_ins is 'Open sign-ins of the console and unused one-time links';

create index sign_ins_by_expiry on garden.sign_ins (expires_at);

grant select, insert, delete on garden.sign_ins to garden_service;
grant select, delete on garden.sign_ins to garden_maintainer;

alter table garden.sign_ins enable row level security, force row level security;

create policy own_rows_are_kept on garden.sign_ins to garden_service using (user_id = garden.acting_user());
create policy all_rows_are_swept on garden.sign_ins for select to garden_maintainer using (true);
create policy old_rows_are_removed on garden.sign_ins for delete to garden_maintainer
    using (expires_at < now());

-- A denied call keeps its words until its answer can't be taken back any more.
create index approvals_denied_with_words on garden.approvals (decided_at) where args is not null and state = 'denied';
alter policy words_are_erased on garden.approvals
    using (expires_at < now() or user_id = garden.acting_user()
           or (state = 'denied' and decided_at < now() - interval '1 minute'));
