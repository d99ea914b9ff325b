-- How many of the events that a query found have each actor, tool, type, state, day and section, the commonest values of
-- each facet and the newest days. The events are counted together in one pass; a section apart, for an event has several.
with found as materialized (
    {events}
), counted as (
    select case 0 when grouping(actor) then 'actor' when grouping(tool) then 'tool' when grouping(type) then 'type'
                  when grouping(status) then 'status' when grouping(day) then 'day' else 'all' end as facet,
           coalesce(actor, tool, type, status, day) as value, count(*) as events
    from (select *, to_char(created_at at time zone %(zone)s, 'YYYY-MM-DD') as day from found) as dated
    group by grouping sets ((), (actor), (tool), (type), (status), (day))
    union all
    select 'section', name, count(*)
    from found, unnest(case when section_anchor = any (sections) then sections else sections || section_anchor end) as name
    where length(name) between 1 and 200
    group by name
), ranked as (
    select *, row_number() over (
        partition by facet order by case facet when 'day' then value end desc, events desc, value) as place
    from counted
)
select facet, value, events
from ranked
where place <= %(values_max)s
order by facet, place;
