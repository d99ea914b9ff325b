-- The counts of rate limits.

-- name: take
select garden.take_calls(
    %(user_id)s, %(keys)s::text[], %(windows)s::integer[], %(most)s::integer[], %(wanted)s, %(unused)s,
    %(slots)s::bigint[]) as answer;

-- The calls of the last window of each limit that let any pass. The first count is that of the current slot.
-- name: in_use
select key, seconds, used
from garden.call_counts
cross join lateral greatest(0, floor(extract(epoch from clock_timestamp()) * 12 / seconds)::bigint - clock) as passed
cross join lateral (
    select coalesce(sum(calls), 0)::bigint as used
    from unnest(counts[1:greatest(0, 13 - passed)::integer]) as calls) as window_of
where user_id = %(user_id)s and counted_on >= current_date - 1 and used > 0
order by seconds, used desc
limit %(limit)s;
