-- The account of calls.

-- Nothing of it waits for the disk.
-- name: put
select garden.act_for(%(user_id)s, 'off'), garden.put_calls(%(user_id)s, %(calls)s::json);

-- Calls under way have no outcome yet.
-- name: stats
with found as materialized (
    select call_id, tool, status, code, milliseconds, started_at, calls
    from garden.tool_calls
    where user_id = %(user_id)s and call_id >= %(earliest)s and status <> 'pending'
      and (%(actor)s::text is null or actor = %(actor)s) and (%(tool)s::text is null or tool = %(tool)s)
)
select coalesce(sum(calls), 0)::bigint as calls,
       coalesce(sum(calls) filter (where status = 'success'), 0) / sum(calls)::double precision as success_rate,
       percentile_cont(array[0.5, 0.95, 0.99]) within group (order by milliseconds) as latency,
       (select coalesce(jsonb_object_agg(code, refused), '{}')
        from (select code, sum(calls) as refused from found where status = 'refused' group by code) as codes
       ) as refusals,
       (select coalesce(jsonb_agg(jsonb_build_object('tool', tool, 'calls', called)), '[]')
        from (select tool, sum(calls) as called from found group by tool order by called desc, tool limit 5) as tools
       ) as top_tools,
       (select coalesce(jsonb_agg(to_jsonb(newest)), '[]')
        from (select started_at as time, tool, code, status, calls
              from found where status <> 'success' order by call_id desc limit 10) as newest
       ) as errors
from found;

-- Figures by tool and by actor, the most called first, of the newest calls.
-- name: figures
with found as materialized (
    select tool, actor, status, milliseconds, calls
    from garden.tool_calls
    where user_id = %(user_id)s and call_id >= %(earliest)s and status <> 'pending'
    order by call_id desc
    limit %(rows)s
), figures as (
    select tool, actor, grouping(tool) as grouped_by, sum(calls)::bigint as calls,
           coalesce(sum(calls) filter (where status <> 'success'), 0)::bigint as unsuccessful,
           percentile_cont(array[0.5, 0.95]) within group (order by milliseconds) as latency
    from found
    group by grouping sets ((tool), (actor))
)
select tool, actor, calls, unsuccessful, latency[1] as p50, latency[2] as p95
from (select *, row_number() over (partition by grouped_by order by calls desc, tool, actor) as place from figures) as f
where place <= %(most)s
order by grouped_by, place;

-- name: actors
select distinct actor
from garden.tool_calls
where user_id = %(user_id)s and call_id >= %(earliest)s
order by actor;

-- Goes from one user to the next by the index.
-- name: users
with recursive calling (user_id) as (
    (select user_id::text from garden.tool_calls order by tool_calls.user_id limit 1)
    union all
    select (select later.user_id::text
            from garden.tool_calls as later
            where later.user_id > calling.user_id
            order by later.user_id
            limit 1)
    from calling
    where calling.user_id is not null
)
select user_id from calling where user_id is not null;

-- name: forget_before
delete from garden.tool_calls
where user_id = %(user_id)s and call_id in (
    select call_id from garden.tool_calls
    where user_id = %(user_id)s and call_id < %(earliest)s
    order by call_id
    limit %(limit)s)
returning call_id;

-- A row without arguments has lost its words already.
-- name: blank_before
update garden.tool_calls
set arguments = null, summary = null, ids = null
where user_id = %(user_id)s and call_id in (
    select call_id from garden.tool_calls
    where user_id = %(user_id)s and arguments is not null and started_at <= %(created_at)s
    limit %(limit)s)
returning call_id;
