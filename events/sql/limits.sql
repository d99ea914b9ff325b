-- The counts of rate limits.

-- name: take
select garden.take_calls(
    %(user_id)s, %(keys)s::text[], %(windows)s::integer[], %(most)s::integer[], %(wanted)s, %(unused)s,
    %(slots)s::bigint[]) as answer;
