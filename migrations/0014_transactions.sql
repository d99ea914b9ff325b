-- A pending event, recorded without a commit of its own: all events of a transaction come into one commit of the client.
-- The request is that of the whole transaction; one of the events brings it.
create function garden.begin_event(
    event garden.event_v1, head_seal bytea, request garden.request_v1, calls json
) returns void language plpgsql as $$
begin
    perform garden.act_for(event.user_id, 'on');
    if calls is not null then
        perform garden.put_calls(event.user_id, calls);
    end if;
    if request.fingerprint is not null then
        perform garden.remember(
            event.user_id, event.event_id, event.created_at, event.integrity_salt_version, request);
    end if;
    insert into garden.events (
        user_id, event_id, stream, sequence, idempotency_key, created_at, status, document_version, leaves_file,
        before_hash, before_raw_hash, intended_hash, intended_raw_hash, line_hash, salts, commitments, type, op, tool,
        path, entity, section_anchor, sections, rationale, override_rationale, evidence_refs, edit, lint, actor, role,
        tool_call_id, transaction_id, agent_action_id, splice_offsets, splices_removed, splices_inserted, chain_hash,
        integrity_salt_version, state_seal, state_salt_version)
    select event.*, event.integrity_salt_version;
    perform garden.put_tail(
        event.user_id, event.stream, event.sequence, event.chain_hash, event.created_at, event.event_id, head_seal,
        event.integrity_salt_version);
end
$$;
