-- Approvals: the calls that were asked about, and a person's answer. The words of a call stay until it was answered and
-- carried out, or its time is over.

create table garden.approvals (
    user_id     garden.user_id not null,
    approval_id uuid           not null,
    -- Who asked.
    actor       text           not null,
    role        text           not null,
    tool        text           not null,
    -- Keyed hashes of the call, and of what it would change where.
    call_mark   garden.seal    not null,
    effect_mark garden.seal    not null,
    args        jsonb,
    diff        text,
    state       text           not null check (
        state in ('pending', 'approved', 'denied', 'used', 'edited', 'void', 'expired')),
    asked_at    timestamptz    not null,
    expires_at  timestamptz    not null check (expires_at > asked_at),
    decided_by  text,
    decided_at  timestamptz,
    reason      text,
    -- The event of the call that the approver carried out instead.
    event_id    uuid,
    primary key (user_id, approval_id),
    check (args is not null or state not in ('pending', 'approved'))
);

comment on table garden.approvals is 'Calls that were asked about, who answered and how; the words only while they are open';

-- One open approval for a call.
create unique index approvals_open on garden.approvals (user_id, actor, call_mark) where state in ('pending', 'approved');
create index approvals_with_words on garden.approvals (expires_at) where args is not null;

alter table garden.approvals
    alter column args set statistics 0, alter column diff set statistics 0, alter column reason set statistics 0;

grant select, insert on garden.approvals to garden_service;
grant select, delete on garden.approvals to garden_maintainer;
grant update (state, args, diff, decided_by, decided_at, reason, event_id) on garden.approvals
    to garden_service, garden_maintainer;

alter table garden.approvals enable row level security, force row level security;

create policy own_rows_are_kept on garden.approvals to garden_service using (user_id = garden.acting_user());
create policy all_rows_are_swept on garden.approvals for select to garden_maintainer using (true);
create policy words_are_erased on garden.approvals for update to garden_maintainer
    using (expires_at < now() or user_id = garden.acting_user());
create policy rows_are_erased on garden.approvals for delete to garden_maintainer
    using (expires_at < now() or user_id = garden.acting_user());
