-- Whoever opens a document learns at once whether its last edit, one from outside, left it damaged: that event says
-- what is gone, and no tool changes the document before it is back.

drop function garden.open_stream(text, text, bigint, text, timestamptz);

create function garden.open_stream(
    whose text, stream text, lock bigint, request_key text, at timestamptz,
    out version integer, out content_hash text, out raw_hash text, out head_event_id uuid, out open_event_id uuid,
    out tail_sequence bigint, out tail_chain_hash bytea, out updated_at timestamptz, out seal bytea,
    out seal_salt_version integer, out damage jsonb, out fingerprint bytea, out event_id uuid, out response jsonb
) language plpgsql as $$
begin
    perform garden.act_for(whose, 'on');
    perform pg_advisory_lock(lock);
    -- A statement of its own, and so a snapshot of its own: it sees what the lock's last holder did.
    select d.version, d.content_hash, d.raw_hash, d.head_event_id, d.open_event_id, d.tail_sequence,
           d.tail_chain_hash, d.updated_at, d.seal, d.seal_salt_version, e.lint -> 'damage', r.fingerprint, r.event_id,
           r.response
    into version, content_hash, raw_hash, head_event_id, open_event_id, tail_sequence, tail_chain_hash, updated_at,
         seal, seal_salt_version, damage, fingerprint, event_id, response
    from (values (whose)) as asked (user_id)
    left join garden.documents as d on d.user_id = asked.user_id and d.path = stream
    left join garden.events as e on e.user_id = d.user_id and e.event_id = d.head_event_id and e.type = 'external_edit'
    left join garden.idempotency_records as r
           on r.user_id = asked.user_id and r.key = request_key and r.expires_at > at;
end
$$;

-- One database keeps the account of one home: two homes would take each other's documents for edits from outside.

create table garden.home (
    only_one   boolean     primary key default true check (only_one),
    id         uuid        not null,
    claimed_at timestamptz not null default now()
);

comment on table garden.home is 'The garden home whose account this is';
