-- One database keeps the account of one home: two homes would take each other's documents for edits from outside.

create table garden.home (
    only_one   boolean     primary key default true check (only_one),
    id         uuid        not null,
    claimed_at timestamptz not null default now()
);

comment on table garden.home is 'The garden home whose account this is';
