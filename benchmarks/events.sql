-- What the account is measured against.

-- name: columns
select attname::text as name, format_type(coalesce(nullif(typbasetype, 0), atttypid), -1) as kind
from pg_attribute join pg_type on pg_type.oid = atttypid
where attrelid = 'garden.events'::regclass and attnum > 0 and not attisdropped
order by attnum

-- name: insert
insert into public.bare values ({values}) returning ctid::text as place

-- name: update
update public.bare
set status = %(status)s, after_hash = %(after_hash)s, written_at = %(written_at)s, committed_at = %(committed_at)s,
    state_seal = %(state_seal)s
where ctid = %(place)s::tid

-- name: act as no user
select set_config('role', 'none', true), set_config('garden.user_id', %(user_id)s, true)
