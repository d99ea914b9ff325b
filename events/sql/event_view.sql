-- Events that a query found, in its order: the fields of a view in their order, each as it is on the wire but for the
-- times. The empty ones are filled from the last five columns. An empty object tells nothing, so it is null.
-- The events are found first, so that the cost of showing them does not choose the way of finding them.
select event_id::text, type, op, tool, status::text, path, entity, section_anchor, sections, rationale,
       override_rationale, evidence_refs, null as edit, null as splices, document_version, before_hash, intended_hash,
       after_hash, null as lint, null as error, actor, role, tool_call_id, transaction_id, agent_action_id,
       idempotency_key, created_at at time zone 'UTC' as created_at, written_at at time zone 'UTC' as written_at,
       committed_at at time zone 'UTC' as committed_at, failed_at at time zone 'UTC' as failed_at, sequence,
       encode(line_hash, 'hex') as line_hash, encode(chain_hash, 'hex') as chain_hash, integrity_salt_version,
       null as annotations, null as erased,
       json_build_array(nullif(edit, '{}'), nullif(lint, '{}'), nullif(error, '{}'), (
           select json_agg(json_build_object(
               'type', a.type, 'op', a.op, 'rationale', a.rationale, 'overrideRationale', a.override_rationale,
               'evidenceRefs', a.evidence_refs, 'details', nullif(a.details, '{}'), 'actor', a.actor,
               'createdAt', a.created_at at time zone 'UTC') order by a.annotation_id)
           from garden.event_annotations as a
           where a.user_id = %(user_id)s and a.event_id = events.event_id))::text as objects,
       splice_offsets, splices_removed, splices_inserted, salts
from ({events}) as events;
