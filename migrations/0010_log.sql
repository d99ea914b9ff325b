-- The transparency log: the leaf of each settled event and annotation, and the signed checkpoints. A checkpoint gives
-- numbers to what the feeds gained since the one before, so no write waits for another user's.

create table garden.log_leaves (
    user_id  garden.user_id not null,
    -- The place in the user's feed, and the place in the log of the home.
    position bigint         not null check (position > 0),
    leaf     bigint         not null check (leaf >= 0),
    primary key (user_id, position)
);

create index log_leaves_in_order on garden.log_leaves (leaf);

comment on table garden.log_leaves is 'The place of each entry of a feed in the home''s transparency log';

-- The log is one for the home, so its checkpoints belong to no user.
create table garden.log_checkpoints (
    size     bigint      primary key check (size >= 0),
    root     garden.seal not null,
    -- The signed note, without what witnesses added later.
    note     text        not null,
    added_at timestamptz not null default now()
);

comment on table garden.log_checkpoints is 'The signed checkpoints of the transparency log';

grant select, insert on garden.log_leaves, garden.log_checkpoints to garden_maintainer;
grant select on garden.feed to garden_maintainer;

alter table garden.log_leaves      enable row level security, force row level security;
alter table garden.log_checkpoints enable row level security, force row level security;

create policy all_rows_are_kept on garden.log_leaves to garden_maintainer using (true);
create policy all_rows_are_kept on garden.log_checkpoints to garden_maintainer using (true);
create policy all_rows_are_swept on garden.feed for select to garden_maintainer using (true);

create trigger leaves_stay before update or delete on garden.log_leaves
    for each row execute function garden.refuse_removal();
create trigger leaves_are_not_emptied before truncate on garden.log_leaves
    for each statement execute function garden.refuse_removal();
create trigger checkpoints_stay before update or delete on garden.log_checkpoints
    for each row execute function garden.refuse_removal();
create trigger checkpoints_are_not_emptied before truncate on garden.log_checkpoints
    for each statement execute function garden.refuse_removal();
