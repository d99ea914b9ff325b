-- What recovery has tried: a saga that can't be brought to its end must not be tried for ever, and a person must be
-- able to learn which one that is and why.

create table garden.recoveries (
    user_id        garden.user_id not null,
    event_id       uuid           not null,
    path           text           not null,
    -- Raised, and on the disk, before the work: an attempt that kills its process is counted as well.
    attempts       integer        not null check (attempts >= 0),
    first_at       timestamptz    not null,
    last_at        timestamptz    not null check (last_at >= first_at),
    -- What the last attempt met that could still say so.
    error          jsonb,
    quarantined_at timestamptz,
    primary key (user_id, event_id)
);

comment on table garden.recoveries is 'Sagas that recovery has tried and not brought to their end';

grant select, insert, delete on garden.recoveries to garden_maintainer;
grant update (attempts, last_at, error, quarantined_at) on garden.recoveries to garden_maintainer;

alter table garden.recoveries enable row level security, force row level security;

create policy all_rows_are_kept on garden.recoveries to garden_maintainer using (true);
