-- The statement that begins the events of a transaction.

-- name: begin_event
select garden.begin_event(
    row({:new_event})::garden.event_v1,
    %(head_seal)s,
    row(%(idempotency_key)s, %(fingerprint)s, null, %(expires_at)s, %(request_seal)s, null)::garden.request_v1,
    %(calls)s
);
